//! Tests of the reported spending, however a run ends.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::CostUsd;
use autonoe_core::agent::{BudgetUsage, CostTotal};
use autonoe_core::engine::{JobContext, JobRunner, RunEnding, RunOutcome, RunProgress, RunSpec};
use autonoe_harness::folder::MemberFolder;
use autonoe_harness::serve::ServeOutcome;
use autonoe_harness::{MemberHandle, MemberManager, MemberServer};
use autonoe_testkit::VirtualClock;
use serde_json::json;

use crate::handles::fixture::{Fixture, OFTEN, eventually, order};

/// Behaviour of a run after it has reported its spending.
#[derive(Clone, Copy, Debug)]
enum Then {
    Panics,
    Hangs,
    /// Fails without reporting its spending.
    Fails,
    Cancels,
}

/// Reports its spending, and then behaves as given.
struct Spender(Option<u64>, Then);

#[async_trait]
impl JobRunner for Spender {
    async fn run(&self, _: &RunSpec, context: &JobContext) -> RunOutcome {
        if let Some(cents) = self.0 {
            let mut at = RunProgress::new(0.5);
            at.spent.cost = CostTotal::known(CostUsd::from_cents(cents));
            context.report(at);
        }
        match self.1 {
            Then::Panics => panic!("as it must"),
            Then::Hangs => std::future::pending().await,
            Then::Fails => {
                RunOutcome::failed(autonoe_core::event::Failure::permanent("no", "no luck"))
            }
            Then::Cancels => {
                context.control().cancelled().await;
                std::future::pending().await
            }
        }
    }
}

fn cents_and_more(cents: u64) -> BudgetUsage {
    BudgetUsage {
        cost: CostTotal::at_least(CostUsd::from_cents(cents)),
        ..BudgetUsage::default()
    }
}

fn folder(fixture: &Fixture) -> MemberFolder {
    let folder = fixture.folder("a");
    let run = order("a", "spend", json!(null));
    folder.submit(&run).expect("writable");
    folder
}

fn serving(folder: &MemberFolder, spender: Spender) -> MemberServer {
    MemberServer::new(folder.clone(), Arc::new(spender)).clock(Arc::new(VirtualClock::new()))
}

async fn outcome(serving: MemberServer) -> RunOutcome {
    match serving.run().await.expect("it can be served") {
        ServeOutcome::Ended(outcome) => *outcome,
        left => panic!("{left:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn the_reported_spending_is_in_the_outcome_of_a_failed_run() {
    for then in [Then::Panics, Then::Fails] {
        let fixture = Fixture::new();
        let folder = folder(&fixture);

        let outcome = outcome(serving(&folder, Spender(Some(40), then))).await;

        assert!(matches!(outcome.ending, RunEnding::Failed { .. }));
        assert_eq!(outcome.spent, cents_and_more(40), "{then:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_reported_spending_is_in_the_outcome_of_a_killed_run() {
    let fixture = Fixture::new();
    let folder = folder(&fixture);
    let requested = folder.clone();
    let leaves = async move {
        tokio::time::sleep(Duration::from_secs(10)).await;
        requested.request_stop("enough").expect("writable");
        tokio::time::sleep(Duration::from_secs(10)).await;
    };
    let serving = serving(&folder, Spender(Some(40), Then::Cancels));

    let outcome = outcome(serving.shutdown_signal(leaves, Duration::from_secs(5))).await;

    let expected = RunOutcome::cancelled("enough").with_spent(cents_and_more(40));
    assert_eq!(outcome, expected);
}

#[tokio::test(start_paused = true)]
async fn earlier_spending_is_in_the_outcome_of_a_run_that_did_not_start_again() {
    let fixture = Fixture::new();
    let folder = folder(&fixture);
    let soon = tokio::time::sleep(Duration::from_secs(30));
    let first = serving(&folder, Spender(Some(40), Then::Hangs));
    let left = first.shutdown_signal(soon, Duration::ZERO).run().await;
    assert_eq!(left.expect("it can be served"), ServeOutcome::Released);
    folder.request_stop("enough").expect("writable");

    let outcome = outcome(serving(&folder, Spender(None, Then::Hangs))).await;

    let expected = RunOutcome::cancelled("enough").with_spent(cents_and_more(40));
    assert_eq!(outcome, expected);
}

#[tokio::test(start_paused = true)]
async fn a_process_without_a_report_keeps_the_spending_of_the_previous_one() {
    let fixture = Fixture::new();
    let folder = folder(&fixture);
    for spender in [Spender(Some(40), Then::Hangs), Spender(None, Then::Hangs)] {
        let soon = tokio::time::sleep(Duration::from_secs(30));
        let serving = serving(&folder, spender).shutdown_signal(soon, Duration::ZERO);
        let left = serving.run().await.expect("it can be served");
        assert_eq!(left, ServeOutcome::Released);
    }

    let view = folder.view().expect("readable");

    let reported = CostTotal::known(CostUsd::from_cents(40));
    assert_eq!(
        (view.progress.spent.cost, view.progress.progress),
        (reported, 0.5)
    );
}

#[tokio::test]
async fn the_reported_spending_of_an_in_process_run_is_in_its_outcome() {
    for then in [Then::Panics, Then::Hangs] {
        let fixture = Fixture::new();
        let spender = Arc::new(Spender(Some(40), then));
        let manager = MemberManager::in_process(fixture.root(), spender).every(OFTEN);
        let run = order("a", "spend", json!(null));
        let handle = manager.spawn(run).await.expect("it starts");
        let folder = fixture.folder("a");
        eventually("what it spent", || {
            let view = folder.view().expect("readable");
            view.outcome.is_some() || view.progress.progress > 0.0
        })
        .await;

        let outcome = handle.kill(OFTEN).await.expect("it ends");

        assert_eq!(outcome.spent, cents_and_more(40), "{then:?}");
    }
}

/// Reports an impossible progress.
struct Boaster(f64);

#[async_trait]
impl JobRunner for Boaster {
    async fn run(&self, _: &RunSpec, context: &JobContext) -> RunOutcome {
        let mut at = RunProgress::new(0.0);
        at.progress = self.0;
        context.report(at);
        context.control().cancelled().await;
        RunOutcome::cancelled("")
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_with_an_invalid_progress_can_be_read_and_stopped() {
    for reported in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
        let fixture = Fixture::new();
        let folder = folder(&fixture);
        let serving = MemberServer::new(folder.clone(), Arc::new(Boaster(reported)));
        let served = tokio::spawn(serving.clock(Arc::new(VirtualClock::new())).run());
        tokio::time::sleep(Duration::from_secs(5)).await;

        let handle = MemberHandle::open(folder).expect("readable");
        handle.stop("enough").await.expect("it listens");

        let served = served.await.expect("no panic").expect("it is served");
        assert_eq!(
            served,
            ServeOutcome::Ended(RunOutcome::cancelled("enough").into())
        );
        let progress = handle.refresh().await.expect("readable").progress.progress;
        assert!((0.0..=1.0).contains(&progress), "{reported}: {progress}");
    }
}
