//! The state of a harness in memory.

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use jiff::Timestamp;

use super::model::Model;
use crate::TaskId;
use crate::state::{
    AttemptRecord, Claim, Claimant, Cursor, ExecutionRecord, HarnessEvent, HarnessPlan,
    HarnessRecord, NewHarnessEvent, ProgressSample, StateError, StateStore, StoredTask, TaskEnd,
    TaskPlan, TaskUpdate,
};

/// The state of a harness in memory: it survives nothing.
#[derive(Debug, Default)]
pub struct MemoryState {
    model: Mutex<Model>,
}

impl MemoryState {
    /// Makes the state of a harness that was told nothing.
    pub fn new() -> Self {
        Self::default()
    }

    fn model(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl StateStore for MemoryState {
    async fn init_harness(&self, plan: &HarnessPlan, now: Timestamp) -> Result<(), StateError> {
        self.model().init(plan, now)
    }

    async fn harness(&self) -> Result<Option<HarnessRecord>, StateError> {
        Ok(self.model().harness.clone())
    }

    async fn save_task(&self, planned: &TaskPlan, now: Timestamp) -> Result<(), StateError> {
        self.model().save(planned, now)
    }

    async fn load_task(&self, id: &TaskId) -> Result<Option<StoredTask>, StateError> {
        Ok(self.model().find(id).cloned())
    }

    async fn tasks(&self) -> Result<Vec<StoredTask>, StateError> {
        Ok(self.model().in_order())
    }

    async fn get_incomplete_tasks(&self) -> Result<Vec<StoredTask>, StateError> {
        let mut tasks = self.model().in_order();
        tasks.retain(|task| !task.status.is_ended());
        Ok(tasks)
    }

    async fn update_task_status(
        &self,
        id: &TaskId,
        update: &TaskUpdate,
        now: Timestamp,
    ) -> Result<(), StateError> {
        self.model().update(id, update, now)
    }

    async fn log_execution(&self, execution: &ExecutionRecord) -> Result<(), StateError> {
        let mut model = self.model();
        if model.find(&execution.task).is_none() {
            return Err(StateError::unknown_task(&execution.task));
        }
        model.executions.push(execution.clone());
        Ok(())
    }

    async fn executions(&self, id: &TaskId) -> Result<Vec<ExecutionRecord>, StateError> {
        Ok(of_task(&self.model().executions, |record| {
            record.task == *id
        }))
    }

    async fn claim_next(
        &self,
        claimant: &Claimant,
        now: Timestamp,
    ) -> Result<Option<Claim>, StateError> {
        Ok(self.model().claim(claimant, now))
    }

    async fn renew(&self, claim: &Claim, now: Timestamp) -> Result<(), StateError> {
        self.model().renew(claim, now)
    }

    async fn finish(&self, claim: &Claim, end: &TaskEnd, now: Timestamp) -> Result<(), StateError> {
        self.model().finish(claim, end, now)
    }

    async fn give_back(&self, claim: &Claim, now: Timestamp) -> Result<(), StateError> {
        self.model().give_back(claim, now)
    }

    async fn release_owner(&self, owner: &str, now: Timestamp) -> Result<Vec<TaskId>, StateError> {
        Ok(self.model().release_owner(owner, now))
    }

    async fn attempts(&self, id: &TaskId) -> Result<Vec<AttemptRecord>, StateError> {
        Ok(of_task(&self.model().attempts, |record| record.task == *id))
    }

    async fn append_event(&self, event: &NewHarnessEvent) -> Result<Cursor, StateError> {
        let mut model = self.model();
        let is_known = |kept: &NewHarnessEvent| event.key.is_some() && kept.key == event.key;
        let known = model.events.iter().position(is_known);
        let place = known.unwrap_or_else(|| {
            model.events.push(event.clone());
            model.events.len() - 1
        });
        Ok(Cursor(place as u64 + 1))
    }

    async fn events_since(
        &self,
        after: Cursor,
        limit: usize,
    ) -> Result<Vec<HarnessEvent>, StateError> {
        let model = self.model();
        let events = (1..).map(Cursor).zip(model.events.iter().cloned());
        let after = events.filter(|(cursor, _)| *cursor > after).take(limit);
        Ok(after
            .map(|(cursor, event)| HarnessEvent::new(cursor, event))
            .collect())
    }

    async fn save_progress(&self, sample: &ProgressSample) -> Result<(), StateError> {
        sample.check()?;
        let mut model = self.model();
        if model.find(&sample.task).is_none() {
            return Err(StateError::unknown_task(&sample.task));
        }
        model.progress.push(sample.clone());
        Ok(())
    }

    async fn progress_of(&self, id: &TaskId) -> Result<Vec<ProgressSample>, StateError> {
        Ok(of_task(&self.model().progress, |sample| sample.task == *id))
    }
}

fn of_task<T: Clone>(all: &[T], is_of_it: impl Fn(&T) -> bool) -> Vec<T> {
    all.iter().filter(|one| is_of_it(one)).cloned().collect()
}
