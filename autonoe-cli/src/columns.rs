//! Column layout for terminal output.

use unicode_width::UnicodeWidthStr;

use crate::text_width::{truncate, wrap};

/// Blanks between two columns.
const GAP: usize = 2;

/// Width that the last column keeps before the columns in front of it are truncated.
const LAST_COLUMN_WIDTH: usize = 24;

/// Minimum width of a column.
const MIN_WIDTH: usize = 8;

/// Formats rows as aligned columns, measured in terminal cells.
///
/// The last cell of a row is not padded. Each line starts with `indent` blanks.
pub(crate) fn columns<const N: usize>(indent: usize, rows: &[[String; N]]) -> String {
    columns_within(indent, rows, None)
}

/// Formats rows like [`columns`], in lines of at most `width` cells.
///
/// The last column is wrapped. The columns in front of it are truncated if they leave it no room. A
/// `width` that is too small for the minimum widths is exceeded.
pub(crate) fn columns_within<const N: usize>(
    indent: usize,
    rows: &[[String; N]],
    width: Option<usize>,
) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    if let Some(width) = width {
        fit(&mut widths, width.saturating_sub(indent));
    }
    let mut text = String::new();
    for row in rows {
        write_row(&mut text, indent, row, widths);
    }
    text
}

/// Shrinks the columns until they fit into `width`.
fn fit<const N: usize>(widths: &mut [usize; N], width: usize) {
    let Some((last, before)) = widths.split_last_mut() else {
        return;
    };
    let occupied = |before: &[usize]| before.iter().map(|width| width + GAP).sum::<usize>();
    let room = LAST_COLUMN_WIDTH.min(*last);
    while occupied(before) + room > width {
        let excess = occupied(before) + room - width;
        match before.iter_mut().max() {
            Some(widest) if *widest > MIN_WIDTH => {
                *widest = widest.saturating_sub(excess).max(MIN_WIDTH);
            }
            _ => break,
        }
    }
    *last = (*last).min(width.saturating_sub(occupied(before)).max(MIN_WIDTH));
}

fn write_row<const N: usize>(
    text: &mut String,
    indent: usize,
    row: &[String; N],
    widths: [usize; N],
) {
    let (Some((last, before)), Some((last_width, widths))) =
        (row.split_last(), widths.split_last())
    else {
        return;
    };
    let mut line = " ".repeat(indent);
    for (cell, width) in before.iter().zip(widths) {
        let cell = truncate(cell, *width);
        line.push_str(&cell);
        line.push_str(&" ".repeat(width - cell.width() + GAP));
    }
    let margin = " ".repeat(line.width());
    let lines = if last.width() <= *last_width {
        vec![last.clone()]
    } else {
        wrap(last, *last_width)
    };
    for (number, part) in lines.iter().enumerate() {
        let whole = match number {
            0 => format!("{line}{part}"),
            _ => format!("{margin}{part}"),
        };
        text.push_str(whole.trim_end());
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows<const N: usize, const M: usize>(rows: [[&str; N]; M]) -> [[String; N]; M] {
        rows.map(|row| row.map(str::to_owned))
    }

    #[test]
    fn columns_align_with_wide_characters() {
        let rows = rows([["a", "bc", "d"], ["漢字", "", "e"]]);

        assert_eq!(columns(2, &rows), "  a     bc  d\n  漢字      e\n");
        assert_eq!(columns::<1>(2, &[]), "");
    }

    #[test]
    fn without_a_limit_nothing_is_cut_or_wrapped() {
        let long = "word ".repeat(100);
        let rows = rows([[long.as_str(), long.trim_end()]]);

        assert_eq!(columns(0, &rows), format!("{long}  {}\n", long.trim_end()));
    }

    #[test]
    fn the_last_column_wraps_in_a_narrow_terminal() {
        let rows = rows([
            ["pending", "DL-1", "A visitor can sign up with a password"],
            ["passed", "DL-漢字", "短い"],
        ]);

        let text = columns_within(2, &rows, Some(44));

        assert_eq!(
            text,
            "  pending  DL-1     A visitor can sign up\n\
             \u{20}                   with a password\n\
             \u{20} passed   DL-漢字  短い\n"
        );
    }

    #[test]
    fn a_name_that_leaves_no_room_is_truncated() {
        let name = "a-very-long-name-that-somebody-thought-of";
        let rows = rows([["pending", name, "A visitor can sign up with a password"]]);

        let text = columns_within(0, &rows, Some(50));

        assert_eq!(
            text,
            "pending  a-very-long-na…  A visitor can sign up\n\
             \u{20}                         with a password\n"
        );
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal(
            cells in prop::collection::vec("[a-z漢字👍 ]{0,60}", 3..12), width in 48..120usize,
        ) {
            let rows: Vec<[String; 3]> = cells
                .chunks_exact(3)
                .map(|row| [row[0].clone(), row[1].clone(), row[2].clone()])
                .collect();

            for line in columns_within(2, &rows, Some(width)).lines() {
                prop_assert!(line.width() <= width, "{:?}", line);
            }
        }
    }
}
