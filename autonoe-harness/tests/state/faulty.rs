//! Tests that the conformance suites detect faulty stores.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_harness::budget::Account;
use autonoe_harness::roadmap::PlannedTask;
use autonoe_harness::state::{
    DecisionRecord, ExecutionRecord, FleetPlan, FleetRecord, LeaderToken, MemberPlan, MetaState,
    SqliteMeta, SqliteState, StateError, StateStore, StoredTask, TaskStatus, TaskUpdate,
};
use autonoe_harness::strategy::{AggregatedReport, MemberId, MemberState};
use autonoe_harness::{TaskId, conformance};
use autonoe_testkit::conformance::Conformance;
use jiff::Timestamp;
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// Tasks that were in progress at a crash are not among the incomplete ones.
    ForgetsTheLost,
    /// A task that is saved again loses its status.
    ResetsSavedTasks,
    /// An update without effect changes the time.
    TouchesUnchangedTasks,
}

struct Faulty {
    inner: SqliteState,
    fault: Fault,
}

type Done<T> = Result<T, StateError>;

#[async_trait]
impl StateStore for Faulty {
    async fn init_member(&self, plan: &MemberPlan, now: Timestamp) -> Done<()> {
        self.inner.init_member(plan, now).await
    }
    async fn save_task(&self, planned: &PlannedTask, now: Timestamp) -> Done<()> {
        self.inner.save_task(planned, now).await?;
        if self.fault == Fault::ResetsSavedTasks {
            let reset = TaskUpdate::new(TaskStatus::Pending);
            let id = &planned.task.id;
            self.inner.update_task_status(id, &reset, now).await?;
        }
        Ok(())
    }
    async fn load_task(&self, id: &TaskId) -> Done<Option<StoredTask>> {
        self.inner.load_task(id).await
    }
    async fn update_task_status(
        &self,
        id: &TaskId,
        update: &TaskUpdate,
        now: Timestamp,
    ) -> Done<()> {
        if self.fault == Fault::TouchesUnchangedTasks {
            let other = TaskUpdate::new(TaskStatus::Pending).error("being changed");
            self.inner.update_task_status(id, &other, now).await?;
        }
        self.inner.update_task_status(id, update, now).await
    }
    async fn get_incomplete_tasks(&self) -> Done<Vec<StoredTask>> {
        let mut tasks = self.inner.get_incomplete_tasks().await?;
        if self.fault == Fault::ForgetsTheLost {
            tasks.retain(|task| task.status == TaskStatus::Pending);
        }
        Ok(tasks)
    }
    async fn log_execution(&self, execution: &ExecutionRecord) -> Done<()> {
        self.inner.log_execution(execution).await
    }
    async fn tasks(&self) -> Done<Vec<StoredTask>> {
        self.inner.tasks().await
    }
    async fn executions(&self, id: &TaskId) -> Done<Vec<ExecutionRecord>> {
        self.inner.executions(id).await
    }
}

#[tokio::test]
async fn the_suite_finds_each_fault_of_a_store() {
    for (fault, check) in [
        (
            Fault::ForgetsTheLost,
            "a task that was in progress at a crash is open again",
        ),
        (
            Fault::ResetsSavedTasks,
            "a saved task is added at the end, and keeps its outcome",
        ),
        (
            Fault::TouchesUnchangedTasks,
            "the status of a task can be set to any value",
        ),
    ] {
        let empty = async || {
            let inner = SqliteState::in_memory().await.expect("it opens");
            Arc::new(Faulty { inner, fault }) as Arc<dyn StateStore>
        };

        let report = conformance::state_store(&empty).await;

        assert!(finds(&report, check), "{fault:?}: {:?}", report.failures());
    }
}

fn finds(report: &Conformance, check: &str) -> bool {
    report.failures().iter().any(|failed| failed.check == check)
}

/// Accepts writes of former leaders.
struct Unfenced(SqliteMeta);

impl Unfenced {
    async fn newest(&self, lead: &LeaderToken) -> LeaderToken {
        let fleet = self.0.fleet(&lead.fleet).await.expect("in memory");
        LeaderToken::new(&lead.fleet, fleet.map_or(0, |fleet| fleet.epoch))
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
    async fn acquire_lead(&self, fleet: &str, now: Timestamp) -> Done<LeaderToken> {
        self.0.acquire_lead(fleet, now).await
    }
    async fn set_member(
        &self,
        lead: &LeaderToken,
        member: &MemberId,
        state: &MemberState,
        now: Timestamp,
    ) -> Done<()> {
        let lead = self.newest(lead).await;
        self.0.set_member(&lead, member, state, now).await
    }
    async fn finish_fleet(
        &self,
        lead: &LeaderToken,
        result: &AggregatedReport,
        now: Timestamp,
    ) -> Done<()> {
        self.0.finish_fleet(lead, result, now).await
    }
    async fn append_decision(
        &self,
        lead: &LeaderToken,
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
        lead: &LeaderToken,
        accounts: &Account,
        now: Timestamp,
    ) -> Done<()> {
        self.0.save_accounts(lead, accounts, now).await
    }
    async fn accounts(&self, fleet: &str) -> Done<Option<Account>> {
        self.0.accounts(fleet).await
    }
}

#[tokio::test]
async fn the_suite_finds_a_coordinator_that_is_not_fenced_off() {
    let empty = async || {
        let meta = SqliteMeta::in_memory().await.expect("it opens");
        Arc::new(Unfenced(meta)) as Arc<dyn MetaState>
    };

    let report = conformance::meta_state(&empty).await;

    let check = "writes of an older epoch are refused";
    assert!(finds(&report, check), "{:?}", report.failures());
}
