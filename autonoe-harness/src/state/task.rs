//! A task as it is kept.

use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Task, TaskId};

/// How a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TaskStatus {
    /// Nobody works on it.
    Pending,
    /// Somebody has claimed it.
    InProgress,
    /// It is done and verified.
    Completed,
    /// It was tried and given up.
    Failed,
    /// Somebody decided that it is not to be done.
    Cancelled,
}

impl TaskStatus {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Pending,
        Self::InProgress,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Returns its name, as it is kept.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "inProgress",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Tells whether it is not worked on any more, be it done or not.
    pub fn is_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

impl fmt::Display for TaskStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A task as it is kept, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StoredTask {
    /// The task.
    pub task: Task,
    /// What must be completed before it.
    pub depends: Vec<TaskId>,
    /// Its place in the order in which tasks are begun.
    pub order: u64,
    /// How it stands.
    pub status: TaskStatus,
    /// What it gave, once it has ended.
    pub output: Option<String>,
    /// Why it is not done.
    pub error: Option<String>,
    /// How often it was claimed.
    pub attempts: u32,
    /// Who works on it, or did last.
    pub owner: Option<String>,
    /// The epoch of its last claim; 0 before the first, and after an update that ended a claim.
    pub epoch: u64,
    /// Until when its owner is taken to be alive; `None` while nobody works on it.
    pub lease_until: Option<Timestamp>,
    /// When it changed last.
    pub updated_at: Timestamp,
}

impl StoredTask {
    /// Tells whether it could be claimed at `now`, as far as it alone is concerned: it waits, or
    /// its owner has not been heard of for too long.
    pub(super) fn is_free(&self, now: Timestamp) -> bool {
        is_free(self.status, self.lease_until, now)
    }
}

/// Tells whether a task that stands like this could be claimed at `now`.
pub(super) fn is_free(status: TaskStatus, lease: Option<Timestamp>, now: Timestamp) -> bool {
    match status {
        TaskStatus::Pending => true,
        TaskStatus::InProgress => lease.is_none_or(|until| until <= now),
        _ => false,
    }
}

/// What happens to a task; the one place that says what changes with it.
impl StoredTask {
    pub(super) fn planned(planned: &super::TaskPlan, order: u64, now: Timestamp) -> Self {
        Self {
            task: planned.task.clone(),
            depends: planned.depends.clone(),
            order,
            status: match planned.is_done {
                true => TaskStatus::Completed,
                false => TaskStatus::Pending,
            },
            output: None,
            error: None,
            attempts: 0,
            owner: None,
            epoch: 0,
            lease_until: None,
            updated_at: now,
        }
    }

    /// Takes over a plan. A task that was begun only changes its place.
    pub(super) fn plan_again(&mut self, planned: &super::TaskPlan, order: u64, now: Timestamp) {
        if self.status == TaskStatus::Pending {
            let new = Self::planned(planned, order, now);
            (self.task, self.depends, self.status) = (new.task, new.depends, new.status);
            self.updated_at = now;
        }
        self.order = order;
    }

    /// Takes over a definition; what became of the task stays.
    pub(super) fn redefine(&mut self, planned: &super::TaskPlan, now: Timestamp) {
        let (task, depends) = (planned.task.clone(), planned.depends.clone());
        (self.task, self.depends) = (task, depends);
        if self.status == TaskStatus::Pending && planned.is_done {
            self.status = TaskStatus::Completed;
        }
        self.updated_at = now;
    }

    /// Sets its status. A claim ends, and its owner is fenced off. Returns how the attempt of the claim
    /// ended, or `None` if there was none.
    pub(super) fn update(
        &mut self,
        update: &super::TaskUpdate,
        now: Timestamp,
    ) -> Option<super::AttemptEnding> {
        let was_claimed = self.lease_until.is_some();
        self.epoch = 0;
        self.status = update.status;
        self.output.clone_from(&update.output);
        self.error.clone_from(&update.error);
        self.lease_until = None;
        self.updated_at = now;
        was_claimed.then_some(super::AttemptEnding::of(update.status))
    }

    /// Tells whether an update would change nothing.
    pub(super) fn is_as(&self, update: &super::TaskUpdate) -> bool {
        (self.status, &self.output, &self.error) == (update.status, &update.output, &update.error)
    }

    pub(super) fn claimed_by(&mut self, claimant: &super::Claimant, epoch: u64, now: Timestamp) {
        self.status = TaskStatus::InProgress;
        self.attempts += 1;
        self.owner = Some(claimant.owner.clone());
        self.epoch = epoch;
        self.lease_until = Some(claimant.lease_from(now));
        self.updated_at = now;
    }

    pub(super) fn end(&mut self, end: &super::TaskEnd, now: Timestamp) {
        self.status = end.status();
        self.output.clone_from(&end.output);
        self.error.clone_from(&end.error);
        self.lease_until = None;
        self.updated_at = now;
    }

    pub(super) fn release(&mut self, now: Timestamp) {
        self.status = TaskStatus::Pending;
        self.lease_until = None;
        self.updated_at = now;
    }

    /// Tells whether it ended just like this.
    pub(super) fn ended_as(&self, end: &super::TaskEnd) -> bool {
        (self.status, &self.output, &self.error) == (end.status(), &end.output, &end.error)
    }
}
