//! Who works on what, in SQLite: each function inside of one transaction that writes.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::rows::{find, get, put, status_of};
use crate::TaskId;
use crate::database::{Trouble, collect, parsed, parsed_if_any, stored};
use crate::state::task::is_free;
use crate::state::{
    AttemptEnding, Claim, Claimant, StateError, StoredTask, TaskEnd, TaskStatus, TaskUpdate,
};

/// The tasks that nothing stands before.
const UNBLOCKED: &str = "
    SELECT id, status, lease_until FROM tasks
    WHERE status IN ('pending', 'inProgress') AND NOT EXISTS (
        SELECT 1 FROM dependencies LEFT JOIN tasks AS needed ON needed.id = dependencies.needs
        WHERE dependencies.task = tasks.id AND needed.status IS NOT 'completed'
    )
    ORDER BY position, id";

pub(super) fn claim_next(
    db: &Connection,
    claimant: &Claimant,
    now: Timestamp,
) -> Result<Option<Claim>, Trouble> {
    let Some(id) = first_ready(db, now)? else {
        return Ok(None);
    };
    let mut task = get(db, &id)?;
    let takes_over = task.status == TaskStatus::InProgress;
    if takes_over {
        end_attempt(db, task.epoch, AttemptEnding::Lost, now)?;
    }
    db.execute(
        "INSERT INTO attempts (task, attempt, owner, started_at) VALUES (?1, ?2, ?3, ?4)",
        params![
            id.as_str(),
            task.attempts + 1,
            claimant.owner,
            now.to_string()
        ],
    )?;
    let epoch = u64::try_from(db.last_insert_rowid()).unwrap_or_default();
    task.claimed_by(claimant, epoch, now);
    put(db, &task)?;
    Ok(Some(Claim {
        attempt: task.attempts,
        task,
        claimant: claimant.clone(),
        epoch,
        takes_over,
    }))
}

fn first_ready(db: &Connection, now: Timestamp) -> Result<Option<TaskId>, Trouble> {
    let mut statement = db.prepare(UNBLOCKED)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if is_free(status_of(row)?, parsed_if_any(row, "lease_until")?, now) {
            return parsed(row, "id").map(Some);
        }
    }
    Ok(None)
}

pub(super) fn renew(db: &Connection, claim: &Claim, now: Timestamp) -> Result<(), Trouble> {
    let mut task = held(db, claim)?;
    task.lease_until = Some(claim.claimant.lease_from(now));
    put(db, &task)
}

pub(super) fn finish(
    db: &Connection,
    claim: &Claim,
    end: &TaskEnd,
    now: Timestamp,
) -> Result<(), Trouble> {
    let found = find(db, claim.id())?;
    if found.is_some_and(|task| task.epoch == claim.epoch && task.ended_as(end)) {
        return Ok(());
    }
    let mut task = held(db, claim)?;
    task.end(end, now);
    put(db, &task)?;
    end_attempt(db, claim.epoch, AttemptEnding::of(end.status()), now)
}

pub(super) fn update(
    db: &Connection,
    id: &TaskId,
    update: &TaskUpdate,
    now: Timestamp,
) -> Result<(), Trouble> {
    let mut task = get(db, id)?;
    if task.is_as(update) {
        return Ok(());
    }
    let epoch = task.epoch;
    if let Some(ending) = task.update(update, now) {
        end_attempt(db, epoch, ending, now)?;
    }
    put(db, &task)
}

pub(super) fn give_back(db: &Connection, claim: &Claim, now: Timestamp) -> Result<(), Trouble> {
    let mut task = held(db, claim)?;
    task.release(now);
    put(db, &task)?;
    end_attempt(db, claim.epoch, AttemptEnding::GivenBack, now)
}

pub(super) fn release_owner(
    db: &Connection,
    owner: &str,
    now: Timestamp,
) -> Result<Vec<TaskId>, Trouble> {
    let sql = "SELECT id FROM tasks WHERE status = 'inProgress' AND owner = ?1
               ORDER BY position, id";
    let held: Vec<TaskId> = collect(db, sql, [owner], |row| parsed(row, "id"))?;
    for id in &held {
        let mut task = get(db, id)?;
        end_attempt(db, task.epoch, AttemptEnding::Lost, now)?;
        task.release(now);
        put(db, &task)?;
    }
    Ok(held)
}

/// Returns the task of a claim that is still valid.
fn held(db: &Connection, claim: &Claim) -> Result<StoredTask, Trouble> {
    let is_valid =
        |task: &StoredTask| task.status == TaskStatus::InProgress && task.epoch == claim.epoch;
    let held = find(db, claim.id())?.filter(is_valid);
    held.ok_or_else(|| {
        StateError::fenced(format_args!("the task {}", claim.id()), claim.epoch).into()
    })
}

fn end_attempt(
    db: &Connection,
    epoch: u64,
    ending: AttemptEnding,
    now: Timestamp,
) -> Result<(), Trouble> {
    db.execute(
        "UPDATE attempts SET ending = ?2, ended_at = ?3 WHERE epoch = ?1",
        params![stored(epoch), ending.as_str(), now.to_string()],
    )?;
    Ok(())
}
