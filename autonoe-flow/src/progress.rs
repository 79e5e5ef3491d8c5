//! [`FlowProgress`]: the progress of a flow, as completion conditions see it.

mod keywords;
mod triggers;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::keywords::{contains_word, find_words};
pub use self::triggers::Triggers;

/// The progress of a flow: everything that completion conditions depend on.
///
/// It only grows. Once reached, a fact stays reached, so that a condition that is rebuilt after a
/// flow was killed has the same result as before.
///
/// ```
/// use autonoe_flow::progress::{FlowProgress, Triggers};
///
/// let watched = Triggers::from_keywords(["DONE"]);
/// let mut progress = FlowProgress::default();
/// progress.record_iteration();
/// progress.record_text(&watched, "All tests pass. DONE.");
///
/// assert_eq!(progress.iterations, 1);
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
    /// Counts an iteration, even if there was no answer.
    pub fn record_iteration(&mut self) {
        self.iterations = self.iterations.saturating_add(1);
    }

    /// Records which of the `watched` keywords occur in the text parts of an answer.
    pub fn record_text(&mut self, watched: &Triggers, text: &str) {
        let found = find_words(text, &watched.keywords);
        self.keywords_seen.extend(found.map(str::to_owned));
    }

    /// Records the signals that the agent sent in an iteration.
    pub fn record_signals(&mut self, signals: impl IntoIterator<Item = AgentSignal>) {
        self.signals.extend(signals);
    }

    /// Counts a step check with a verdict, passed or failed.
    pub fn record_check(&mut self) {
        self.checks = self.checks.saturating_add(1);
    }

    /// Records that a step of `phase` has passed. A skipped step has not.
    pub fn record_phase(&mut self, phase: &str) {
        if !self.phases.contains(phase) {
            self.phases.insert(phase.to_owned());
        }
    }

    /// Records that the steps have reached their end.
    pub fn record_end(&mut self) {
        self.at_end = true;
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
