//! Sanitizes text from agents for display in a terminal.

use autonoe_core::is_deceptive;
use unicode_width::UnicodeWidthChar;

/// Maximum number of characters of a text. No terminal line is longer.
const MAX_CHARS: usize = 2_000;

/// Maximum number of combining marks on one character. More would overflow into neighbouring lines.
const MAX_MARKS: usize = 4;

/// Converts a text into one safe line. Control characters become spaces, invisible and
/// bidirectional characters become U+FFFD, and a very long text is truncated.
pub(super) fn sanitize(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(MAX_CHARS));
    let mut marks = 0;
    for (place, character) in text.trim().chars().enumerate() {
        if place == MAX_CHARS {
            line.push('…');
            break;
        }
        match character {
            '\n' => line.push('⏎'),
            character if character.is_control() => line.push(' '),
            character if is_deceptive(character) => line.push('\u{fffd}'),
            character => {
                marks = match character.width() {
                    Some(0) => marks + 1,
                    _ => 0,
                };
                if marks <= MAX_MARKS {
                    line.push(character);
                }
            }
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn control_characters_are_neutralized() {
        for (text, expected) in [
            ("plain ü 日本", "plain ü 日本"),
            ("\u{1b}[2Jgone", " [2Jgone"),
            ("a\u{1b}]0;title\u{7}b", "a ]0;title b"),
            ("a\u{9b}31mb", "a 31mb"),
            ("one\ntwo\r\n", "one⏎two"),
            ("DL\u{202e}3\u{200b}", "DL\u{fffd}3\u{fffd}"),
            (
                "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}x",
                "e\u{301}\u{301}\u{301}\u{301}x",
            ),
        ] {
            assert_eq!(sanitize(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn sanitized_text_has_no_control_characters(text in any::<String>()) {
            let line = sanitize(&text);

            prop_assert!(!line.contains(char::is_control), "{line:?}");
            prop_assert!(!line.contains(is_deceptive), "{line:?}");
            prop_assert!(line.chars().count() <= MAX_CHARS + 1);
        }
    }
}
