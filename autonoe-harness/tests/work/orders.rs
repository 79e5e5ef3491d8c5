//! Tests of invalid orders, and of events that cannot be recorded.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::engine::RunEnding;
use autonoe_core::event::Failure;
use autonoe_harness::Task;
use autonoe_harness::work::{Isolation, WhenDone, WorkEvent, WorkObserver, WorkOrder};
use serde_json::json;

use crate::work::fixture::{Fixture, Turns, order, task, text_turn};

#[tokio::test(start_paused = true)]
async fn a_wrong_order_begins_nothing() {
    let fine = serde_json::to_value(order([task("T-1")])).expect("it serialises");
    let with = |key: &str, value: serde_json::Value| {
        let mut order = fine.clone();
        order[key] = value;
        order
    };
    let mut without_isolation = fine.clone();
    without_isolation
        .as_object_mut()
        .expect("an object")
        .remove("isolation");
    let twice = serde_json::to_value(order([task("T-1"), task("T-1")])).expect("it serialises");
    let mut depends = fine.clone();
    depends["tasks"][0]["depends"] = json!(["T-9"]);
    for (input, reason) in [
        (json!("nothing"), "invalid type"),
        (with("unheardOf", json!(1)), "unknown field"),
        (with("maxIterations", json!(0)), "maxIterations"),
        (without_isolation, "missing field `isolation`"),
        (twice, "two tasks have the id T-1"),
        (depends, "depends on T-9"),
    ] {
        let fixture = Fixture::new(&Turns::new([]));

        let outcome = fixture.run_raw(input).await;

        let RunEnding::Failed { failure } = outcome.ending else {
            panic!("{outcome:?}");
        };
        assert_eq!(failure.code, "work_order");
        assert!(failure.message.contains(reason), "{failure}");
        assert!(fixture.events().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn lesson_7_an_order_that_requires_a_worktree_never_runs_without_one() {
    let isolation = Isolation::Worktree {
        name: "one".to_owned(),
        base: None,
        when_done: WhenDone::Keep,
    };
    let order = WorkOrder::new([task("T-1")], isolation);
    let fixture = Fixture::new(&Turns::new([]));

    let outcome = fixture
        .run_raw(serde_json::to_value(&order).expect("it serialises"))
        .await;

    let RunEnding::Failed { failure } = outcome.ending else {
        panic!("{outcome:?}");
    };
    assert_eq!(failure.code, "not_isolated");
}

/// Can record this many events, and no more.
struct FullDisk(std::sync::atomic::AtomicUsize);

#[async_trait]
impl WorkObserver for FullDisk {
    async fn note(&self, _: &WorkEvent) -> Result<(), Failure> {
        use std::sync::atomic::Ordering::SeqCst;
        let left = |left: usize| left.checked_sub(1);
        match self.0.fetch_update(SeqCst, SeqCst, left) {
            Ok(_) => Ok(()),
            Err(_) => Err(Failure::permanent("not_recorded", "the disk is full")),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn work_that_cannot_be_recorded_fails() {
    // A turn whose start cannot be recorded does not start; a success that cannot be recorded does
    // not count.
    for (notes, turns) in [(2, vec![]), (3, vec![text_turn("Done.")])] {
        let turns = Turns::new(turns);
        let mut fixture = Fixture::new(&turns);
        let full = Arc::new(FullDisk(notes.into()));
        fixture.work = fixture.work.observer(full);
        let done = Task::new("T-1", "Say it.").expect("an id");

        let (outcome, result) = fixture.run(&order([done])).await;

        let RunEnding::Failed { failure } = outcome.ending else {
            panic!("{outcome:?}");
        };
        assert_eq!(failure.code, "not_recorded");
        assert!(!result.success);
    }
}

#[test]
fn an_order_is_read_as_it_was_written() {
    let isolation = Isolation::Worktree {
        name: "one".to_owned(),
        base: Some("main".to_owned()),
        when_done: WhenDone::Merge,
    };
    let mut order = WorkOrder::new([task("T-1")], isolation).backend("codex");
    order.input = Some("the plan".to_owned());

    let json = serde_json::to_value(&order).expect("it serialises");

    let written = json!({"worktree": {"name": "one", "base": "main", "whenDone": "merge"}});
    assert_eq!(json["isolation"], written);
    assert_eq!(
        serde_json::from_value::<WorkOrder>(json).expect("an order"),
        order
    );
}
