//! What the conditions of a flow wait for.

use std::collections::BTreeSet;

use super::Signal;
use crate::definition::{Completion, StructuredSignal};

/// The words and signals for which the conditions of a definition wait.
///
/// ```
/// use autonoe_flow::{Behavior, Watched};
///
/// let behavior: Behavior = serde_json::from_str(
///     r#"{"completionType": "keywordSignal", "completionConfig": {"keywords": ["DONE"]}}"#,
/// )?;
///
/// assert_eq!(Watched::by(&behavior.completion), Watched::words(["DONE"]));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// The words.
    pub keywords: BTreeSet<String>,
    /// The signals, each once. Where there are none, an agent gets no tool `signal`.
    pub signals: Vec<StructuredSignal>,
}

impl Watched {
    /// Returns what `completion` waits for, in all of its conditions.
    pub fn by(completion: &Completion) -> Self {
        let mut watched = Self::default();
        watched.collect(completion);
        watched
    }

    /// Waits for words alone.
    pub fn words<S: Into<String>>(words: impl IntoIterator<Item = S>) -> Self {
        Self {
            keywords: words.into_iter().map(Into::into).collect(),
            signals: Vec::new(),
        }
    }

    fn collect(&mut self, completion: &Completion) {
        match completion {
            Completion::KeywordSignal(said) => self.keywords.extend(said.keywords.iter().cloned()),
            Completion::StructuredSignal(given) => {
                if !self.signals.contains(given) {
                    self.signals.push(given.clone());
                }
            }
            Completion::Composite(composite) => {
                for condition in &composite.conditions {
                    self.collect(&condition.completion);
                }
            }
            Completion::StepMachine(_)
            | Completion::IterationBudget(_)
            | Completion::CheckBudget(_)
            | Completion::PhaseCompletion(_)
            | Completion::ExternalState(_)
            | Completion::Deliverables(_)
            | Completion::Custom(_) => {}
        }
    }
}

impl StructuredSignal {
    /// Tells whether `signal` is what is waited for: it has the name, and each of the fields
    /// with something in it.
    pub fn fits(&self, signal: &Signal) -> bool {
        signal.name == self.signal && self.missing_in(signal).next().is_none()
    }

    /// Returns the fields that `signal` does not have, or that are `null`.
    pub(crate) fn missing_in<'a>(&'a self, signal: &'a Signal) -> impl Iterator<Item = &'a str> {
        let fields = self.required_fields.iter().map(String::as_str);
        fields.filter(|field| {
            signal
                .fields
                .get(*field)
                .is_none_or(serde_json::Value::is_null)
        })
    }
}
