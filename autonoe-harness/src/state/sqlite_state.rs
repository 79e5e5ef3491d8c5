//! State of a member in SQLite: its tasks, with their status and their executions.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, Row, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::StateError;
use crate::database::{
    Database, DatabaseError, STATE, collect, from_json, json, number, parse_column, to_stored,
    unreadable,
};
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// Returns whether the task is no longer worked on, whether it is done or not.
    pub fn is_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
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
    fn new(planned: &PlannedTask, order: u64, now: Timestamp) -> Self {
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

    /// Applies an update. Returns `false` if it changes nothing.
    fn update(&mut self, update: &TaskUpdate, now: Timestamp) -> bool {
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

/// State of a member, for readers outside its process: a SQLite file, `state.db`.
///
/// It is a projection of the journal of the member (`work.jsonl`), which decides the next steps.
/// One process writes it, the one that serves the member. Each operation is applied fully or not at
/// all, even if its future is dropped, and acknowledged writes are kept. Times are the caller's.
///
/// The file must be on a local disk: processes that read it share memory next to it. A file that is
/// damaged, belongs to another program or has another version is an error and stays as it is.
///
/// ```
/// use autonoe_harness::roadmap::PlannedTask;
/// use autonoe_harness::state::{MemberPlan, SqliteState, TaskStatus, TaskUpdate};
/// use autonoe_harness::strategy::MemberId;
/// use autonoe_harness::Task;
/// use jiff::Timestamp;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let state = SqliteState::open(&dir.path().join(".harness/m/state.db")).await?;
/// let now = Timestamp::UNIX_EPOCH;
/// let tasks = [Task::new("parser", "Read sums.")?, Task::new("shell", "Ask for a line.")?];
/// let plan = MemberPlan::new(MemberId::new("m"), tasks.map(PlannedTask::new));
/// state.init_member(&plan, now).await?;
///
/// let done = TaskUpdate::new(TaskStatus::Completed);
/// state.update_task_status(&"parser".parse()?, &done, now).await?;
///
/// let left = state.get_incomplete_tasks().await?;
/// assert_eq!(left[0].task.id.as_str(), "shell");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SqliteState {
    database: Database,
}

/// One change of the state.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TaskChange {
    /// A task has a new status.
    Status(TaskId, TaskUpdate, Timestamp),
    /// An execution is over.
    Execution(ExecutionRecord),
}

impl SqliteState {
    /// Opens the file at `path`. Creates it and its folder if they are missing.
    ///
    /// # Errors
    ///
    /// The file is damaged, belongs to another program, has another version, or cannot be opened.
    pub async fn open(path: &Path) -> Result<Self, StateError> {
        let database = Database::open(path, &STATE).await?;
        Ok(Self { database })
    }

    /// Replaces the state by the result of applying `changes` to a plan.
    pub(crate) async fn rebuild(
        &self,
        plan: MemberPlan,
        changes: Vec<TaskChange>,
        now: Timestamp,
    ) -> Result<(), StateError> {
        self.database
            .write(move |db| {
                db.execute_batch("DELETE FROM executions; DELETE FROM tasks;")?;
                init(db, &plan, now)?;
                changes.iter().try_for_each(|change| apply(db, change))
            })
            .await
    }

    /// Applies changes, all of them or none.
    pub(crate) async fn apply(&self, changes: Vec<TaskChange>) -> Result<(), StateError> {
        self.database
            .write(move |db| changes.iter().try_for_each(|change| apply(db, change)))
            .await
    }

    /// Stores the tasks of a member.
    ///
    /// A later call for the same member adds new tasks and replaces pending ones. Started tasks
    /// keep their definition and their status, and none is removed.
    ///
    /// # Errors
    ///
    /// [`StateError::Conflict`] if this is the state of another member, [`StateError::Invalid`] if
    /// the path of the roadmap is not UTF-8.
    pub async fn init_member(&self, plan: &MemberPlan, now: Timestamp) -> Result<(), StateError> {
        let plan = plan.clone();
        self.database.write(move |db| init(db, &plan, now)).await
    }

    /// Stores a task: after all others if it is new, in its place if it is known. A known task that
    /// was started keeps its status, its output and its error.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub async fn save_task(&self, planned: &PlannedTask, now: Timestamp) -> Result<(), StateError> {
        let planned = planned.clone();
        self.database.write(move |db| save(db, &planned, now)).await
    }

    /// Returns a task, or `None` if it is unknown.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub async fn load_task(&self, id: &TaskId) -> Result<Option<StoredTask>, StateError> {
        let id = id.clone();
        self.database.read(move |db| find(db, &id)).await
    }

    /// Sets status, output and error of a task. Repeating an update changes nothing.
    ///
    /// # Errors
    ///
    /// [`StateError::Unknown`].
    pub async fn update_task_status(
        &self,
        id: &TaskId,
        update: &TaskUpdate,
        now: Timestamp,
    ) -> Result<(), StateError> {
        let change = TaskChange::Status(id.clone(), update.clone(), now);
        self.apply(vec![change]).await
    }

    /// Returns the tasks that have not ended, in order, including those in progress.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub async fn get_incomplete_tasks(&self) -> Result<Vec<StoredTask>, StateError> {
        let mut tasks = self.tasks().await?;
        tasks.retain(|task| !task.status.is_ended());
        Ok(tasks)
    }

    /// Logs an execution.
    ///
    /// # Errors
    ///
    /// [`StateError::Unknown`].
    pub async fn log_execution(&self, execution: &ExecutionRecord) -> Result<(), StateError> {
        let change = TaskChange::Execution(execution.clone());
        self.apply(vec![change]).await
    }

    /// Returns all tasks, in order.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub async fn tasks(&self) -> Result<Vec<StoredTask>, StateError> {
        let sql = "SELECT * FROM tasks ORDER BY position, id";
        self.database
            .read(move |db| collect(db, sql, [], task_of))
            .await
    }

    /// Returns the executions of a task, in the order in which they were logged.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub async fn executions(&self, id: &TaskId) -> Result<Vec<ExecutionRecord>, StateError> {
        let sql = "SELECT * FROM executions WHERE task = ?1 ORDER BY number";
        let id = id.clone();
        self.database
            .read(move |db| collect(db, sql, [id.as_str()], execution_of))
            .await
    }
}

