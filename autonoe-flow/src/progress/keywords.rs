//! Words in the text of an answer.

use crate::definition::KeywordMode;

/// Tells whether `word` stands in `text`, as it is spelled and as a word of its own.
///
/// `DONE` does not stand in `UNDONE`, nor in `Done`. A word that begins or ends
/// with a letter of a script without capitals, where words mostly follow each
/// other without blanks, stands wherever its letters stand. A blank word stands
/// nowhere.
///
/// ```
/// use autonoe_flow::stands_in;
///
/// assert!(stands_in("DONE", "I am DONE."));
/// assert!(!stands_in("DONE", "It is UNDONE."));
/// assert!(stands_in("完了", "作業は完了しました。"));
/// ```
pub fn stands_in(word: &str, text: &str) -> bool {
    if word.trim().is_empty() {
        return false;
    }
    let (first, last) = (word.chars().next(), word.chars().next_back());
    places(word, text).any(|(start, end)| {
        let before = text[..start].chars().next_back();
        let after = text[end..].chars().next();
        !are_one_word(before, first) && !are_one_word(last, after)
    })
}

/// Returns those of `words` that stand in `text`, in the order in which they are given.
pub fn words_in<'a, S: AsRef<str> + 'a>(
    text: &'a str,
    words: impl IntoIterator<Item = &'a S> + 'a,
) -> impl Iterator<Item = &'a str> + 'a {
    let words = words.into_iter().map(AsRef::as_ref);
    words.filter(move |word| stands_in(word, text))
}

impl KeywordMode {
    /// Tells whether one or all of `words` were said; of no words, nothing was.
    pub fn holds(self, words: &[String], is_said: impl Fn(&str) -> bool) -> bool {
        match self {
            Self::Any => words.iter().any(|word| is_said(word)),
            Self::All => !words.is_empty() && words.iter().all(|word| is_said(word)),
        }
    }
}

/// Every place at which `word` is in `text`, also those that overlap.
fn places<'a>(word: &'a str, text: &'a str) -> impl Iterator<Item = (usize, usize)> + 'a {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text.get(from..)?.find(word)?;
        let first = text[start..].chars().next()?;
        from = start + first.len_utf8();
        Some((start, start + word.len()))
    })
}

fn are_one_word(left: Option<char>, right: Option<char>) -> bool {
    left.is_some_and(belongs_to_word) && right.is_some_and(belongs_to_word)
}

fn belongs_to_word(c: char) -> bool {
    c == '_' || c.is_numeric() || c.is_lowercase() || c.is_uppercase()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_word_stands_in_a_text_as_it_is_spelled_and_by_itself() {
        for (word, text, stands) in [
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
            assert_eq!(stands_in(word, text), stands, "{word:?} in {text:?}");
        }
    }

    #[test]
    fn of_no_words_nothing_was_said() {
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
            prop_assert!(stands_in(&word, &text));
        }

        #[test]
        fn what_is_found_is_in_the_text(word in ".{0,4}", text in ".{0,40}") {
            prop_assert!(!stands_in(&word, &text) || text.contains(&word));
        }
    }
}
