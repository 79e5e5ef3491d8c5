//! A folder that is served in this process, in no time.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{Epoch, JobRunner, RunDesk, RunEnding, RunOutcome, RunSpec};
use autonoe_harness::conformance::{HANDLE_JOB, HandleJob};
use autonoe_harness::{
    FolderError, HarnessFact, HarnessFolder, HarnessStatus, ServeOutcome, Serving,
};
use autonoe_testkit::VirtualClock;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::handles::stage::{Stage, order};

fn serving(folder: &HarnessFolder) -> Serving {
    Serving::new(
        folder.clone(),
        Arc::new(HandleJob::in_folders(folder.path())),
    )
    .clock(Arc::new(VirtualClock::new()))
}

fn submitted(stage: &Stage, input: Value) -> HarnessFolder {
    let folder = stage.folder("a");
    folder
        .submit(&order("a", HANDLE_JOB, input))
        .expect("writable");
    folder
}

fn facts(folder: &HarnessFolder) -> Vec<HarnessFact> {
    let journal = folder.journal().expect("readable");
    journal
        .into_iter()
        .map(|entry| entry.fact)
        .skip(1)
        .collect()
}

#[tokio::test(start_paused = true)]
async fn one_that_has_ended_gives_its_outcome_at_once_and_is_not_run_again() {
    let stage = Stage::new();
    let folder = submitted(&stage, json!({"does": "give", "value": 1}));
    let first = serving(&folder).run().await.expect("it can be served");
    let before = fs::read(folder.path().join("journal.jsonl")).expect("there");

    let second = serving(&folder).run().await.expect("it can be served");

    assert_eq!(
        first,
        ServeOutcome::Ended(RunOutcome::succeeded(json!(1)).into())
    );
    assert_eq!(first, second);
    let after = fs::read(folder.path().join("journal.jsonl")).expect("there");
    assert_eq!(before, after);
}

#[tokio::test(start_paused = true)]
async fn two_never_serve_one_folder() {
    let stage = Stage::new();
    let folder = submitted(&stage, json!({"does": "hold"}));
    let first = tokio::spawn(serving(&folder).run());
    while folder.view().expect("readable").pid.is_none() {
        tokio::task::yield_now().await;
    }

    let second = serving(&folder).run().await;

    assert!(
        matches!(second, Err(FolderError::Held { .. })),
        "{second:?}"
    );
    folder.request_stop("enough").expect("writable");
    let first = first.await.expect("no panic").expect("it can be served");
    assert_eq!(
        first,
        ServeOutcome::Ended(RunOutcome::cancelled("enough").into())
    );
}

#[tokio::test(start_paused = true)]
async fn who_was_asked_to_end_before_the_start_does_not_begin() {
    let stage = Stage::new();
    let folder = submitted(&stage, json!({"does": "panic"}));
    folder.request_stop("a mistake").expect("writable");

    let served = serving(&folder).run().await.expect("it can be served");

    assert_eq!(
        served,
        ServeOutcome::Ended(RunOutcome::cancelled("a mistake").into())
    );
    assert_eq!(
        folder.view().expect("readable").status,
        HarnessStatus::Stopped
    );
}

#[tokio::test(start_paused = true)]
async fn a_stop_file_that_a_person_made_by_hand_asks_all_the_same() {
    let stage = Stage::new();
    let folder = submitted(&stage, json!({"does": "hold"}));
    fs::write(folder.path().join("stop"), "").expect("writable");

    let served = serving(&folder).run().await.expect("it can be served");

    let ServeOutcome::Ended(outcome) = served else {
        panic!("{served:?}");
    };
    assert_eq!(*outcome, RunOutcome::cancelled("a stop file was put there"));
}

