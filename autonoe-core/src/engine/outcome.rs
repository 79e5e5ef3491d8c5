//! What a run came to.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::{Failure, Spent};

/// What a run came to. It does not change any more.
///
/// ```
/// use autonoe_core::{Failure, RunOutcome};
///
/// let broke = RunOutcome::failed(Failure::permanent("panicked", "the run panicked"));
///
/// assert!(!broke.is_success());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunOutcome {
    /// How it ended.
    #[serde(flatten)]
    pub ending: RunEnding,
    /// What the work gave, in its own form.
    #[serde(default)]
    pub output: Value,
    /// What it spent.
    pub spent: Spent,
    /// How many sessions it had; `None` if nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<u64>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ending", rename_all = "camelCase")]
pub enum RunEnding {
    /// Its work is done.
    Succeeded,
    /// Its work is not done.
    Failed {
        /// Why.
        failure: Failure,
    },
    /// It was ended from outside.
    Cancelled {
        /// Why, in the words of who ended it.
        reason: String,
    },
}

impl RunOutcome {
    /// The work is done.
    pub fn succeeded(output: Value) -> Self {
        Self::of(RunEnding::Succeeded, output)
    }

    /// The work is not done.
    pub fn failed(failure: Failure) -> Self {
        Self::of(RunEnding::Failed { failure }, Value::Null)
    }

    /// The run was ended from outside.
    pub fn cancelled(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self::of(RunEnding::Cancelled { reason }, Value::Null)
    }

    fn of(ending: RunEnding, output: Value) -> Self {
        Self {
            ending,
            output,
            spent: Spent::default(),
            sessions: None,
        }
    }

    /// Says what the work gave.
    #[must_use]
    pub fn with_output(mut self, output: Value) -> Self {
        self.output = output;
        self
    }

    /// Says what was spent.
    #[must_use]
    pub fn with_spent(mut self, spent: Spent) -> Self {
        self.spent = spent;
        self
    }

    /// Says how many sessions it had.
    #[must_use]
    pub fn with_sessions(mut self, sessions: u64) -> Self {
        self.sessions = Some(sessions);
        self
    }

    /// Tells whether the work is done.
    pub fn is_success(&self) -> bool {
        self.ending == RunEnding::Succeeded
    }
}
