//! Texts in columns.

use unicode_width::UnicodeWidthStr;

/// Writes rows with their cells below each other, as wide as a terminal shows them.
///
/// The last cell of a row is not padded. Each line begins with `indent` blanks.
pub(crate) fn columns<const N: usize>(indent: usize, rows: &[[String; N]]) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut line = " ".repeat(indent);
        for (cell, width) in row.iter().zip(widths) {
            line.push_str(cell);
            line.push_str(&" ".repeat(width - cell.width() + 2));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stand_below_each_other_also_wide_ones() {
        let rows = [["a", "bc", "d"], ["漢字", "", "e"]].map(|row| row.map(str::to_owned));

        assert_eq!(columns(2, &rows), "  a     bc  d\n  漢字      e\n");
        assert_eq!(columns::<1>(2, &[]), "");
    }
}
