//! Compile-time lists of words, written as text.

/// Creates a list of words, `&'static [&'static str]`, from texts with words separated by blanks.
///
/// The compiler splits the texts, so a lookup costs the same as in any other slice.
macro_rules! words {
    ($($text:literal),+ $(,)?) => {{
        const TEXT: &str = concat!($($text, " "),+);
        const WORDS: &[&str] = &$crate::word_list::split::<{ $crate::word_list::count(TEXT) }>(TEXT);
        WORDS
    }};
}

/// Returns the number of words in `text`.
pub(crate) const fn count(text: &str) -> usize {
    let mut count = 0;
    let (mut word, mut rest) = split_first(text);
    while !word.is_empty() {
        count += 1;
        (word, rest) = split_first(rest);
    }
    count
}

/// Splits `text` into its words; `N` is their [`count`].
pub(crate) const fn split<const N: usize>(text: &str) -> [&str; N] {
    let mut words = [""; N];
    let mut rest = text;
    let mut at = 0;
    while at < N {
        (words[at], rest) = split_first(rest);
        at += 1;
    }
    words
}

/// Splits `text` after its first word, which is empty if there is none.
const fn split_first(text: &str) -> (&str, &str) {
    let text = text.trim_ascii_start();
    let mut end = 0;
    while end < text.len() && !text.as_bytes()[end].is_ascii_whitespace() {
        end += 1;
    }
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    #[test]
    fn texts_are_split_at_blanks_and_line_ends() {
        assert_eq!(words!("one"), ["one"]);
        assert_eq!(words!("a --b  c= ", " d"), ["a", "--b", "c=", "d"]);
        assert_eq!(
            words!(
                "a b \
                c
                d"
            ),
            ["a", "b", "c", "d"]
        );
        assert!(words!("").is_empty());
    }
}
