//! [`Triggers`]: the keywords and signals of completion conditions.

use std::collections::BTreeSet;

use crate::definition::{Completion, StructuredSignal};

/// The keywords and signals that the completion conditions of a definition wait for.
///
/// ```
/// use autonoe_flow::definition::Behavior;
/// use autonoe_flow::progress::Triggers;
///
/// let behavior: Behavior = serde_json::from_str(
///     r#"{"completionType": "keywordSignal", "completionConfig": {"keywords": ["DONE"]}}"#,
/// )?;
///
/// assert_eq!(Triggers::from_completion(&behavior.completion), Triggers::from_keywords(["DONE"]));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Triggers {
    /// The keywords.
    pub keywords: BTreeSet<String>,
    /// The signals, without duplicates. If there are none, agents have no tool `signal`.
    pub signals: Vec<StructuredSignal>,
}

impl Triggers {
    /// Collects the keywords and signals of `completion` and its nested conditions.
    pub fn from_completion(completion: &Completion) -> Self {
        completion.kind().needs().triggers
    }

    /// Creates a set of keywords, without signals.
    pub fn from_keywords<S: Into<String>>(words: impl IntoIterator<Item = S>) -> Self {
        Self {
            keywords: words.into_iter().map(Into::into).collect(),
            signals: Vec::new(),
        }
    }

    /// Adds the keywords and signals of another condition.
    pub(crate) fn merge(&mut self, other: Self) {
        self.keywords.extend(other.keywords);
        for signal in other.signals {
            if !self.signals.contains(&signal) {
                self.signals.push(signal);
            }
        }
    }
}
