//! Long texts on one line.

use super::harmless_line;

/// How much of a payload is shown.
const LONGEST: usize = 200;

/// Writes `text` on one line, without control characters, cut off where it gets long.
pub(crate) fn shorten(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", harmless_line(&text[..end])),
        None => harmless_line(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_one_line_that_no_terminal_takes_for_commands() {
        assert_eq!(shorten(" a\nb\x1b[2Jc\td "), "a⏎b [2Jc d");
        assert_eq!(shorten(&"ü".repeat(200)), "ü".repeat(200));
        assert_eq!(shorten(&"ü".repeat(201)), format!("{}…", "ü".repeat(200)));
    }
}
