//! State store of a member: tasks, outcomes and executions. Errors of state stores.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::executor::{ExecutionReport, Task, TaskId};
use crate::roadmap::PlannedTask;
use crate::strategy::MemberId;

/// State of a member, for readers outside its process: the six operations of a state manager.
///
/// It is a projection of the journal of the member (`work.jsonl`), which decides the next steps.
/// One process writes it, the one that serves the member. Each operation is applied fully or not at
/// all, even if its future is dropped, and acknowledged writes are kept. Times are the caller's.
///
/// `conformance::state_store` checks an implementation, with the feature `conformance`.
///
/// ```
/// use autonoe_harness::roadmap::PlannedTask;
/// use autonoe_harness::state::{MemberPlan, SqliteState, StateStore, TaskStatus, TaskUpdate};
/// use autonoe_harness::strategy::MemberId;
/// use autonoe_harness::Task;
/// use jiff::Timestamp;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let state = SqliteState::in_memory().await?;
/// let now = Timestamp::UNIX_EPOCH;
/// let tasks = [Task::new("parser", "Read sums.")?, Task::new("shell", "Ask for a line.")?];
/// let plan = MemberPlan::new(MemberId::new("m"), tasks.map(PlannedTask::new));
/// state.init_member(&plan, now).await?;
///
/// let done = TaskUpdate::new(TaskStatus::Completed).output("It reads them.");
/// state.update_task_status(&"parser".parse()?, &done, now).await?;
///
/// let left = state.get_incomplete_tasks().await?;
/// assert_eq!(left[0].task.id.as_str(), "shell");
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait StateStore: Send + Sync {
    /// Stores the tasks of a member.
    ///
    /// A later call for the same member adds new tasks and replaces pending ones. Started tasks
    /// keep their definition and their status, and none is removed.
    ///
    /// # Errors
    ///
    /// [`StateError::Conflict`] if this is the state of another member, [`StateError::Invalid`] if
    /// the path of the roadmap is not UTF-8.
    async fn init_member(&self, plan: &MemberPlan, now: Timestamp) -> Result<(), StateError>;

    /// Stores a task: after all others if it is new, in its place if it is known. A known task that
    /// was started keeps its status, its output and its error.
    async fn save_task(&self, planned: &PlannedTask, now: Timestamp) -> Result<(), StateError>;

    /// Returns a task, or `None` if it is unknown.
    async fn load_task(&self, id: &TaskId) -> Result<Option<StoredTask>, StateError>;

    /// Sets status, output and error of a task. Repeating an update changes nothing.
    ///
    /// # Errors
    ///
    /// [`StateError::Unknown`].
    async fn update_task_status(
        &self,
        id: &TaskId,
        update: &TaskUpdate,
        now: Timestamp,
    ) -> Result<(), StateError>;

    /// Returns the tasks that have not ended, in order, including those in progress.
    async fn get_incomplete_tasks(&self) -> Result<Vec<StoredTask>, StateError> {
        let mut tasks = self.tasks().await?;
        tasks.retain(|task| !task.status.is_ended());
        Ok(tasks)
    }

    /// Logs an execution.
    ///
    /// # Errors
    ///
    /// [`StateError::Unknown`].
    async fn log_execution(&self, execution: &ExecutionRecord) -> Result<(), StateError>;

    /// Returns all tasks, in order.
    async fn tasks(&self) -> Result<Vec<StoredTask>, StateError>;

    /// Returns the executions of a task, in the order in which they were logged.
    async fn executions(&self, id: &TaskId) -> Result<Vec<ExecutionRecord>, StateError>;
}

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

/// Error of a state store. Stored data is left unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The named object does not exist.
    #[error("there is no {0}")]
    Unknown(String),
    /// Another object of that name exists already.
    #[error("another {0} already exists")]
    Conflict(String),
    /// The data contradicts itself.
    #[error("{0}")]
    Invalid(String),
    /// The claim was taken over by another process.
    #[error("epoch {epoch} no longer owns {what}; another process has taken over")]
    Fenced {
        /// The claimed object, for people.
        what: String,
        /// The epoch of the refused claim.
        epoch: u64,
    },
    /// Other processes have held the write lock for too long.
    #[error("{path:?} is locked by other processes; try again later")]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The file has another version than this program reads.
    #[error(
        "{path:?} has version {found}, and this program reads version {known}; \
         use the version of Autonoe that wrote it, or move the file away"
    )]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The version that this program reads.
        known: i64,
    },
    /// The file belongs to another program.
    #[error("{path:?} is {what}, not {expected}; it was left unchanged: move it away")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Description of the file.
        what: &'static str,
        /// Expected kind of file.
        expected: &'static str,
    },
    /// The file is damaged.
    #[error("{path:?} is damaged: {reason}; it was left unchanged: move it away or restore a copy")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The problem with it.
        reason: String,
    },
    /// The file could not be read or written.
    #[error("cannot use {path:?}: {doing}")]
    Failed {
        /// The file.
        path: PathBuf,
        /// The operation that failed.
        doing: &'static str,
        /// The error.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl StateError {
    pub(crate) fn fenced(what: impl std::fmt::Display, epoch: u64) -> Self {
        Self::Fenced {
            what: what.to_string(),
            epoch,
        }
    }
}
