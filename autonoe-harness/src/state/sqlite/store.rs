//! The state of a harness in SQLite.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::claims;
use super::rows::{
    attempt_of, execution_of, find, get, in_order, put, put_dependencies, sample_of,
};
use crate::database::{
    Database, STATE, Trouble, append_event, collect, events_since, json, parsed, stored,
};
use crate::state::{
    AttemptRecord, Claim, Claimant, Cursor, ExecutionRecord, HarnessEvent, HarnessPlan,
    HarnessRecord, NewHarnessEvent, ProgressSample, StateError, StateStore, StoredTask, TaskEnd,
    TaskPlan, TaskStatus, TaskUpdate,
};
use crate::{HarnessId, TaskId};

/// The state of a harness in a SQLite file, for several processes at once.
///
/// What was acknowledged survives kills and power cuts. The file must be on a disk of this machine:
/// processes share memory beside it. A file that is damaged, is somebody else's or was made by a
/// newer version is an error and is left as it is.
///
/// ```
/// use autonoe_harness::{HarnessId, HarnessPlan, SqliteState, StateStore, Task, TaskPlan};
/// use jiff::Timestamp;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let path = dir.path().join(".harness/state.db");
/// let plan = HarnessPlan::new(HarnessId::new("h"), [TaskPlan::new(Task::new("a", "Do it.")?)]);
/// SqliteState::open(&path).await?.init_harness(&plan, Timestamp::now()).await?;
///
/// let again = SqliteState::open(&path).await?;
/// assert_eq!(again.get_incomplete_tasks().await?.len(), 1);
/// again.integrity_check().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SqliteState {
    database: Database,
}

impl SqliteState {
    /// Opens the file at `path`, and makes it and its folder if there is none.
    ///
    /// # Errors
    ///
    /// The file is damaged, somebody else's or of a newer version, or cannot be opened.
    pub async fn open(path: &Path) -> Result<Self, StateError> {
        let database = Database::open(path, &STATE).await?;
        Ok(Self { database })
    }

    /// Looks whether the whole file is as it should be.
    ///
    /// # Errors
    ///
    /// [`StateError::Corrupt`].
    pub async fn integrity_check(&self) -> Result<(), StateError> {
        self.database.integrity_check().await
    }
}

#[async_trait]
impl StateStore for SqliteState {
    async fn init_harness(&self, plan: &HarnessPlan, now: Timestamp) -> Result<(), StateError> {
        plan.check()?;
        let plan = plan.clone();
        let write = move |db: &rusqlite::Transaction<'_>| init(db, &plan, now);
        self.database.write(write).await
    }

    async fn harness(&self) -> Result<Option<HarnessRecord>, StateError> {
        self.database.read(|db| harness(db)).await
    }

    async fn save_task(&self, planned: &TaskPlan, now: Timestamp) -> Result<(), StateError> {
        let planned = planned.clone();
        self.database.write(move |db| save(db, &planned, now)).await
    }

    async fn load_task(&self, id: &TaskId) -> Result<Option<StoredTask>, StateError> {
        let id = id.clone();
        self.database.read(move |db| find(db, &id)).await
    }

    async fn tasks(&self) -> Result<Vec<StoredTask>, StateError> {
        self.database.read(|db| in_order(db, "true")).await
    }

    async fn get_incomplete_tasks(&self) -> Result<Vec<StoredTask>, StateError> {
        self.database
            .read(|db| in_order(db, "status IN ('pending', 'inProgress')"))
            .await
    }

    async fn update_task_status(
        &self,
        id: &TaskId,
        update: &TaskUpdate,
        now: Timestamp,
    ) -> Result<(), StateError> {
        let (id, update) = (id.clone(), update.clone());
        self.database
            .write(move |db| claims::update(db, &id, &update, now))
            .await
    }

    async fn log_execution(&self, execution: &ExecutionRecord) -> Result<(), StateError> {
        let execution = execution.clone();
        self.database.write(move |db| log(db, &execution)).await
    }

    async fn executions(&self, id: &TaskId) -> Result<Vec<ExecutionRecord>, StateError> {
        let sql = "SELECT * FROM executions WHERE task = ?1 ORDER BY number";
        self.of_task(id, sql, execution_of).await
    }

    async fn claim_next(
        &self,
        claimant: &Claimant,
        now: Timestamp,
    ) -> Result<Option<Claim>, StateError> {
        let claimant = claimant.clone();
        self.database
            .write(move |db| claims::claim_next(db, &claimant, now))
            .await
    }

    async fn renew(&self, claim: &Claim, now: Timestamp) -> Result<(), StateError> {
        let claim = claim.clone();
        self.database
            .write(move |db| claims::renew(db, &claim, now))
            .await
    }

    async fn finish(&self, claim: &Claim, end: &TaskEnd, now: Timestamp) -> Result<(), StateError> {
        let (claim, end) = (claim.clone(), end.clone());
        self.database
            .write(move |db| claims::finish(db, &claim, &end, now))
            .await
    }

