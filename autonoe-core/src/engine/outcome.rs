//! [`RunOutcome`], the final outcome of a run.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::BudgetUsage;
use crate::event::Failure;

/// The final outcome of a run.
///
/// ```
/// use autonoe_core::engine::RunOutcome;
/// use autonoe_core::event::Failure;
///
/// let failed = RunOutcome::failed(Failure::permanent("panicked", "the run panicked"));
///
/// assert!(!failed.is_success());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunOutcome {
    /// The way it ended.
    #[serde(flatten)]
    pub ending: RunEnding,
    /// The output of the work, in its own format.
    #[serde(default)]
    pub output: Value,
    /// The usage of the run.
    pub spent: BudgetUsage,
    /// The number of sessions; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<u64>,
}

/// The way a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ending", rename_all = "camelCase")]
pub enum RunEnding {
    /// The work is done.
    Succeeded,
    /// The work is not done.
    Failed {
        /// The cause.
        failure: Failure,
    },
    /// The run was cancelled.
    Cancelled {
        /// The reason that the caller gave.
        reason: String,
    },
}

impl RunOutcome {
    /// Creates the outcome of a run whose work is done.
    pub fn succeeded(output: Value) -> Self {
        Self::with_ending(RunEnding::Succeeded, output)
    }

    /// Creates the outcome of a run whose work is not done.
    pub fn failed(failure: Failure) -> Self {
        Self::with_ending(RunEnding::Failed { failure }, Value::Null)
    }

    /// Creates the outcome of a cancelled run.
    pub fn cancelled(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self::with_ending(RunEnding::Cancelled { reason }, Value::Null)
    }

    fn with_ending(ending: RunEnding, output: Value) -> Self {
        Self {
            ending,
            output,
            spent: BudgetUsage::default(),
            sessions: None,
        }
    }

    /// Sets the output of the work.
    #[must_use]
    pub fn with_output(mut self, output: Value) -> Self {
        self.output = output;
        self
    }

    /// Sets the usage.
    #[must_use]
    pub fn with_spent(mut self, spent: BudgetUsage) -> Self {
        self.spent = spent;
        self
    }

    /// Sets the number of sessions.
    #[must_use]
    pub fn with_sessions(mut self, sessions: u64) -> Self {
        self.sessions = Some(sessions);
        self
    }

    /// Returns whether the work is done.
    pub fn is_success(&self) -> bool {
        self.ending == RunEnding::Succeeded
    }
}
