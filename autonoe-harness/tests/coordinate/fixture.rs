//! Fixture: members with scripted behaviour.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::CostUsd;
use autonoe_core::agent::{BudgetUsage, CostTotal};
use autonoe_core::engine::{JobContext, JobRunner, RunOutcome, RunProgress, RunSpec};
use autonoe_core::event::Failure;
use autonoe_harness::coordinate::{MemberJob, MemberSpec};
use autonoe_harness::strategy::{MemberId, MemberReport};
use autonoe_harness::{Coordinator, FleetEvent, FleetEventKind};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::Instant;

/// Behaviour of a member: its working time and its end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Act {
    pub(crate) seconds: u64,
    pub(crate) end: End,
    pub(crate) cents: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum End {
    Succeeds,
    Fails,
    Panics,
    /// The output claims success, but the run fails.
    Boasts,
    /// Ignores its cancellation.
    NeverEnds,
}

impl Act {
    pub(crate) fn new(seconds: u64, end: End) -> Self {
        Self {
            seconds,
            end,
            cents: 0,
        }
    }

    pub(crate) fn costing(mut self, cents: u64) -> Self {
        self.cents = cents;
        self
    }

    pub(crate) fn member(&self, name: &str) -> MemberSpec {
        MemberSpec::new(id(name), "act", json!(self))
    }
}

pub(crate) fn id(name: &str) -> MemberId {
    MemberId::new(name)
}

/// Runs members, and records their starts and ends.
#[derive(Default)]
pub(crate) struct Fixture {
    seen: Mutex<MemberActivity>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct MemberActivity {
    pub(crate) at_work: usize,
    pub(crate) most_at_once: usize,
    /// Number of starts per member.
    pub(crate) starts: BTreeMap<String, usize>,
    /// Members in start order, with their inputs.
    pub(crate) order: Vec<(String, Option<String>)>,
    /// Members that were cancelled.
    pub(crate) cancelled: Vec<String>,
}

impl Fixture {
    pub(crate) fn seen(&self) -> MemberActivity {
        self.seen.lock().expect("whole").clone()
    }

    fn begin(&self, job: &MemberJob) {
        let mut seen = self.seen.lock().expect("whole");
        let name = job.member.to_string();
        seen.at_work += 1;
        seen.most_at_once = seen.most_at_once.max(seen.at_work);
        *seen.starts.entry(name.clone()).or_default() += 1;
        seen.order.push((name, job.input.clone()));
    }
}

/// Counts a member as ended, even after a panic.
struct AtWork<'s>(&'s Fixture);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.seen.lock().expect("whole").at_work -= 1;
    }
}

#[async_trait]
impl JobRunner for Fixture {
    async fn run(&self, run: &RunSpec, context: &JobContext) -> RunOutcome {
        let job = MemberJob::from_run(run).expect("a member's job");
        let act: Act = serde_json::from_value(job.work.clone()).expect("an act");
        self.begin(&job);
        let _at_work = AtWork(self);
        let started = Instant::now();
        let spent = || BudgetUsage {
            cost: CostTotal::known(CostUsd::from_cents(act.cents)),
            time: started.elapsed(),
            ..BudgetUsage::default()
        };
        let mut at = RunProgress::new(0.5);
        at.spent = spent();
        context.report(at);
        if act.end == End::NeverEnds {
            return std::future::pending().await;
        }
        tokio::select! {
            () = context.control().cancelled() => {
                // It takes a while to end its processes.
                tokio::time::sleep(Duration::from_secs(3)).await;
                self.seen.lock().expect("whole").cancelled.push(job.member.to_string());
                return RunOutcome::cancelled("").with_spent(spent());
            }
            () = tokio::time::sleep(Duration::from_secs(act.seconds)) => {}
        }
        let output = match &job.input {
            Some(input) => format!("{input}+{}", job.member),
            None => job.member.to_string(),
        };
        let mut result = MemberReport::success(job.member.clone(), output);
        result.duration = started.elapsed();
        let result = json!(result);
        let failed = RunOutcome::failed(Failure::permanent("failed", "it did not work"));
        let outcome = match act.end {
            End::Succeeds => RunOutcome::succeeded(result),
            End::Fails => failed,
            End::Boasts => failed.with_output(result),
            End::Panics | End::NeverEnds => panic!("as it was decided"),
        };
        outcome.with_spent(spent()).with_sessions(1)
    }
}

/// Events that an observer received, in short form.
#[derive(Clone, Default)]
pub(crate) struct RecordedEvents(Arc<Mutex<Vec<String>>>);

impl RecordedEvents {
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().expect("whole").clone()
    }

    pub(crate) fn watch(&self, coordinator: Coordinator) -> Coordinator {
        let lines = self.0.clone();
        coordinator.observer(Arc::new(move |event: &FleetEvent| {
            lines.lock().expect("whole").push(words(&event.kind));
        }))
    }
}

fn words(kind: &FleetEventKind) -> String {
    match kind {
        FleetEventKind::FleetStarted { strategy, members } => {
            format!("{strategy} begins with {}", members.len())
        }
        FleetEventKind::Started { member, .. } => format!("{member} starts"),
        FleetEventKind::RunFound { member, .. } => format!("{member} is found again"),
        FleetEventKind::WaitsForBudget { member, .. } => format!("{member} waits for money"),
        FleetEventKind::Stopping { member, reason } => format!("{member} is stopped: {reason}"),
        FleetEventKind::Ended { result } if result.success => format!("{} succeeds", result.id),
        FleetEventKind::Ended { result } => {
            let error = result.error.as_deref().unwrap_or_default();
            format!("{} fails: {error}", result.id)
        }
        FleetEventKind::CutShort { reason } => format!("cut short: {reason}"),
        FleetEventKind::Finished { success, .. } => format!("finished: {success}"),
        other => format!("{other:?}"),
    }
}
