//! Keyword search in the text of an answer.

use crate::definition::KeywordMode;

/// Returns whether `text` contains `word`, case-sensitively and as a whole word.
///
/// `UNDONE` and `Done` do not contain the word `DONE`. If the word begins or ends with a letter of
/// a script without upper case, there is no word boundary at that end, because such scripts mostly
/// have no spaces between words. A blank word is never found.
///
/// ```
/// use autonoe_flow::progress::contains_word;
///
/// assert!(contains_word("DONE", "I am DONE."));
/// assert!(!contains_word("DONE", "It is UNDONE."));
/// assert!(contains_word("完了", "作業は完了しました。"));
/// ```
pub fn contains_word(word: &str, text: &str) -> bool {
    if word.trim().is_empty() {
        return false;
    }
    let (first, last) = (word.chars().next(), word.chars().next_back());
    occurrences(word, text).any(|(start, end)| {
        let before = text[..start].chars().next_back();
        let after = text[end..].chars().next();
        !joins_word(before, first) && !joins_word(last, after)
    })
}

/// Returns those of `words` that `text` contains, in the order of `words`.
pub fn find_words<'a, S: AsRef<str> + 'a>(
    text: &'a str,
    words: impl IntoIterator<Item = &'a S> + 'a,
) -> impl Iterator<Item = &'a str> + 'a {
    let words = words.into_iter().map(AsRef::as_ref);
    words.filter(move |word| contains_word(word, text))
}

impl KeywordMode {
    /// Returns whether any or all of `words` satisfy `is_said`; `false` if there are no words.
    pub fn holds(self, words: &[String], contains: impl Fn(&str) -> bool) -> bool {
        match self {
            Self::Any => words.iter().any(|word| contains(word)),
            Self::All => !words.is_empty() && words.iter().all(|word| contains(word)),
        }
    }
}

/// Returns the ranges of all occurrences of `word` in `text`, including overlapping ones.
fn occurrences<'a>(word: &'a str, text: &'a str) -> impl Iterator<Item = (usize, usize)> + 'a {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text.get(from..)?.find(word)?;
        let first = text[start..].chars().next()?;
        from = start + first.len_utf8();
        Some((start, start + word.len()))
    })
}

fn joins_word(left: Option<char>, right: Option<char>) -> bool {
    left.is_some_and(is_word_char) && right.is_some_and(is_word_char)
}

fn is_word_char(c: char) -> bool {
    c == '_' || c.is_numeric() || c.is_lowercase() || c.is_uppercase()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keyword_matches_exact_whole_words() {
        for (word, text, expected) in [
            ("DONE", "DONE", true),
            ("DONE", "It is **DONE**!", true),
            ("DONE", "NOT_DONE", false),
            ("DONE", "UNDONE", false),
            ("DONE", "DONE2", false),
            ("DONE", "UNDONE, then DONE", true),
            ("DONE", "done", false),
            ("<promise>", "a<promise>b", true),
            ("all done", "we are all done now", true),
            ("aa", "aaa aa", true),
            ("完了", "作業は完了です", true),
            ("", "anything", false),
            (" ", "any thing", false),
        ] {
            assert_eq!(contains_word(word, text), expected, "{word:?} in {text:?}");
        }
    }

    #[test]
    fn empty_keyword_list_never_matches() {
        for mode in [KeywordMode::Any, KeywordMode::All] {
            assert!(!mode.holds(&[], |_| true), "{mode:?}");
        }
    }

    proptest! {
        #[test]
        fn a_word_between_blanks_is_found_in_any_text(
            before in ".{0,20}", word in "\\S{1,8}", after in ".{0,20}",
        ) {
            let text = format!("{before} {word} {after}");
            prop_assert!(contains_word(&word, &text));
        }

        #[test]
        fn matched_word_occurs_in_the_text(word in ".{0,4}", text in ".{0,40}") {
            prop_assert!(!contains_word(&word, &text) || text.contains(&word));
        }
    }
}
