//! Truncates and wraps text to a width in terminal columns.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

const ELLIPSIS: char = '…';

/// Truncates a text to `width`, with an ellipsis at the end.
pub(crate) fn truncate(text: &str, width: usize) -> Cow<'_, str> {
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
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
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

    #[test]
    fn text_that_does_not_fit_ends_with_an_ellipsis() {
        for (text, width, shown) in [
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
            assert_eq!(truncate(text, width), shown, "{text:?} in {width}");
        }
    }

    #[test]
    fn lines_break_between_words_and_inside_of_long_ones() {
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
        fn no_line_is_too_wide_and_nothing_is_lost(
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
