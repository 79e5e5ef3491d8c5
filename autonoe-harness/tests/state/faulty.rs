//! The suites find what is wrong with stores that are.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_harness::{
    Accounts, AggregatedResult, AttemptRecord, Claim, Claimant, Cursor, DecisionRecord,
    ExecutionRecord, FleetLead, FleetPlan, FleetRecord, HarnessEvent, HarnessId, HarnessPlan,
    HarnessRecord, MemberState, MemoryMeta, MemoryState, MetaState, NewHarnessEvent,
    ProgressSample, StateError, StateStore, StoredTask, TaskEnd, TaskId, TaskPlan, TaskUpdate,
    conformance,
};
use autonoe_testkit::conformance::Conformance;
use jiff::Timestamp;
use serde_json::Value;

/// What a store gets wrong.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// Tasks that were in progress at a crash are never picked up again.
    ForgetsTheLost,
    /// Whoever says that a task ended is believed.
    BelievesTheStale,
    /// Each claimant is given the same.
    ClaimsTwice,
    /// What the cursor stands at comes again.
    RepeatsEvents,
}

struct Faulty {
    inner: MemoryState,
    fault: Fault,
}

type Done<T> = Result<T, StateError>;

#[async_trait]
impl StateStore for Faulty {
    async fn init_harness(&self, plan: &HarnessPlan, now: Timestamp) -> Done<()> {
        self.inner.init_harness(plan, now).await
    }
    async fn harness(&self) -> Done<Option<HarnessRecord>> {
        self.inner.harness().await
    }
    async fn save_task(&self, planned: &TaskPlan, now: Timestamp) -> Done<()> {
        self.inner.save_task(planned, now).await
    }
    async fn load_task(&self, id: &TaskId) -> Done<Option<StoredTask>> {
        self.inner.load_task(id).await
    }
    async fn tasks(&self) -> Done<Vec<StoredTask>> {
        self.inner.tasks().await
    }
    async fn get_incomplete_tasks(&self) -> Done<Vec<StoredTask>> {
        self.inner.get_incomplete_tasks().await
    }
    async fn update_task_status(
        &self,
        id: &TaskId,
        update: &TaskUpdate,
        now: Timestamp,
    ) -> Done<()> {
        self.inner.update_task_status(id, update, now).await
    }
    async fn log_execution(&self, execution: &ExecutionRecord) -> Done<()> {
        self.inner.log_execution(execution).await
    }
    async fn executions(&self, id: &TaskId) -> Done<Vec<ExecutionRecord>> {
        self.inner.executions(id).await
    }
    async fn claim_next(&self, claimant: &Claimant, now: Timestamp) -> Done<Option<Claim>> {
        let claim = self.inner.claim_next(claimant, now).await?;
        match (self.fault, claim) {
            (Fault::ForgetsTheLost, Some(claim)) if claim.takes_over => Ok(None),
            (Fault::ClaimsTwice, Some(claim)) => {
                self.inner.give_back(&claim, now).await?;
                Ok(Some(claim))
            }
            (_, claim) => Ok(claim),
        }
    }
    async fn renew(&self, claim: &Claim, now: Timestamp) -> Done<()> {
        self.inner.renew(claim, now).await
    }
    async fn finish(&self, claim: &Claim, end: &TaskEnd, now: Timestamp) -> Done<()> {
        match (self.fault, self.inner.finish(claim, end, now).await) {
            (Fault::BelievesTheStale, Err(StateError::Fenced { .. })) => Ok(()),
            (_, done) => done,
        }
    }
    async fn give_back(&self, claim: &Claim, now: Timestamp) -> Done<()> {
        self.inner.give_back(claim, now).await
    }
    async fn release_owner(&self, owner: &str, now: Timestamp) -> Done<Vec<TaskId>> {
        self.inner.release_owner(owner, now).await
    }
    async fn attempts(&self, id: &TaskId) -> Done<Vec<AttemptRecord>> {
        self.inner.attempts(id).await
    }
    async fn append_event(&self, event: &NewHarnessEvent) -> Done<Cursor> {
        self.inner.append_event(event).await
    }
    async fn events_since(&self, after: Cursor, limit: usize) -> Done<Vec<HarnessEvent>> {
        let after = match self.fault {
            Fault::RepeatsEvents => Cursor::new(after.get().saturating_sub(1)),
            _ => after,
        };
        self.inner.events_since(after, limit).await
    }
    async fn save_progress(&self, sample: &ProgressSample) -> Done<()> {
        self.inner.save_progress(sample).await
    }
    async fn progress_of(&self, id: &TaskId) -> Done<Vec<ProgressSample>> {
        self.inner.progress_of(id).await
    }
}

