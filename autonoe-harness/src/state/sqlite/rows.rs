//! Tasks and what belongs to them, as rows.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, named_params, params};

use crate::TaskId;
use crate::database::{
    Trouble, collect, json, number, of_json, parsed, parsed_if_any, stored, unreadable,
};
use crate::state::{
    AttemptEnding, AttemptRecord, ExecutionRecord, ProgressSample, StateError, StoredTask,
    TaskStatus,
};

/// Returns a task, or `None` if there is none of that name.
pub(super) fn find(db: &Connection, id: &TaskId) -> Result<Option<StoredTask>, Trouble> {
    let sql = "SELECT * FROM tasks WHERE id = ?1";
    let read = |row: &Row<'_>| Ok(task_of(db, row));
    db.query_row(sql, [id.as_str()], read)
        .optional()?
        .transpose()
}

/// Returns a task.
pub(super) fn get(db: &Connection, id: &TaskId) -> Result<StoredTask, Trouble> {
    let found = find(db, id)?;
    found.ok_or_else(|| StateError::unknown_task(id).into())
}

/// Returns the tasks of which `condition` holds, in their order.
pub(super) fn in_order(db: &Connection, condition: &str) -> Result<Vec<StoredTask>, Trouble> {
    let sql = format!("SELECT * FROM tasks WHERE {condition} ORDER BY position, id");
    collect(db, &sql, [], |row| task_of(db, row))
}

fn task_of(db: &Connection, row: &Row<'_>) -> Result<StoredTask, Trouble> {
    let id: String = row.get("id")?;
    let sql = "SELECT needs FROM dependencies WHERE task = ?1 ORDER BY place";
    Ok(StoredTask {
        task: of_json(row, "task")?,
        depends: collect(db, sql, [&id], |row| parsed(row, "needs"))?,
        order: number(row, "position")?,
        status: status_of(row)?,
        output: row.get("output")?,
        error: row.get("error")?,
        attempts: number(row, "attempts")?,
        owner: row.get("owner")?,
        epoch: number(row, "epoch")?,
        lease_until: parsed_if_any(row, "lease_until")?,
        updated_at: parsed(row, "updated_at")?,
    })
}

/// Returns how the task of a row stands.
pub(super) fn status_of(row: &Row<'_>) -> Result<TaskStatus, Trouble> {
    let text: String = row.get("status")?;
    let mut all = TaskStatus::ALL.into_iter();
    let found = all.find(|status| status.as_str() == text);
    found.ok_or_else(|| unreadable("status", &text))
}

/// Puts a task in place of what stands there under its name, if anything does.
pub(super) fn put(db: &Connection, task: &StoredTask) -> Result<(), Trouble> {
    let id = task.task.id.as_str();
    db.execute(
        "INSERT INTO tasks VALUES (:id, :position, :task, :status, :output, :error, :attempts,
             :owner, :epoch, :lease_until, :updated_at)
         ON CONFLICT (id) DO UPDATE SET position = :position, task = :task, status = :status,
             output = :output, error = :error, attempts = :attempts, owner = :owner,
             epoch = :epoch, lease_until = :lease_until, updated_at = :updated_at",
        named_params! {
            ":id": id,
            ":position": stored(task.order),
            ":task": json(&task.task)?,
            ":status": task.status.as_str(),
            ":output": task.output,
            ":error": task.error,
            ":attempts": task.attempts,
            ":owner": task.owner,
            ":epoch": stored(task.epoch),
            ":lease_until": task.lease_until.map(|until| until.to_string()),
            ":updated_at": task.updated_at.to_string(),
        },
    )?;
    Ok(())
}

/// Keeps what a task depends on, in place of what it did before.
pub(super) fn put_dependencies(db: &Connection, task: &StoredTask) -> Result<(), Trouble> {
    let id = task.task.id.as_str();
    db.execute("DELETE FROM dependencies WHERE task = ?1", [id])?;
    for (place, needs) in (0_i64..).zip(&task.depends) {
        let row = params![id, place, needs.as_str()];
        db.execute("INSERT INTO dependencies VALUES (?1, ?2, ?3)", row)?;
    }
    Ok(())
}

pub(super) fn attempt_of(row: &Row<'_>) -> Result<AttemptRecord, Trouble> {
    let ending: Option<String> = row.get("ending")?;
    let known = |text: String| {
        let mut all = AttemptEnding::ALL.into_iter();
        let found = all.find(|ending| ending.as_str() == text);
        found.ok_or_else(|| unreadable("ending", &text))
    };
    Ok(AttemptRecord {
        task: parsed(row, "task")?,
        attempt: number(row, "attempt")?,
        owner: row.get("owner")?,
        epoch: number(row, "epoch")?,
        started_at: parsed(row, "started_at")?,
        ended_at: parsed_if_any(row, "ended_at")?,
        ending: ending.map(known).transpose()?,
    })
}

pub(super) fn execution_of(row: &Row<'_>) -> Result<ExecutionRecord, Trouble> {
    Ok(ExecutionRecord {
        task: parsed(row, "task")?,
        attempt: number(row, "attempt")?,
        success: row.get("success")?,
        output: row.get("output")?,
        error: row.get("error")?,
        duration: Duration::from_nanos(number(row, "duration_nanos")?),
        started_at: parsed(row, "started_at")?,
    })
}

pub(super) fn sample_of(row: &Row<'_>) -> Result<ProgressSample, Trouble> {
    Ok(ProgressSample {
        task: parsed(row, "task")?,
        iteration: number(row, "iteration")?,
        score: row.get("score")?,
        signal: of_json(row, "signal")?,
        at: parsed(row, "at")?,
    })
}
