//! What the conditions of a flow wait for.

use std::collections::BTreeSet;

use crate::definition::Completion;

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
    /// The names of the signals. Where there are none, an agent gets no tool `signal`.
    pub signals: BTreeSet<String>,
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
            signals: BTreeSet::new(),
        }
    }

    fn collect(&mut self, completion: &Completion) {
        match completion {
            Completion::KeywordSignal(said) => self.keywords.extend(said.keywords.iter().cloned()),
            Completion::StructuredSignal(given) => {
                self.signals.insert(given.signal.clone());
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
