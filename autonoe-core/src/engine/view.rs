//! [`RunView`], the status of a run, with its [`RunProgress`] and its [`RunOutcome`].

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::RunSpec;
use crate::agent::BudgetUsage;
use crate::event::{Failure, WaitReason};
use crate::time::RunId;

/// The status of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunView {
    /// The ID of the run.
    pub id: RunId,
    /// The phase of the run.
    pub phase: RunPhase,
    /// The host of the run, if the engine has several and reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The reason why the run is stuck at the moment, for people, if the engine knows it: the last
    /// failed try, which will be repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// The wait between two sessions, if the engine knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<RunWait>,
    /// The specification, if the engine reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<RunSpec>,
    /// The progress; `None` if it is unknown because the worker does not answer.
    #[serde(flatten)]
    pub progress: Option<RunProgress>,
    /// The outcome, once the run has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<RunOutcome>,
}

impl RunView {
    /// Creates the view of a run that has not started.
    pub fn new(id: RunId) -> Self {
        Self {
            id,
            phase: RunPhase::Waiting,
            host: None,
            last_error: None,
            wait: None,
            spec: None,
            progress: Some(RunProgress::default()),
            outcome: None,
        }
    }
}

/// The progress of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunProgress {
    /// The completed fraction, from 0 to 1. Other values are clamped when they are read.
    #[serde(deserialize_with = "deserialize_fraction")]
    pub progress: f64,
    /// The current task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The number of the current iteration; 0 before the first.
    pub iteration: u32,
    /// The usage so far.
    pub spent: BudgetUsage,
    /// The working directory of its agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_dir: Option<PathBuf>,
    /// The question that waits for the operator's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
}

impl RunProgress {
    /// Creates the progress of a run that completed this fraction, from 0 to 1.
    pub fn new(progress: f64) -> Self {
        Self {
            progress: clamp_fraction(progress),
            ..Self::default()
        }
    }
}

/// Clamps a number to 0 to 1; NaN becomes 0.
pub(super) fn clamp_fraction(progress: f64) -> f64 {
    if progress.is_nan() {
        0.0
    } else {
        progress.clamp(0.0, 1.0)
    }
}

/// Reads the progress of a run. In JSON, NaN and infinity are `null`.
fn deserialize_fraction<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let progress = Option::<f64>::deserialize(deserializer)?;
    Ok(clamp_fraction(progress.unwrap_or_default()))
}

/// The wait of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunWait {
    /// The reason of the wait.
    pub reason: WaitReason,
    /// The end of the wait.
    pub until: Timestamp,
}

impl RunWait {
    /// Creates a wait for `reason` until `until`.
    pub fn new(reason: WaitReason, until: Timestamp) -> Self {
        Self { reason, until }
    }
}

/// The phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RunPhase {
    /// It has not started.
    Waiting,
    /// It is running.
    Running,
    /// It is paused until it is resumed.
    Paused,
    /// It was cancelled and has not ended yet.
    Stopping,
    /// It has ended.
    Ended,
}

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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_progress_is_left_out_and_read_as_unknown() {
        let mut view = RunView::new(RunId::new("shop-1"));
        view.progress = None;

        let written = serde_json::to_value(&view).expect("JSON");

        assert_eq!(written, json!({"id": "shop-1", "phase": "waiting"}));
        let read: RunView = serde_json::from_value(written).expect("a view");
        assert_eq!(read, view);
    }

    #[test]
    fn progress_is_flattened_into_the_view() {
        let mut view = RunView::new(RunId::new("shop-1"));
        view.progress = Some(RunProgress::new(0.5));

        let written = serde_json::to_value(&view).expect("JSON");

        assert_eq!(written["progress"], 0.5);
        let read: RunView = serde_json::from_value(written).expect("a view");
        assert_eq!(read, view);
    }
}
