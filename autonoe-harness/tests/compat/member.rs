//! Folder of a member: order, outcome, status and journal.

use std::fs;

use autonoe_core::CostUsd;
use autonoe_core::engine::RunEnding;
use autonoe_core::time::Epoch;
use autonoe_harness::folder::{MemberFact, MemberFolder, MemberStatus};
use autonoe_harness::strategy::MemberId;
use autonoe_harness::work::{RecoveredState, WorkEvent, WorkJournal};
use tempfile::TempDir;

use super::fixture;

fn folder() -> (TempDir, MemberFolder) {
    let root = tempfile::tempdir().expect("a folder");
    let folder =
        MemberFolder::new(root.path(), &MemberId::new("roadmap.parser")).expect("a valid id");
    fs::create_dir_all(folder.path()).expect("writable");
    for name in ["order.json", "outcome.json", "status.json", "work.jsonl"] {
        let from = fixture("member").join(name);
        fs::copy(from, folder.path().join(name)).expect("writable");
    }
    (root, folder)
}

#[test]
fn the_order_is_read() {
    let (_root, folder) = folder();

    let order = folder.order().expect("it is valid");

    assert_eq!(
        (order.id.as_str(), order.job.as_str()),
        ("roadmap.parser", "work")
    );
    assert_eq!(order.input["member"], "parser");
    let task = &order.input["work"]["tasks"][0]["task"];
    assert_eq!(task["goal"], "Read sums and products.");
    assert_eq!(task["timeoutSeconds"], 1200);
}

#[test]
fn the_outcome_and_the_status_are_read() {
    let (_root, folder) = folder();

    let outcome = folder.outcome().expect("it is valid").expect("it ended");
    let state = folder.state().expect("it is valid").expect("it is there");

    assert_eq!(outcome.ending, RunEnding::Succeeded);
    assert_eq!(outcome.output["output"], "Sums and products are read.");
    assert_eq!(outcome.spent.cost.known_usd, CostUsd::from_cents(20));
    assert_eq!(state.status, MemberStatus::Completed);
    assert_eq!(state.epoch, Epoch(1));
    assert_eq!(state.process, None);
    assert_eq!(state.progress.spent.cost.known_usd, CostUsd::from_cents(20));
    let written = serde_json::to_value(&state).expect("it serialises");
    assert_eq!(written["progress"], 1.0);
    assert_eq!(
        written["workingDir"],
        "/srv/fleet/.harness/worktrees/roadmap/parser"
    );
    assert_eq!(written["updatedAt"], "2026-11-18T20:09:00.006716633Z");
    let result = folder.view().expect("it is valid").result();
    let result = result.expect("it ended");
    assert!(result.success);
    assert_eq!((result.criteria_passed, result.failures), (1, 0));
    assert_eq!(result.duration.as_millis(), 1018);
}

#[test]
fn the_journal_is_read() {
    let (_root, folder) = folder();

    let facts = folder.journal().expect("it is valid");
    let events = WorkJournal::read(&folder.path().join("work.jsonl")).expect("it is valid");

    let [served, ended] = &facts[..] else {
        panic!("two facts: {facts:?}");
    };
    assert_eq!(served.fact, MemberFact::Serving { pid: 32048 });
    assert_eq!((served.epoch, served.version), (Epoch(1), 1));
    let MemberFact::Ended { outcome } = &ended.fact else {
        panic!("an end: {ended:?}");
    };
    assert_eq!(Some(&**outcome), folder.outcome().expect("valid").as_ref());
    // Names in JSON are stable; those of variants are not.
    let names: Vec<_> = events
        .iter()
        .map(|event| serde_json::to_value(event).expect("it serialises")["event"].clone())
        .collect();
    assert_eq!(
        names,
        [
            "opened",
            "taskStarted",
            "iterationStarted",
            "iterationEnded",
            "ended",
            "closed"
        ]
    );
    let WorkEvent::Opened { run, at } = &events[0] else {
        panic!("a start: {:?}", events[0]);
    };
    assert_eq!(run.as_str(), "roadmap.parser");
    assert_eq!(at.to_string(), "2026-11-18T20:08:58.869762987Z");
    let turn = serde_json::to_value(&events[3]).expect("it serialises");
    assert_eq!(
        (&turn["task"], &turn["cli"]),
        (&"parser".into(), &"scripted".into())
    );
    assert_eq!(turn["verification"]["verification"], "passed");
    assert_eq!(turn["conversation"], "scripted-1");
    assert_eq!(turn["score"], 0.303);
    assert_eq!(turn["result"]["output"], "Sums and products are read.");
    let recovered: RecoveredState = events.iter().collect();
    assert_eq!(
        recovered.spending().spent.cost.known_usd,
        CostUsd::from_cents(20)
    );
}
