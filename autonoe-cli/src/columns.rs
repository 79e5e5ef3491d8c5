//! Column layout for terminal output.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

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

const ELLIPSIS: char = '…';

/// Truncates a text to `width`, with an ellipsis at the end.
fn truncate(text: &str, width: usize) -> Cow<'_, str> {
    if text.width() <= width {
        return text.into();
    }
    let room = width.saturating_sub(1);
    let (head, _) = split_at_width(text, room);
    if head.width() <= room {
        format!("{}{ELLIPSIS}", head.trim_end()).into()
    } else {
        ELLIPSIS.to_string().into()
    }
}

/// Wraps a text into lines of at most `width`, between words if possible.
///
/// Returns at least one line. A character that is wider than `width` gets its own line.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.width() + 1 + word.width() <= width {
            line.push(' ');
            line.push_str(word);
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        let mut rest = word;
        while rest.width() > width {
            let (head, tail) = split_at_width(rest, width);
            if tail.is_empty() {
                break;
            }
            lines.push(head.to_owned());
            rest = tail;
        }
        line.push_str(rest);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Splits a text after the longest prefix that fits, at least one character.
fn split_at_width(text: &str, width: usize) -> (&str, &str) {
    let mut end = None;
    for (index, character) in text.char_indices().skip(1) {
        let before = &text[..index];
        if modifies_previous(character) || before.ends_with('\u{200d}') {
            continue;
        }
        if end.is_some() && before.width() > width {
            break;
        }
        end = Some(index);
    }
    match end {
        Some(end) if text.width() > width => text.split_at(end),
        _ => (text, ""),
    }
}

/// Returns whether a character modifies the previous one: a combining accent, a joiner or a skin
/// tone.
fn modifies_previous(character: char) -> bool {
    character.width().unwrap_or(0) == 0 || matches!(character, '\u{1f3fb}'..='\u{1f3ff}')
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
    fn text_without_a_width_limit_is_not_truncated_or_wrapped() {
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

    #[test]
    fn text_that_does_not_fit_ends_with_an_ellipsis() {
        for (text, width, expected) in [
            ("DL-001", 6, "DL-001"),
            ("DL-0012", 6, "DL-00…"),
            ("漢字漢字", 8, "漢字漢字"),
            ("漢字漢字", 7, "漢字漢…"),
            ("漢字漢字", 6, "漢字…"),
            ("漢字", 2, "…"),
            ("one two", 5, "one…"),
            ("👩\u{200d}💻👩\u{200d}💻x", 4, "👩\u{200d}💻…"),
            ("👍🏽👍🏽", 3, "👍🏽…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            ("", 3, ""),
        ] {
            assert_eq!(truncate(text, width), expected, "{text:?} in {width}");
        }
    }

    #[test]
    fn lines_wrap_between_words_and_inside_long_words() {
        for (text, width, lines) in [
            (
                "a visitor can sign up",
                9,
                vec!["a visitor", "can sign", "up"],
            ),
            ("  two   blanks ", 10, vec!["two blanks"]),
            ("incomprehensible", 6, vec!["incomp", "rehens", "ible"]),
            ("漢字を書く", 4, vec!["漢字", "を書", "く"]),
            ("漢字", 1, vec!["漢", "字"]),
            ("", 4, vec![""]),
        ] {
            assert_eq!(wrap(text, width), lines, "{text:?} in {width}");
        }
    }

    proptest! {
        #[test]
        fn wrapped_lines_fit_and_keep_all_words(
            text in "([a-z]{0,9}|[漢字가é]{0,5}|👩\u{200d}💻|❤\u{fe0f}| ){0,12}", width in 2..30usize,
        ) {
            let lines = wrap(&text, width);

            for line in &lines {
                prop_assert!(line.width() <= width, "{:?}", line);
            }
            let words = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(words(&lines.concat()), words(&text));
            prop_assert!(truncate(&text, width).width() <= width);
        }
    }
}
