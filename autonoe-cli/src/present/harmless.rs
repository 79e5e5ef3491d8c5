//! Texts of others, so that no terminal takes them for commands and no reader is deceived.

/// Replaces what a terminal would obey and what would change how the rest is read. Lines stay.
pub(crate) fn harmless(text: &str) -> String {
    let replace = |character: char| match character {
        '\n' => '\n',
        character if character.is_control() => ' ',
        character if is_deceptive(character) => '\u{fffd}',
        character => character,
    };
    text.chars().map(replace).collect()
}

/// The same on one line.
pub(crate) fn harmless_line(text: &str) -> String {
    harmless(text).replace('\n', "⏎")
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
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_or_a_reader_not_see_is_replaced() {
        assert_eq!(harmless("a\u{1b}[2Jb\r\nc\u{9b}d"), "a [2Jb \nc d");
        assert_eq!(
            harmless("DL\u{202e}3\u{200b}\u{61c}"),
            "DL\u{fffd}3\u{fffd}\u{fffd}"
        );
        assert_eq!(harmless("日本 ü 👩\u{200d}💻"), "日本 ü 👩\u{200d}💻");
        assert_eq!(harmless_line("one\ntwo"), "one⏎two");
    }
}
