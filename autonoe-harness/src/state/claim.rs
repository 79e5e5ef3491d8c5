//! Who works on what.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{StoredTask, TaskStatus};
use crate::TaskId;

/// Somebody who wants something to work on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claimant {
    /// Its name, for example that of a harness. No two that live at once share it.
    pub owner: String,
    /// For how long it is taken to be alive after each sign of life.
    pub lease: Duration,
}

impl Claimant {
    /// How long an owner may be silent that does not say so.
    pub const USUAL_LEASE: Duration = Duration::from_secs(60);

    /// Makes a claimant with the usual lease.
    pub fn new(owner: impl Into<String>) -> Self {
        Self {
            owner: owner.into(),
            lease: Self::USUAL_LEASE,
        }
    }

    /// Sets for how long it is taken to be alive after each sign of life.
    #[must_use]
    pub fn with_lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Returns until when it is taken to be alive if it is at `now`.
    pub(super) fn lease_from(&self, now: Timestamp) -> Timestamp {
        now.checked_add(self.lease).unwrap_or(Timestamp::MAX)
    }
}

/// The right to work on a task, until it is finished, given back or taken over.
///
/// Its epoch is higher than that of every claim before it. Who has been taken over holds a claim
/// of an epoch that is not the task's any more, and whatever it says is refused.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Claim {
    /// The task, as it stands.
    pub task: StoredTask,
    /// Who works on it.
    pub claimant: Claimant,
    /// The epoch.
    pub epoch: u64,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// Whether the one before was taken over: its owner was gone.
    pub takes_over: bool,
}

impl Claim {
    /// Returns the task's name.
    pub fn id(&self) -> &TaskId {
        &self.task.task.id
    }
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskEnd {
    /// Completed, failed or cancelled.
    pub(super) status: TaskStatus,
    /// What it gave.
    pub output: Option<String>,
    /// Why it is not done.
    pub error: Option<String>,
}

impl TaskEnd {
    /// The task is done and verified.
    pub fn completed(output: impl Into<String>) -> Self {
        Self {
            status: TaskStatus::Completed,
            output: Some(output.into()),
            error: None,
        }
    }

    /// The task was given up.
    pub fn failed(error: impl Into<String>) -> Self {
        Self {
            status: TaskStatus::Failed,
            output: None,
            error: Some(error.into()),
        }
    }

    /// The task is not to be done.
    pub fn cancelled(reason: impl Into<String>) -> Self {
        Self {
            status: TaskStatus::Cancelled,
            output: None,
            error: Some(reason.into()),
        }
    }

    /// Says what it gave all the same.
    #[must_use]
    pub fn with_output(mut self, output: impl Into<String>) -> Self {
        self.output = Some(output.into());
        self
    }

    /// Returns how the task stands then.
    pub fn status(&self) -> TaskStatus {
        self.status
    }
}

/// A status for a task, with its output and its error.
///
/// ```
/// use autonoe_harness::{TaskEnd, TaskStatus, TaskUpdate};
///
/// let again = TaskUpdate::new(TaskStatus::Pending);
/// let done: TaskUpdate = TaskEnd::completed("It works.").into();
///
/// assert_eq!(done, TaskUpdate::new(TaskStatus::Completed).output("It works."));
/// # drop(again);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskUpdate {
    /// The status.
    pub status: TaskStatus,
    /// What the task gave.
    pub output: Option<String>,
    /// Why it is not done.
    pub error: Option<String>,
}

impl TaskUpdate {
    /// Makes an update to a status, without output and error.
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

impl From<TaskEnd> for TaskUpdate {
    fn from(end: TaskEnd) -> Self {
        Self {
            status: end.status,
            output: end.output,
            error: end.error,
        }
    }
}

/// One time that a task was claimed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AttemptRecord {
    /// The task.
    pub task: TaskId,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// Who worked.
    pub owner: String,
    /// The epoch of the claim.
    pub epoch: u64,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// How it ended; `None` while it is under way.
    pub ending: Option<AttemptEnding>,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AttemptEnding {
    /// The task was completed.
    Completed,
    /// The task was given up.
    Failed,
    /// The task is not to be done.
    Cancelled,
    /// The task was given back, for somebody else to do.
    GivenBack,
    /// Its owner was gone.
    Lost,
}

impl AttemptEnding {
    /// All of them.
    #[cfg(feature = "sqlite")]
    pub(super) const ALL: [Self; 5] = [
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
        Self::GivenBack,
        Self::Lost,
    ];

    /// Returns its name, as it is kept.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::GivenBack => "givenBack",
            Self::Lost => "lost",
        }
    }

    /// Returns how the attempt ended in which a task came to stand like this.
    pub(super) fn of(status: TaskStatus) -> Self {
        match status {
            TaskStatus::Completed => Self::Completed,
            TaskStatus::Failed => Self::Failed,
            TaskStatus::Cancelled => Self::Cancelled,
            TaskStatus::Pending | TaskStatus::InProgress => Self::GivenBack,
        }
    }
}
