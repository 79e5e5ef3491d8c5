//! What is kept besides tasks.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::StateError;
use crate::{ExecutionResult, HarnessId, ProgressSignal, TaskId};

/// Whose state this is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HarnessRecord {
    /// The harness.
    pub id: HarnessId,
    /// The file that its tasks come from.
    pub roadmap: Option<PathBuf>,
    /// When it was first told what to do.
    pub created_at: Timestamp,
}

/// One execution of a task, as it is logged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExecutionRecord {
    /// The task.
    pub task: TaskId,
    /// The attempt that it was a part of, from 1.
    pub attempt: u32,
    /// Whether the backend said that the agent finished its turn.
    pub success: bool,
    /// What the agent said.
    pub output: String,
    /// Why it is no success.
    pub error: Option<String>,
    /// How long it took.
    pub duration: Duration,
    /// When it began.
    pub started_at: Timestamp,
}

impl ExecutionRecord {
    /// Makes a record of what came of a task.
    pub fn of(attempt: u32, result: &ExecutionResult) -> Self {
        Self {
            task: result.task.clone(),
            attempt,
            success: result.is_success(),
            output: result.output.clone(),
            error: result.error(),
            duration: result.duration,
            started_at: result.started_at,
        }
    }
}

/// How far a task seemed to be after an iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProgressSample {
    /// The task.
    pub task: TaskId,
    /// The number of the iteration.
    pub iteration: u32,
    /// How much of it is progress, from 0 to 1.
    pub score: f64,
    /// What that was told by.
    pub signal: ProgressSignal,
    /// When it was seen.
    pub at: Timestamp,
}

impl ProgressSample {
    /// Makes a sample.
    pub fn new(
        task: TaskId,
        iteration: u32,
        score: f64,
        signal: ProgressSignal,
        at: Timestamp,
    ) -> Self {
        Self {
            task,
            iteration,
            score,
            signal,
            at,
        }
    }

    /// Tells whether its score is a number.
    pub(super) fn check(&self) -> Result<(), StateError> {
        match self.score.is_finite() {
            true => Ok(()),
            false => Err(StateError::Invalid("a score that is no number".to_owned())),
        }
    }
}
