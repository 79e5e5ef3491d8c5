//! Sanitizes foreign texts for terminals and readers, and shortens them to one line.

use autonoe_core::is_deceptive;

/// Replaces control characters and characters that change how the rest is read. Line breaks stay.
pub fn sanitize(text: &str) -> String {
    let replace = |character: char| match character {
        '\n' => '\n',
        character if character.is_control() => ' ',
        character if is_deceptive(character) => '\u{fffd}',
        character => character,
    };
    text.chars().map(replace).collect()
}

/// Like [`sanitize`], on one line.
pub fn sanitize_line(text: &str) -> String {
    sanitize(text).replace('\n', "⏎")
}

/// Maximum number of printed characters of a text.
const LONGEST: usize = 200;

/// Formats `text` on one line, without control characters, and truncates it if it is long.
pub fn shorten(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", sanitize_line(&text[..end])),
        None => sanitize_line(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_deceptive_characters_are_replaced() {
        assert_eq!(sanitize("a\u{1b}[2Jb\r\nc\u{9b}d"), "a [2Jb \nc d");
        assert_eq!(
            sanitize("DL\u{202e}3\u{200b}\u{61c}"),
            "DL\u{fffd}3\u{fffd}\u{fffd}"
        );
        assert_eq!(sanitize("日本 ü 👩\u{200d}💻"), "日本 ü 👩\u{200d}💻");
        assert_eq!(sanitize_line("one\ntwo"), "one⏎two");
    }

    #[test]
    fn a_text_becomes_one_line_without_control_characters() {
        assert_eq!(shorten(" a\nb\x1b[2Jc\td "), "a⏎b [2Jc d");
        assert_eq!(shorten(&"ü".repeat(200)), "ü".repeat(200));
        assert_eq!(shorten(&"ü".repeat(201)), format!("{}…", "ü".repeat(200)));
    }
}
