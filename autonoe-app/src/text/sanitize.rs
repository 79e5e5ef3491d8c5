//! Shortens foreign texts to one line for terminals and readers.

use autonoe_core::sanitize;

/// Like [`sanitize`], on one line.
pub fn sanitize_line(text: &str) -> String {
    sanitize(text).replace('\n', "⏎")
}

/// Maximum number of printed characters of a text.
const MAX_CHARS: usize = 200;

/// Formats `text` on one line, without control characters, and truncates it if it is long.
pub fn shorten(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", sanitize_line(&text[..end])),
        None => sanitize_line(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_one_line_without_control_characters() {
        assert_eq!(sanitize_line("one\ntwo"), "one⏎two");
        assert_eq!(shorten(" a\nb\x1b[2Jc\td "), "a⏎b [2Jc d");
        assert_eq!(shorten(&"ü".repeat(200)), "ü".repeat(200));
        assert_eq!(shorten(&"ü".repeat(201)), format!("{}…", "ü".repeat(200)));
    }
}
