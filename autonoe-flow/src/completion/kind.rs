//! [`CompletionKind`]: what each kind of completion condition decides.

use super::dependencies::CompletionDependencies;
use crate::definition::StructuredSignal;
use crate::error::FlowError;
use crate::port::CompletionHandler;
use crate::progress::Triggers;
use crate::walk::Formula;

/// A kind of completion condition.
///
/// No function has a default: each kind decides about each of them.
pub(crate) trait CompletionKind {
    /// Builds the handler that decides whether the condition holds.
    ///
    /// # Errors
    ///
    /// A dependency is missing. The message names it.
    fn build(
        &self,
        needed: &CompletionDependencies,
    ) -> Result<Box<dyn CompletionHandler>, FlowError>;

    /// Returns the mistakes in its settings.
    fn mistakes(&self) -> Vec<Mistake>;

    /// Returns the condition as far as the graph determines it.
    fn formula(&self) -> Formula;

    /// Describes that no path reaches the condition; `None` if this is not reported.
    fn unreachable(&self) -> Option<Unreachable>;

    /// Returns what it needs from the flow and the project.
    fn needs(&self) -> Needs;
}

/// A mistake in the settings of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// The place, as a JSON pointer into the settings.
    pub(crate) pointer: String,
    pub(crate) message: String,
    pub(crate) hint: &'static str,
}

impl Mistake {
    pub(crate) fn new(
        pointer: impl Into<String>,
        message: impl Into<String>,
        hint: &'static str,
    ) -> Self {
        Self {
            pointer: pointer.into(),
            message: message.into(),
            hint,
        }
    }

    /// Returns the mistake with `at` in front of its pointer.
    pub(crate) fn below(mut self, at: &str) -> Self {
        self.pointer.insert_str(0, at);
        self
    }
}

/// A condition that no path through the steps reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreachable {
    pub(crate) message: String,
    pub(crate) hint: &'static str,
}

/// The parts of the flow and the project that conditions need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    pub(crate) reads_ledger: bool,
    pub(crate) runs_command: bool,
    /// The keywords and signals that they wait for.
    pub(crate) triggers: Triggers,
}

impl Needs {
    pub(crate) fn keywords(words: &[String]) -> Self {
        Self {
            triggers: Triggers::from_keywords(words),
            ..Self::default()
        }
    }

    pub(crate) fn signal(signal: &StructuredSignal) -> Self {
        let mut needs = Self::default();
        needs.triggers.signals.push(signal.clone());
        needs
    }

    /// Adds the needs of another condition.
    pub(crate) fn merge(&mut self, other: Self) {
        self.reads_ledger |= other.reads_ledger;
        self.runs_command |= other.runs_command;
        self.triggers.merge(other.triggers);
    }
}
