//! Removal of invisible characters from texts.

/// Returns `text` without invisible characters.
pub(crate) fn strip_invisible(text: &str) -> String {
    text.chars().filter(|c| !is_ignorable(*c)).collect()
}

/// Returns `text` without leading and trailing blanks and invisible characters.
pub(crate) fn trim_invisible(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || is_ignorable(c))
}

/// Returns whether `c` is a control character other than blanks, or ignorable by default in
/// Unicode.
fn is_ignorable(c: char) -> bool {
    const IGNORABLE: [(char, char); 17] = [
        ('\u{ad}', '\u{ad}'),
        ('\u{34f}', '\u{34f}'),
        ('\u{61c}', '\u{61c}'),
        ('\u{115f}', '\u{1160}'),
        ('\u{17b4}', '\u{17b5}'),
        ('\u{180b}', '\u{180f}'),
        ('\u{200b}', '\u{200f}'),
        ('\u{202a}', '\u{202e}'),
        ('\u{2060}', '\u{206f}'),
        ('\u{3164}', '\u{3164}'),
        ('\u{fe00}', '\u{fe0f}'),
        ('\u{feff}', '\u{feff}'),
        ('\u{ffa0}', '\u{ffa0}'),
        ('\u{fff0}', '\u{fff8}'),
        ('\u{1bca0}', '\u{1bca3}'),
        ('\u{1d173}', '\u{1d17a}'),
        ('\u{e0000}', '\u{e0fff}'),
    ];
    let is_blank = matches!(c, '\t' | '\n' | '\r');
    (c.is_control() && !is_blank)
        || IGNORABLE
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_removed() {
        assert_eq!(strip_invisible("a\u{200b}b\0 c"), "ab c");
        assert_eq!(trim_invisible(" \u{feff}\t~/a b\u{200d}\n"), "~/a b");
        assert_eq!(trim_invisible(" \0"), "");
    }
}
