//! Tasks of a member as its state contains them, with their status and their executions.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::executor::{ExecutionReport, Task, TaskId};
use crate::roadmap::PlannedTask;
use crate::strategy::MemberId;

/// The tasks of a member, in the order in which they start.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberPlan {
    /// The member.
    pub member: MemberId,
    /// The roadmap file that the tasks come from.
    pub roadmap: Option<PathBuf>,
    /// The tasks.
    pub tasks: Vec<PlannedTask>,
}

impl MemberPlan {
    /// Creates a plan without a roadmap.
    pub fn new(member: MemberId, tasks: impl IntoIterator<Item = PlannedTask>) -> Self {
        Self {
            member,
            roadmap: None,
            tasks: tasks.into_iter().collect(),
        }
    }
}

/// Status of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TaskStatus {
    /// Not started, or stopped before its end.
    Pending,
    /// In progress, or in progress when the process of the member was lost.
    InProgress,
    /// Done and verified.
    Completed,
    /// Failed for good.
    Failed,
    /// Not to be done.
    Cancelled,
}

impl TaskStatus {
    /// All statuses.
    pub const ALL: [Self; 5] = [
        Self::Pending,
        Self::InProgress,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Returns the stored name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "inProgress",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns whether the task is no longer worked on, whether it is done or not.
    pub fn is_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

impl fmt::Display for TaskStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A stored task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StoredTask {
    /// The task.
    pub task: Task,
    /// The tasks that must be completed before it.
    pub depends: Vec<TaskId>,
    /// Its position in the order in which tasks start.
    pub order: u64,
    /// Its status.
    pub status: TaskStatus,
    /// Its output, once it has ended.
    pub output: Option<String>,
    /// The reason why it is not done.
    pub error: Option<String>,
    /// The time of the last change.
    pub updated_at: Timestamp,
}

impl StoredTask {
    /// Creates a task that was not started.
    pub(super) fn new(planned: &PlannedTask, order: u64, now: Timestamp) -> Self {
        Self {
            task: planned.task.clone(),
            depends: planned.depends.clone(),
            order,
            status: if planned.is_done {
                TaskStatus::Completed
            } else {
                TaskStatus::Pending
            },
            output: None,
            error: None,
            updated_at: now,
        }
    }

    /// Takes over status, output and error of `other`.
    pub(super) fn keep_outcome_of(mut self, other: Self) -> Self {
        if other.status != TaskStatus::Pending {
            (self.status, self.output, self.error) = (other.status, other.output, other.error);
        }
        self
    }

    /// Applies an update. Returns `false` if it changes nothing.
    pub(super) fn update(&mut self, update: &TaskUpdate, now: Timestamp) -> bool {
        let before = (self.status, &self.output, &self.error);
        if before == (update.status, &update.output, &update.error) {
            return false;
        }
        self.status = update.status;
        self.output.clone_from(&update.output);
        self.error.clone_from(&update.error);
        self.updated_at = now;
        true
    }
}

/// A new status of a task, with its output and its error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskUpdate {
    /// The status.
    pub status: TaskStatus,
    /// The output of the task.
    pub output: Option<String>,
    /// The reason why it is not done.
    pub error: Option<String>,
}

impl TaskUpdate {
    /// Creates an update without output and error.
    pub fn new(status: TaskStatus) -> Self {
        Self {
            status,
            output: None,
            error: None,
        }
    }

    /// Sets the output.
    #[must_use]
    pub fn output(mut self, output: impl Into<String>) -> Self {
        self.output = Some(output.into());
        self
    }

    /// Sets the error.
    #[must_use]
    pub fn error(mut self, error: impl Into<String>) -> Self {
        self.error = Some(error.into());
        self
    }
}

/// One execution of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExecutionRecord {
    /// The task.
    pub task: TaskId,
    /// The number of the attempt, starting at 1. An attempt ends with the task or with its process.
    pub attempt: u32,
    /// Whether the backend reported that the agent finished its turn.
    pub success: bool,
    /// The output of the agent.
    pub output: String,
    /// The reason of a failure.
    pub error: Option<String>,
    /// Its duration.
    pub duration: Duration,
    /// The start time.
    pub started_at: Timestamp,
}

impl ExecutionRecord {
    /// Creates the record of a result.
    pub fn from_result(attempt: u32, result: &ExecutionReport) -> Self {
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
