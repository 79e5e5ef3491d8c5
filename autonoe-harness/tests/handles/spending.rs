//! What was spent is known, however a run ends.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    CostTotal, CostUsd, JobRunner, RunDesk, RunEnding, RunOutcome, RunProgress, RunSpec, Spent,
};
use autonoe_harness::{
    HarnessFolder, HarnessHandle, LocalHandle, ProcessHandle, ServeOutcome, Serving,
};
use autonoe_testkit::VirtualClock;
use serde_json::json;

use crate::handles::stage::{Stage, order};

/// What a run does that has told what it spent.
#[derive(Clone, Copy, Debug)]
enum Then {
    Panics,
    Hangs,
    /// Says nothing of what it spent.
    Fails,
    Cancels,
}

/// Tells what it spent, and then does that.
struct Spender(Option<u64>, Then);

#[async_trait]
impl JobRunner for Spender {
    async fn run(&self, _: &RunSpec, desk: &RunDesk) -> RunOutcome {
        if let Some(cents) = self.0 {
            let mut at = RunProgress::of(0.5);
            at.spent.cost = CostTotal::known(CostUsd::from_cents(cents));
            desk.report(at);
        }
        match self.1 {
            Then::Panics => panic!("as it must"),
            Then::Hangs => std::future::pending().await,
            Then::Fails => RunOutcome::failed(autonoe_core::Failure::permanent("no", "no luck")),
            Then::Cancels => {
                desk.control().cancelled().await;
                std::future::pending().await
            }
        }
    }
}

fn cents_and_more(cents: u64) -> Spent {
    Spent {
        cost: CostTotal::at_least(CostUsd::from_cents(cents)),
        ..Spent::default()
    }
}

fn folder(stage: &Stage) -> HarnessFolder {
    let folder = stage.folder("a");
    let run = order("a", "spend", json!(null));
    folder.submit(&run).expect("writable");
    folder
}

fn serving(folder: &HarnessFolder, spender: Spender) -> Serving {
    Serving::new(folder.clone(), Arc::new(spender)).clock(Arc::new(VirtualClock::new()))
}

async fn outcome(serving: Serving) -> RunOutcome {
    match serving.run().await.expect("it can be served") {
        ServeOutcome::Ended(outcome) => *outcome,
        left => panic!("{left:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_run_told_is_in_its_outcome_if_it_breaks() {
    for then in [Then::Panics, Then::Fails] {
        let stage = Stage::new();
        let folder = folder(&stage);

        let outcome = outcome(serving(&folder, Spender(Some(40), then))).await;

        assert!(matches!(outcome.ending, RunEnding::Failed { .. }));
        assert_eq!(outcome.spent, cents_and_more(40), "{then:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_run_told_is_in_its_outcome_if_it_is_stopped_and_given_up() {
    let stage = Stage::new();
    let folder = folder(&stage);
    let asked = folder.clone();
    let leaves = async move {
        tokio::time::sleep(Duration::from_secs(10)).await;
        asked.request_stop("enough").expect("writable");
        tokio::time::sleep(Duration::from_secs(10)).await;
    };
    let serving = serving(&folder, Spender(Some(40), Then::Cancels));

    let outcome = outcome(serving.until(leaves, Duration::from_secs(5))).await;

    let expected = RunOutcome::cancelled("enough").with_spent(cents_and_more(40));
    assert_eq!(outcome, expected);
}

#[tokio::test(start_paused = true)]
async fn what_a_life_before_spent_is_in_the_outcome_of_who_did_not_begin_again() {
    let stage = Stage::new();
    let folder = folder(&stage);
    let soon = tokio::time::sleep(Duration::from_secs(30));
    let first = serving(&folder, Spender(Some(40), Then::Hangs));
    let left = first.until(soon, Duration::ZERO).run().await;
    assert_eq!(left.expect("it can be served"), ServeOutcome::BrokenOff);
    folder.request_stop("enough").expect("writable");

    let outcome = outcome(serving(&folder, Spender(None, Then::Hangs))).await;

    let expected = RunOutcome::cancelled("enough").with_spent(cents_and_more(40));
    assert_eq!(outcome, expected);
}

#[tokio::test(start_paused = true)]
async fn a_life_that_says_nothing_does_not_take_back_what_the_one_before_told() {
    let stage = Stage::new();
    let folder = folder(&stage);
    for spender in [Spender(Some(40), Then::Hangs), Spender(None, Then::Hangs)] {
        let soon = tokio::time::sleep(Duration::from_secs(30));
        let serving = serving(&folder, spender).until(soon, Duration::ZERO);
        let left = serving.run().await.expect("it can be served");
        assert_eq!(left, ServeOutcome::BrokenOff);
    }

    let view = folder.view().expect("readable");

    let told = CostTotal::known(CostUsd::from_cents(40));
    assert_eq!((view.at.spent.cost, view.at.progress), (told, 0.5));
}

#[tokio::test(start_paused = true)]
async fn what_a_run_in_this_process_told_is_in_its_outcome() {
    for then in [Then::Panics, Then::Hangs] {
        let run = order("a", "spend", json!(null));
        let handle = LocalHandle::start(run, Arc::new(Spender(Some(40), then)));
        tokio::task::yield_now().await;

        let outcome = handle.kill(Duration::from_secs(1)).await.expect("it ends");

        assert_eq!(outcome.spent, cents_and_more(40), "{then:?}");
    }
}

/// Says that it is further than one can be.
struct Boaster(f64);

#[async_trait]
impl JobRunner for Boaster {
    async fn run(&self, _: &RunSpec, desk: &RunDesk) -> RunOutcome {
        let mut at = RunProgress::of(0.0);
        at.progress = self.0;
        desk.report(at);
        desk.control().cancelled().await;
        RunOutcome::cancelled("")
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_nowhere_can_be_looked_at_and_stopped() {
    for told in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
        let stage = Stage::new();
        let folder = folder(&stage);
        let serving = Serving::new(folder.clone(), Arc::new(Boaster(told)));
        let served = tokio::spawn(serving.clock(Arc::new(VirtualClock::new())).run());
        tokio::time::sleep(Duration::from_secs(5)).await;

        let handle = ProcessHandle::open(folder).expect("readable");
        handle.stop("enough").await.expect("it listens");

        let served = served.await.expect("no panic").expect("it is served");
        assert_eq!(
            served,
            ServeOutcome::Ended(RunOutcome::cancelled("enough").into())
        );
        let progress = handle.refresh().await.expect("readable").at.progress;
        assert!((0.0..=1.0).contains(&progress), "{told}: {progress}");
    }
}