fn init(db: &Connection, plan: &MemberPlan, now: Timestamp) -> Result<(), DatabaseError> {
    let roadmap = plan.roadmap.as_ref().map(|path| {
        let text = path.to_str();
        text.ok_or_else(|| {
            StateError::Invalid(format!("the path {path:?} of the roadmap is not UTF-8"))
        })
    });
    db.execute(
        "INSERT INTO member VALUES (1, ?1, ?2, ?3)
         ON CONFLICT (one) DO UPDATE SET roadmap = ?2",
        params![plan.member.as_str(), roadmap.transpose()?, now.to_string()],
    )?;
    let found: String = db.query_row("SELECT id FROM member", [], |row| row.get(0))?;
    if found != plan.member.as_str() {
        return Err(StateError::Conflict(format!("member, {found},")).into());
    }
    for (order, planned) in (0..).zip(&plan.tasks) {
        let new = StoredTask::new(planned, order, now);
        let task = match find(db, &planned.task.id)? {
            Some(started) if started.status != TaskStatus::Pending => {
                StoredTask { order, ..started }
            }
            _ => new,
        };
        upsert_task(db, &task)?;
    }
    Ok(())
}

fn save(db: &Connection, planned: &PlannedTask, now: Timestamp) -> Result<(), DatabaseError> {
    let sql = "SELECT coalesce(max(position) + 1, 0) AS next FROM tasks";
    let next = collect(db, sql, [], |row| number(row, "next"))?;
    let mut task = StoredTask::new(planned, next.first().copied().unwrap_or(0), now);
    if let Some(found) = find(db, &planned.task.id)? {
        task.order = found.order;
        if found.status != TaskStatus::Pending {
            (task.status, task.output, task.error) = (found.status, found.output, found.error);
        }
    }
    upsert_task(db, &task)
}

fn apply(db: &Connection, change: &TaskChange) -> Result<(), DatabaseError> {
    match change {
        TaskChange::Status(id, update, at) => {
            let mut task = get(db, id)?;
            if task.update(update, *at) {
                upsert_task(db, &task)
            } else {
                Ok(())
            }
        }
        TaskChange::Execution(execution) => {
            get(db, &execution.task)?;
            db.execute(
                "INSERT INTO executions
                     (task, attempt, success, output, error, duration_nanos, started_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    execution.task.as_str(),
                    execution.attempt,
                    execution.success,
                    execution.output,
                    execution.error,
                    to_stored(execution.duration.as_nanos()),
                    execution.started_at.to_string(),
                ],
            )?;
            Ok(())
        }
    }
}

fn get(db: &Connection, id: &TaskId) -> Result<StoredTask, DatabaseError> {
    let found = find(db, id)?;
    found.ok_or_else(|| StateError::Unknown(format!("task {id}")).into())
}

fn find(db: &Connection, id: &TaskId) -> Result<Option<StoredTask>, DatabaseError> {
    let sql = "SELECT * FROM tasks WHERE id = ?1";
    Ok(collect(db, sql, [id.as_str()], task_of)?.pop())
}

fn upsert_task(db: &Connection, task: &StoredTask) -> Result<(), DatabaseError> {
    db.execute(
        "INSERT INTO tasks VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (id) DO UPDATE SET position = ?2, task = ?3, depends = ?4, status = ?5,
             output = ?6, error = ?7, updated_at = ?8",
        params![
            task.task.id.as_str(),
            to_stored(task.order),
            json(&task.task)?,
            json(&task.depends)?,
            json(&task.status)?.trim_matches('"'),
            task.output,
            task.error,
            task.updated_at.to_string(),
        ],
    )?;
    Ok(())
}

fn task_of(row: &Row<'_>) -> Result<StoredTask, DatabaseError> {
    let status = serde_json::from_value(Value::String(row.get("status")?));
    Ok(StoredTask {
        task: from_json(row, "task")?,
        depends: from_json(row, "depends")?,
        order: number(row, "position")?,
        status: status.map_err(|error| unreadable("status", &error))?,
        output: row.get("output")?,
        error: row.get("error")?,
        updated_at: parse_column(row, "updated_at")?,
    })
}

fn execution_of(row: &Row<'_>) -> Result<ExecutionRecord, DatabaseError> {
    Ok(ExecutionRecord {
        task: parse_column(row, "task")?,
        attempt: number(row, "attempt")?,
        success: row.get("success")?,
        output: row.get("output")?,
        error: row.get("error")?,
        duration: Duration::from_nanos(number(row, "duration_nanos")?),
        started_at: parse_column(row, "started_at")?,
    })
}
