//! What happens to state, without anybody waiting for it.

use jiff::Timestamp;

use crate::TaskId;
use crate::state::{
    AttemptEnding, AttemptRecord, Claim, Claimant, ExecutionRecord, HarnessPlan, HarnessRecord,
    NewHarnessEvent, ProgressSample, StateError, StoredTask, TaskEnd, TaskPlan, TaskStatus,
    TaskUpdate,
};

/// All that is kept of a harness.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) harness: Option<HarnessRecord>,
    /// In no order.
    tasks: Vec<StoredTask>,
    pub(super) attempts: Vec<AttemptRecord>,
    pub(super) executions: Vec<ExecutionRecord>,
    pub(super) events: Vec<NewHarnessEvent>,
    pub(super) progress: Vec<ProgressSample>,
    /// The epoch of the last claim.
    epoch: u64,
}

impl Model {
    pub(super) fn init(&mut self, plan: &HarnessPlan, now: Timestamp) -> Result<(), StateError> {
        plan.check()?;
        match &mut self.harness {
            Some(found) if found.id != plan.harness => {
                return Err(StateError::Conflict(format!("harness, {},", found.id)));
            }
            Some(found) => found.roadmap.clone_from(&plan.roadmap),
            None => {
                self.harness = Some(HarnessRecord {
                    id: plan.harness.clone(),
                    roadmap: plan.roadmap.clone(),
                    created_at: now,
                });
            }
        }
        for (order, planned) in (0..).zip(&plan.tasks) {
            self.put(planned, order, now);
        }
        Ok(())
    }

    pub(super) fn save(&mut self, planned: &TaskPlan, now: Timestamp) -> Result<(), StateError> {
        let order = planned.place_among(&self.tasks)?;
        match self.find_mut(&planned.task.id) {
            Ok(found) => found.redefine(planned, now),
            Err(_) => self.tasks.push(StoredTask::planned(planned, order, now)),
        }
        Ok(())
    }

    fn put(&mut self, planned: &TaskPlan, order: u64, now: Timestamp) {
        let mut tasks = self.tasks.iter_mut();
        match tasks.find(|found| found.task.id == planned.task.id) {
            None => self.tasks.push(StoredTask::planned(planned, order, now)),
            Some(found) => found.plan_again(planned, order, now),
        }
    }

    pub(super) fn find(&self, id: &TaskId) -> Option<&StoredTask> {
        self.tasks.iter().find(|task| task.task.id == *id)
    }

    fn find_mut(&mut self, id: &TaskId) -> Result<&mut StoredTask, StateError> {
        let found = self.tasks.iter_mut().find(|task| task.task.id == *id);
        found.ok_or_else(|| StateError::unknown_task(id))
    }

    pub(super) fn in_order(&self) -> Vec<StoredTask> {
        let mut tasks = self.tasks.clone();
        tasks.sort_by(|one, other| {
            let by_order = one.order.cmp(&other.order);
            by_order.then_with(|| one.task.id.cmp(&other.task.id))
        });
        tasks
    }

    pub(super) fn update(
        &mut self,
        id: &TaskId,
        update: &TaskUpdate,
        now: Timestamp,
    ) -> Result<(), StateError> {
        let task = self.find_mut(id)?;
        if task.is_as(update) {
            return Ok(());
        }
        let epoch = task.epoch;
        if let Some(ending) = task.update(update, now) {
            self.end_attempt(id, epoch, ending, now);
        }
        Ok(())
    }

    pub(super) fn claim(&mut self, claimant: &Claimant, now: Timestamp) -> Option<Claim> {
        let is_done = |id: &TaskId| {
            let task = self.find(id);
            task.is_some_and(|task| task.status == TaskStatus::Completed)
        };
        let ready = self
            .in_order()
            .into_iter()
            .find(|task| task.is_free(now) && task.depends.iter().all(is_done))?;
        self.epoch += 1;
        let takes_over = ready.status == TaskStatus::InProgress;
        if takes_over {
            self.end_attempt(&ready.task.id, ready.epoch, AttemptEnding::Lost, now);
        }
        let epoch = self.epoch;
        let task = self
            .tasks
            .iter_mut()
            .find(|task| task.task.id == ready.task.id)?;
        task.claimed_by(claimant, epoch, now);
        let claim = Claim {
            task: task.clone(),
            claimant: claimant.clone(),
            epoch,
            attempt: task.attempts,
            takes_over,
        };
        self.attempts.push(AttemptRecord {
            task: claim.id().clone(),
            attempt: claim.attempt,
            owner: claimant.owner.clone(),
            epoch,
            started_at: now,
            ended_at: None,
            ending: None,
        });
        Some(claim)
    }

    pub(super) fn renew(&mut self, claim: &Claim, now: Timestamp) -> Result<(), StateError> {
        let task = self.held(claim)?;
        task.lease_until = Some(claim.claimant.lease_from(now));
        Ok(())
    }

    pub(super) fn finish(
        &mut self,
        claim: &Claim,
        end: &TaskEnd,
        now: Timestamp,
    ) -> Result<(), StateError> {
        let found = self.find(claim.id());
        if found.is_some_and(|task| task.epoch == claim.epoch && task.ended_as(end)) {
            return Ok(());
        }
        self.held(claim)?.end(end, now);
        let ending = AttemptEnding::of(end.status());
        self.end_attempt(claim.id(), claim.epoch, ending, now);
        Ok(())
    }

    pub(super) fn give_back(&mut self, claim: &Claim, now: Timestamp) -> Result<(), StateError> {
        self.held(claim)?.release(now);
        self.end_attempt(claim.id(), claim.epoch, AttemptEnding::GivenBack, now);
        Ok(())
    }

    pub(super) fn release_owner(&mut self, owner: &str, now: Timestamp) -> Vec<TaskId> {
        let held = self.in_order().into_iter().filter(|task| {
            task.status == TaskStatus::InProgress && task.owner.as_deref() == Some(owner)
        });
        let held: Vec<_> = held.map(|task| (task.task.id, task.epoch)).collect();
        for (id, epoch) in &held {
            if let Ok(task) = self.find_mut(id) {
                task.release(now);
            }
            self.end_attempt(id, *epoch, AttemptEnding::Lost, now);
        }
        held.into_iter().map(|(id, _)| id).collect()
    }

    /// Returns the task of a claim that is still valid.
    fn held(&mut self, claim: &Claim) -> Result<&mut StoredTask, StateError> {
        let fenced = || StateError::fenced(format_args!("the task {}", claim.id()), claim.epoch);
        let task = self
            .tasks
            .iter_mut()
            .find(|task| task.task.id == *claim.id());
        let task = task.ok_or_else(fenced)?;
        match task.status == TaskStatus::InProgress && task.epoch == claim.epoch {
            true => Ok(task),
            false => Err(fenced()),
        }
    }

    fn end_attempt(&mut self, id: &TaskId, epoch: u64, ending: AttemptEnding, now: Timestamp) {
        let mut attempts = self.attempts.iter_mut();
        let found = attempts.find(|attempt| attempt.task == *id && attempt.epoch == epoch);
        if let Some(attempt) = found {
            attempt.ending = Some(ending);
            attempt.ended_at = Some(now);
        }
    }
}
