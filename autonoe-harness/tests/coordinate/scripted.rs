//! Members that do what was decided before.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    CostTotal, CostUsd, Failure, JobRunner, RunDesk, RunOutcome, RunProgress, RunSpec, Spent,
};
use autonoe_harness::{
    Coordinator, FleetEvent, FleetEventKind, HarnessId, HarnessResult, MemberJob, MemberSpec,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::Instant;

/// What a member does: how long it works, and how that ends.
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
    /// It says that it succeeded, and its run that it failed.
    Boasts,
    /// It is deaf to being cancelled.
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

pub(crate) fn id(name: &str) -> HarnessId {
    HarnessId::new(name)
}

/// Carries out members, and sees who was carried out when.
#[derive(Default)]
pub(crate) struct Stage {
    seen: Mutex<Seen>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) at_work: usize,
    pub(crate) most_at_once: usize,
    /// How often each member was begun.
    pub(crate) begun: BTreeMap<String, usize>,
    /// In which order they were, and with what they were given.
    pub(crate) order: Vec<(String, Option<String>)>,
    /// Who was ended from outside.
    pub(crate) cancelled: Vec<String>,
}

impl Stage {
    pub(crate) fn seen(&self) -> Seen {
        self.seen.lock().expect("whole").clone()
    }

    fn begin(&self, job: &MemberJob) {
        let mut seen = self.seen.lock().expect("whole");
        let name = job.member.to_string();
        seen.at_work += 1;
        seen.most_at_once = seen.most_at_once.max(seen.at_work);
        *seen.begun.entry(name.clone()).or_default() += 1;
        seen.order.push((name, job.given.clone()));
    }
}

/// Counts who leaves, also by a panic.
struct AtWork<'s>(&'s Stage);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.seen.lock().expect("whole").at_work -= 1;
    }
}

#[async_trait]
impl JobRunner for Stage {
    async fn run(&self, run: &RunSpec, desk: &RunDesk) -> RunOutcome {
        let job = MemberJob::of(run).expect("a member's job");
        let act: Act = serde_json::from_value(job.work.clone()).expect("an act");
        self.begin(&job);
        let _at_work = AtWork(self);
        let begun = Instant::now();
        let spent = || Spent {
            cost: CostTotal::known(CostUsd::from_cents(act.cents)),
            time: begun.elapsed(),
            ..Spent::default()
        };
        let mut at = RunProgress::of(0.5);
        at.spent = spent();
        desk.report(at);
        if act.end == End::NeverEnds {
            return std::future::pending().await;
        }
        tokio::select! {
            () = desk.control().cancelled() => {
                // It takes a while to end what it started.
                tokio::time::sleep(Duration::from_secs(3)).await;
                self.seen.lock().expect("whole").cancelled.push(job.member.to_string());
                return RunOutcome::cancelled("").with_spent(spent());
            }
            () = tokio::time::sleep(Duration::from_secs(act.seconds)) => {}
        }
        let said = match &job.given {
            Some(given) => format!("{given}+{}", job.member),
            None => job.member.to_string(),
        };
        let mut result = HarnessResult::success(job.member.clone(), said);
        result.duration = begun.elapsed();
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

/// What an observer was told, in short words.
#[derive(Clone, Default)]
pub(crate) struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
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
        FleetEventKind::Began { strategy, members } => {
            format!("{strategy} begins with {}", members.len())
        }
        FleetEventKind::Started { member, .. } => format!("{member} starts"),
        FleetEventKind::FoundAgain { member, .. } => format!("{member} is found again"),
        FleetEventKind::WaitsForMoney { member, .. } => format!("{member} waits for money"),
        FleetEventKind::Stopping { member, why } => format!("{member} is stopped: {why}"),
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
