//! [`FlowProgress`]: the progress of a flow, as completion conditions see it, and the search for
//! keywords in answers.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::definition::KeywordMode;

/// The progress of a flow: everything that completion conditions depend on.
///
/// It only grows. Once reached, a fact stays reached, so that a condition that is rebuilt after a
/// flow was killed has the same result as before.
///
/// ```
/// use autonoe_flow::progress::FlowProgress;
///
/// let mut progress = FlowProgress::default();
/// progress.record_text(&["DONE".to_owned()].into(), "All tests pass. DONE.");
///
/// assert!(progress.keywords_seen.contains("DONE"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FlowProgress {
    /// The number of prompts sent for steps, including retries and sub-steps.
    pub iterations: u64,
    /// The number of step checks with a verdict, passed or failed.
    pub checks: u64,
    /// The awaited keywords that the agent has used.
    pub keywords_seen: BTreeSet<String>,
    /// The signals that the agent sent, in order.
    pub signals: Vec<AgentSignal>,
    /// The phases with at least one passed step.
    pub phases: BTreeSet<String>,
    /// Whether the steps have reached their end.
    pub at_end: bool,
}

impl FlowProgress {
    /// Records which of the awaited `keywords` occur in the text parts of an answer.
    pub fn record_text(&mut self, keywords: &BTreeSet<String>, text: &str) {
        let found = keywords.iter().filter(|word| contains_word(word, text));
        self.keywords_seen.extend(found.cloned());
    }
}

/// A signal that an agent sent with the tool `signal`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentSignal {
    /// The name of the signal, for example `done`.
    pub name: String,
    /// The fields.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub fields: Map<String, Value>,
}

impl AgentSignal {
    /// Creates a signal without fields.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            fields: Map::new(),
        }
    }

    /// Adds a field.
    #[must_use]
    pub fn with_field(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.fields.insert(name.into(), value.into());
        self
    }
}

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

impl KeywordMode {
    /// Returns whether any or all of `keywords` satisfy `is_found`; `false` if there are none.
    pub fn holds(self, keywords: &[String], is_found: impl Fn(&str) -> bool) -> bool {
        match self {
            Self::Any => keywords.iter().any(|word| is_found(word)),
            Self::All => !keywords.is_empty() && keywords.iter().all(|word| is_found(word)),
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