#[tokio::test]
async fn the_suite_finds_what_is_wrong_with_a_store() {
    for (fault, check) in [
        (
            Fault::ForgetsTheLost,
            "a task in progress at a crash is taken up again exactly once",
        ),
        (Fault::BelievesTheStale, "who was taken over is fenced off"),
        (
            Fault::ClaimsTwice,
            "a task is claimed when all that it waits for is completed",
        ),
        (
            Fault::RepeatsEvents,
            "who goes on from a cursor misses no event and sees none twice",
        ),
    ] {
        let empty = async || {
            let inner = MemoryState::new();
            Arc::new(Faulty { inner, fault }) as Arc<dyn StateStore>
        };

        let report = conformance::state_store(&empty).await;

        assert!(finds(&report, check), "{fault:?}: {:?}", report.failures());
    }
}

fn finds(report: &Conformance, check: &str) -> bool {
    report.failures().iter().any(|failed| failed.check == check)
}

/// Lets whoever led a fleet go on writing.
struct Unfenced(MemoryMeta);

impl Unfenced {
    async fn newest(&self, lead: &FleetLead) -> FleetLead {
        let fleet = self.0.fleet(&lead.fleet).await.expect("in memory");
        FleetLead::new(&lead.fleet, fleet.map_or(0, |fleet| fleet.epoch))
    }
}

#[async_trait]
impl MetaState for Unfenced {
    async fn create_fleet(&self, plan: &FleetPlan, now: Timestamp) -> Done<()> {
        self.0.create_fleet(plan, now).await
    }
    async fn fleet(&self, id: &str) -> Done<Option<FleetRecord>> {
        self.0.fleet(id).await
    }
    async fn fleets(&self) -> Done<Vec<FleetRecord>> {
        self.0.fleets().await
    }
    async fn lead(&self, fleet: &str, now: Timestamp) -> Done<FleetLead> {
        self.0.lead(fleet, now).await
    }
    async fn set_member(
        &self,
        lead: &FleetLead,
        member: &HarnessId,
        state: &MemberState,
        now: Timestamp,
    ) -> Done<()> {
        let lead = self.newest(lead).await;
        self.0.set_member(&lead, member, state, now).await
    }
    async fn finish_fleet(
        &self,
        lead: &FleetLead,
        result: &AggregatedResult,
        now: Timestamp,
    ) -> Done<()> {
        self.0.finish_fleet(lead, result, now).await
    }
    async fn append_decision(
        &self,
        lead: &FleetLead,
        decision: &Value,
        now: Timestamp,
    ) -> Done<u64> {
        self.0.append_decision(lead, decision, now).await
    }
    async fn decisions(&self, fleet: &str) -> Done<Vec<DecisionRecord>> {
        self.0.decisions(fleet).await
    }
    async fn save_accounts(
        &self,
        lead: &FleetLead,
        accounts: &Accounts,
        now: Timestamp,
    ) -> Done<()> {
        self.0.save_accounts(lead, accounts, now).await
    }
    async fn accounts(&self, fleet: &str) -> Done<Option<Accounts>> {
        self.0.accounts(fleet).await
    }
}

#[tokio::test]
async fn the_suite_finds_a_coordinator_that_is_not_fenced_off() {
    let empty = async || Arc::new(Unfenced(MemoryMeta::new())) as Arc<dyn MetaState>;

    let report = conformance::meta_state(&empty).await;

    let check = "who does not lead any more is fenced off";
    assert!(finds(&report, check), "{:?}", report.failures());
}
