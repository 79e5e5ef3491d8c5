//! Texts of agents, so that no terminal takes them for commands and no reader is deceived.

use unicode_width::UnicodeWidthChar;

/// How much of a text is looked at: no line of a terminal is longer.
const LONGEST: usize = 2_000;

/// How many marks may stand on one character. More would grow over the neighbouring lines.
const MARKS: usize = 4;

/// Makes one harmless line of a text: what a terminal would obey becomes a blank, what would change
/// how others are read becomes a mark, and the rest of a very long text is left out.
pub(super) fn harmless(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(LONGEST));
    let mut marks = 0;
    for (place, character) in text.trim().chars().enumerate() {
        if place == LONGEST {
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
                if marks <= MARKS {
                    line.push(character);
                }
            }
        }
    }
    line
}

/// Tells whether a character has no shape of its own and changes what is around it.
fn is_deceptive(character: char) -> bool {
    matches!(
        character,
        '\u{61c}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_gone() {
        for (text, shown) in [
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
            assert_eq!(harmless(text), shown, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_a_terminal_obeys_is_left_of_any_text(text in any::<String>()) {
            let line = harmless(&text);

            prop_assert!(!line.contains(char::is_control), "{line:?}");
            prop_assert!(!line.contains(is_deceptive), "{line:?}");
            prop_assert!(line.chars().count() <= LONGEST + 1);
        }
    }
}
