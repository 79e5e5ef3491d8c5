//! What a flow has reached so far.

mod keywords;
mod watched;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::keywords::{stands_in, words_in};
pub use self::watched::Watched;

/// What a flow has reached so far: all that the conditions of a definition look at.
///
/// It only grows. What was reached once stays reached, so that a condition
/// built anew, after a flow was killed, finds what the one before it found.
///
/// ```
/// use autonoe_flow::{FlowProgress, Watched};
///
/// let watched = Watched::words(["DONE"]);
/// let mut progress = FlowProgress::default();
/// progress.note_iteration();
/// progress.note_text(&watched, "All tests pass. DONE.");
///
/// assert_eq!(progress.iterations, 1);
/// assert!(progress.keywords_seen.contains("DONE"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FlowProgress {
    /// How many prompts were sent for steps, new tries and sub-steps included.
    pub iterations: u64,
    /// How many checks of steps came to a verdict, whatever it is.
    pub checks: u64,
    /// Which of the words that are waited for the agent has said.
    pub keywords_seen: BTreeSet<String>,
    /// The signals that the agent gave, in their order.
    pub signals: Vec<Signal>,
    /// The phases of which a step has passed.
    pub phases: BTreeSet<String>,
    /// Whether the steps have come to their end.
    pub at_end: bool,
}

impl FlowProgress {
    /// Counts an iteration. It counts also when no answer came.
    pub fn note_iteration(&mut self) {
        self.iterations = self.iterations.saturating_add(1);
    }

    /// Notes which of the words that are `watched` stand in the text parts of an answer.
    pub fn note_text(&mut self, watched: &Watched, text: &str) {
        let said = words_in(text, &watched.keywords);
        self.keywords_seen.extend(said.map(str::to_owned));
    }

    /// Notes signals that the agent gave in an iteration.
    pub fn note_signals(&mut self, signals: impl IntoIterator<Item = Signal>) {
        self.signals.extend(signals);
    }

    /// Counts a check of a step that came to a verdict, whatever it is.
    pub fn note_check(&mut self) {
        self.checks = self.checks.saturating_add(1);
    }

    /// Notes that a step of `phase` has passed. A step that was skipped has not.
    pub fn note_phase(&mut self, phase: &str) {
        if !self.phases.contains(phase) {
            self.phases.insert(phase.to_owned());
        }
    }

    /// Notes that the steps have come to their end.
    pub fn note_end(&mut self) {
        self.at_end = true;
    }
}

/// What an agent says with the tool `signal`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Signal {
    /// The name of the signal, for example `done`.
    pub name: String,
    /// What it says.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub fields: Map<String, Value>,
}

impl Signal {
    /// Makes a signal that says nothing but its name.
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