#[tokio::test(start_paused = true)]
async fn a_process_that_has_to_leave_leaves_the_run_for_the_next() {
    let stage = Stage::new();
    let folder = submitted(&stage, json!({"does": "collect", "count": 1}));
    let soon = tokio::time::sleep(Duration::from_secs(30));

    let left = serving(&folder)
        .until(soon, Duration::from_secs(5))
        .run()
        .await;

    assert_eq!(left.expect("it can be served"), ServeOutcome::BrokenOff);
    let view = folder.view().expect("readable");
    assert_eq!(
        (view.status, view.pid, view.is_lost),
        (HarnessStatus::Pending, None, false)
    );
    folder
        .post("go on", Timestamp::UNIX_EPOCH)
        .expect("writable");
    let ended = serving(&folder).run().await.expect("it can be served");
    assert_eq!(
        ended,
        ServeOutcome::Ended(RunOutcome::succeeded(json!(["go on"])).into())
    );
    assert_eq!(folder.view().expect("readable").epoch, Epoch(2));
}

#[tokio::test(start_paused = true)]
async fn one_that_will_not_leave_is_given_up_after_a_time() {
    let stage = Stage::new();
    let folder = submitted(&stage, json!({"does": "stubborn"}));

    let left = serving(&folder)
        .until(async {}, Duration::from_secs(5))
        .run()
        .await;

    assert_eq!(left.expect("it can be served"), ServeOutcome::BrokenOff);
    assert_eq!(facts(&folder), [HarnessFact::BrokenOff]);
}

#[tokio::test(start_paused = true)]
async fn one_that_does_not_end_when_it_is_asked_to_is_given_up_after_a_time() {
    let stage = Stage::new();
    let folder = submitted(&stage, json!({"does": "stubborn"}));
    let later = folder.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(60)).await;
        later.request_stop("enough").expect("writable");
    });

    let served = serving(&folder).stop_within(Duration::from_secs(20)).run();
    let served = served.await.expect("it can be served");

    let ServeOutcome::Ended(outcome) = served else {
        panic!("{served:?}");
    };
    let reason = "enough".to_owned();
    assert_eq!(outcome.ending, RunEnding::Cancelled { reason });
    // Nobody knows what it would have told at its end.
    assert_eq!(outcome.spent.cost.exact(), None);
    let view = folder.view().expect("readable");
    assert_eq!((view.status, view.pid), (HarnessStatus::Stopped, None));
}

#[tokio::test(start_paused = true)]
async fn a_folder_that_is_removed_ends_the_run() {
    let stage = Stage::new();
    let folder = submitted(&stage, json!({"does": "hold"}));
    let served = tokio::spawn(serving(&folder).run());
    while folder.view().expect("readable").pid.is_none() {
        tokio::task::yield_now().await;
    }

    fs::remove_dir_all(folder.path()).expect("writable");

    let served = served.await.expect("no panic");
    assert!(
        matches!(served, Err(FolderError::NoOrder { .. })),
        "{served:?}"
    );
    assert!(!folder.path().exists());
}

#[tokio::test(start_paused = true)]
async fn what_is_no_instruction_is_named_once_and_hides_no_other() {
    let stage = Stage::new();
    let folder = submitted(&stage, json!({"does": "collect", "count": 1}));
    fs::write(folder.path().join("inbox/note.bin"), "hello").expect("writable");
    let later = folder.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(60)).await;
        later
            .post("go on", Timestamp::UNIX_EPOCH)
            .expect("writable");
    });

    serving(&folder).run().await.expect("it can be served");

    let unreadable =
        |fact: &&HarnessFact| matches!(fact, HarnessFact::InstructionUnreadable { .. });
    assert_eq!(facts(&folder).iter().filter(unreadable).count(), 1);
    assert!(folder.path().join("inbox/note.bin").exists());
}

/// Panics in the middle of things.
struct Panics;

#[async_trait]
impl JobRunner for Panics {
    async fn run(&self, _: &RunSpec, desk: &RunDesk) -> RunOutcome {
        desk.control().cancelled().await;
        panic!("as it must");
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_it_is_told_to_leave_is_no_outcome() {
    let stage = Stage::new();
    let folder = submitted(&stage, Value::Null);
    let serving = Serving::new(folder.clone(), Arc::new(Panics));
    let serving = serving.clock(Arc::new(VirtualClock::new()));

    let left = serving.until(async {}, Duration::from_secs(5)).run().await;

    assert_eq!(left.expect("it can be served"), ServeOutcome::BrokenOff);
    assert!(folder.outcome().expect("readable").is_none());
}