    async fn give_back(&self, claim: &Claim, now: Timestamp) -> Result<(), StateError> {
        let claim = claim.clone();
        self.database
            .write(move |db| claims::give_back(db, &claim, now))
            .await
    }

    async fn release_owner(&self, owner: &str, now: Timestamp) -> Result<Vec<TaskId>, StateError> {
        let owner = owner.to_owned();
        self.database
            .write(move |db| claims::release_owner(db, &owner, now))
            .await
    }

    async fn attempts(&self, id: &TaskId) -> Result<Vec<AttemptRecord>, StateError> {
        let sql = "SELECT * FROM attempts WHERE task = ?1 ORDER BY epoch";
        self.of_task(id, sql, attempt_of).await
    }

    async fn append_event(&self, event: &NewHarnessEvent) -> Result<Cursor, StateError> {
        let event = event.clone();
        self.database
            .write(move |db| append_event(db, &event))
            .await
    }

    async fn events_since(
        &self,
        after: Cursor,
        limit: usize,
    ) -> Result<Vec<HarnessEvent>, StateError> {
        self.database
            .read(move |db| events_since(db, after, limit))
            .await
    }

    async fn save_progress(&self, sample: &ProgressSample) -> Result<(), StateError> {
        sample.check()?;
        let sample = sample.clone();
        self.database
            .write(move |db| save_sample(db, &sample))
            .await
    }

    async fn progress_of(&self, id: &TaskId) -> Result<Vec<ProgressSample>, StateError> {
        let sql = "SELECT * FROM progress WHERE task = ?1 ORDER BY number";
        self.of_task(id, sql, sample_of).await
    }
}

impl SqliteState {
    /// Returns what is kept of a task in a table.
    async fn of_task<T: Send + 'static>(
        &self,
        id: &TaskId,
        sql: &'static str,
        read: fn(&Row<'_>) -> Result<T, Trouble>,
    ) -> Result<Vec<T>, StateError> {
        let id = id.clone();
        self.database
            .read(move |db| collect(db, sql, [id.as_str()], read))
            .await
    }
}

fn harness(db: &Connection) -> Result<Option<HarnessRecord>, Trouble> {
    let read = |row: &Row<'_>| {
        let (id, roadmap): (String, Option<String>) = (row.get("id")?, row.get("roadmap")?);
        Ok(parsed(row, "created_at").map(|created_at| HarnessRecord {
            id: HarnessId::new(id),
            roadmap: roadmap.map(PathBuf::from),
            created_at,
        }))
    };
    let found = db.query_row("SELECT * FROM harness", [], read).optional()?;
    found.transpose()
}

fn init(db: &Connection, plan: &HarnessPlan, now: Timestamp) -> Result<(), Trouble> {
    if let Some(found) = harness(db)?
        && found.id != plan.harness
    {
        return Err(StateError::Conflict(format!("harness, {},", found.id)).into());
    }
    let roadmap = plan.roadmap.as_ref().and_then(|path| path.to_str());
    db.execute(
        "INSERT INTO harness VALUES (1, ?1, ?2, ?3)
         ON CONFLICT (one) DO UPDATE SET roadmap = ?2",
        params![plan.harness.as_str(), roadmap, now.to_string()],
    )?;
    for (order, planned) in (0..).zip(&plan.tasks) {
        put_planned(db, planned, order, now)?;
    }
    Ok(())
}

fn save(db: &Connection, planned: &TaskPlan, now: Timestamp) -> Result<(), Trouble> {
    let order = planned.place_among(&in_order(db, "true")?)?;
    let task = match find(db, &planned.task.id)? {
        None => StoredTask::planned(planned, order, now),
        Some(mut task) => {
            task.redefine(planned, now);
            task
        }
    };
    put(db, &task)?;
    put_dependencies(db, &task)
}

/// Puts a task in its place. One that was begun only changes its place.
fn put_planned(
    db: &Connection,
    planned: &TaskPlan,
    order: u64,
    now: Timestamp,
) -> Result<(), Trouble> {
    match find(db, &planned.task.id)? {
        None => {
            let task = StoredTask::planned(planned, order, now);
            put(db, &task)?;
            put_dependencies(db, &task)
        }
        Some(mut task) => {
            let is_new = task.status == TaskStatus::Pending;
            task.plan_again(planned, order, now);
            put(db, &task)?;
            match is_new {
                true => put_dependencies(db, &task),
                false => Ok(()),
            }
        }
    }
}

fn log(db: &Connection, execution: &ExecutionRecord) -> Result<(), Trouble> {
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
            stored(execution.duration.as_nanos()),
            execution.started_at.to_string(),
        ],
    )?;
    Ok(())
}

fn save_sample(db: &Connection, sample: &ProgressSample) -> Result<(), Trouble> {
    get(db, &sample.task)?;
    db.execute(
        "INSERT INTO progress (task, iteration, score, signal, at) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![
            sample.task.as_str(),
            sample.iteration,
            sample.score,
            json(&sample.signal)?,
            sample.at.to_string(),
        ],
    )?;
    Ok(())
}
