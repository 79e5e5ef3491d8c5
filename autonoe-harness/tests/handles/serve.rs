//! Tests of serving a folder in this process, in virtual time, and of poll intervals of zero.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::engine::{
    Engine, EngineError, JobContext, JobRunner, Placement, RunEnding, RunOutcome, RunSpec,
};
use autonoe_core::time::Epoch;
use autonoe_harness::folder::{FolderError, MemberFact, MemberFolder, MemberStatus};
use autonoe_harness::serve::ServeOutcome;
use autonoe_harness::{MemberHandle, MemberManager, MemberServer};
use autonoe_testkit::VirtualClock;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::fixture::{Fixture, order};
use super::job::{HANDLE_JOB, HandleJob};

fn serving(folder: &MemberFolder) -> MemberServer {
    MemberServer::new(
        folder.clone(),
        Arc::new(HandleJob::in_folders(folder.path())),
    )
    .clock(Arc::new(VirtualClock::new()))
}

fn submitted(fixture: &Fixture, input: Value) -> MemberFolder {
    let folder = fixture.folder("a");
    folder
        .submit(&order("a", HANDLE_JOB, input))
        .expect("writable");
    folder
}

fn facts(folder: &MemberFolder) -> Vec<MemberFact> {
    let journal = folder.journal().expect("readable");
    journal
        .into_iter()
        .map(|entry| entry.fact)
        .skip(1)
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_member_that_has_ended_returns_its_outcome_without_a_run() {
    let fixture = Fixture::new();
    let folder = submitted(&fixture, json!({"does": "give", "value": 1}));
    let first = serving(&folder).run().await.expect("it can be served");
    let before = fs::read(folder.path().join("work.jsonl")).expect("there");

    let second = serving(&folder).run().await.expect("it can be served");

    assert_eq!(
        first,
        ServeOutcome::Ended(RunOutcome::succeeded(json!(1)).into())
    );
    assert_eq!(first, second);
    let after = fs::read(folder.path().join("work.jsonl")).expect("there");
    assert_eq!(before, after);
}

#[tokio::test(start_paused = true)]
async fn a_folder_is_never_served_twice() {
    let fixture = Fixture::new();
    let folder = submitted(&fixture, json!({"does": "hold"}));
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
async fn a_member_stopped_before_its_start_does_not_start() {
    let fixture = Fixture::new();
    let folder = submitted(&fixture, json!({"does": "panic"}));
    folder.request_stop("a mistake").expect("writable");

    let served = serving(&folder).run().await.expect("it can be served");

    assert_eq!(
        served,
        ServeOutcome::Ended(RunOutcome::cancelled("a mistake").into())
    );
    assert_eq!(
        folder.view().expect("readable").status,
        MemberStatus::Stopped
    );
}

#[tokio::test(start_paused = true)]
async fn a_stop_file_written_by_hand_is_a_request() {
    let fixture = Fixture::new();
    let folder = submitted(&fixture, json!({"does": "hold"}));
    fs::write(folder.path().join("stop"), "").expect("writable");

    let served = serving(&folder).run().await.expect("it can be served");

    let ServeOutcome::Ended(outcome) = served else {
        panic!("{served:?}");
    };
    assert_eq!(*outcome, RunOutcome::cancelled("a stop file exists"));
}

#[tokio::test(start_paused = true)]
async fn a_pause_file_written_by_hand_is_a_request() {
    let fixture = Fixture::new();
    let folder = submitted(&fixture, json!({"does": "hold"}));
    let file = folder.path().join("pause");
    fs::write(&file, "").expect("writable");
    let status = || folder.view().expect("readable").status;
    let person = async {
        while status() != MemberStatus::Paused {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        fs::remove_file(&file).expect("it is there");
        while status() != MemberStatus::Running {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        folder.request_stop("seen enough").expect("writable");
    };

    let (served, ()) = tokio::join!(serving(&folder).run(), person);

    served.expect("it can be served");
    assert_eq!(status(), MemberStatus::Stopped);
}

// Shows: fleets/handle/pid, fleets/handle/working-dir
#[test]
fn a_member_that_was_never_served_is_pending_without_process_and_working_directory() {
    let fixture = Fixture::new();
    let folder = submitted(&fixture, json!({"does": "hold"}));

    let handle = MemberHandle::open(folder.clone()).expect("it is there");

    assert_eq!(handle.view().status, MemberStatus::Pending);
    assert_eq!(handle.view().pid, None);
    assert_eq!(handle.view().progress.working_dir, None);
    assert_eq!(handle.folder(), &folder);
}

#[tokio::test(start_paused = true)]
async fn a_member_that_asks_resumes_without_an_answer() {
    let fixture = Fixture::new();
    let folder = submitted(&fixture, json!({"does": "ask"}));
    let is_asking = || {
        let view = folder.view().expect("readable");
        view.progress.question.is_some()
    };
    // Without a question, only a paused member resumes.
    folder.request_resume().expect("writable");
    let person = async {
        while !is_asking() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        folder.request_resume().expect("writable");
        tokio::time::sleep(Duration::from_secs(60)).await;
        folder.request_stop("it still asks").expect("writable");
    };

    let (served, ()) = tokio::join!(serving(&folder).run(), person);

    let ServeOutcome::Ended(outcome) = served.expect("it can be served") else {
        panic!("it was released");
    };
    assert_eq!(*outcome, RunOutcome::succeeded(json!(["(resume)"])));
    assert!(!folder.path().join("resume").exists());
}

#[tokio::test(start_paused = true)]
async fn a_process_that_has_to_leave_leaves_the_run_for_the_next() {
    let fixture = Fixture::new();
    let folder = submitted(&fixture, json!({"does": "collect", "count": 1}));
    let soon = tokio::time::sleep(Duration::from_secs(30));

    let left = serving(&folder)
        .shutdown_signal(soon, Duration::from_secs(5))
        .run()
        .await;

    assert_eq!(left.expect("it can be served"), ServeOutcome::Released);
    let view = folder.view().expect("readable");
    assert_eq!(
        (view.status, view.pid, view.is_lost),
        (MemberStatus::Pending, None, false)
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
async fn a_run_that_ignores_the_shutdown_is_abandoned_after_a_timeout() {
    let fixture = Fixture::new();
    let folder = submitted(&fixture, json!({"does": "stubborn"}));

    let left = serving(&folder)
        .shutdown_signal(async {}, Duration::from_secs(5))
        .run()
        .await;

    assert_eq!(left.expect("it can be served"), ServeOutcome::Released);
    assert_eq!(facts(&folder), [MemberFact::Released]);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_ignores_a_stop_request_is_abandoned_after_a_timeout() {
    let fixture = Fixture::new();
    let folder = submitted(&fixture, json!({"does": "stubborn"}));
    let later = folder.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(60)).await;
        later.request_stop("enough").expect("writable");
    });

    let served = serving(&folder).stop_timeout(Duration::from_secs(20)).run();
    let served = served.await.expect("it can be served");

    let ServeOutcome::Ended(outcome) = served else {
        panic!("{served:?}");
    };
    let reason = "enough".to_owned();
    assert_eq!(outcome.ending, RunEnding::Cancelled { reason });
    // Its final spending is unknown.
    assert_eq!(outcome.spent.cost.exact(), None);
    let view = folder.view().expect("readable");
    assert_eq!((view.status, view.pid), (MemberStatus::Stopped, None));
}

#[tokio::test(start_paused = true)]
async fn a_folder_that_is_removed_ends_the_run() {
    let fixture = Fixture::new();
    let folder = submitted(&fixture, json!({"does": "hold"}));
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
async fn a_file_that_is_no_instruction_is_reported_once_and_hides_no_other() {
    let fixture = Fixture::new();
    let folder = submitted(&fixture, json!({"does": "collect", "count": 1}));
    fs::write(folder.path().join("inbox/note.bin"), "hello").expect("writable");
    let later = folder.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(60)).await;
        later
            .post("go on", Timestamp::UNIX_EPOCH)
            .expect("writable");
    });

    serving(&folder).run().await.expect("it can be served");

    let unreadable = |fact: &&MemberFact| matches!(fact, MemberFact::InstructionUnreadable { .. });
    assert_eq!(facts(&folder).iter().filter(unreadable).count(), 1);
    assert!(folder.path().join("inbox/note.bin").exists());
}

/// Panics while it runs.
struct Panics;

#[async_trait]
impl JobRunner for Panics {
    async fn run(&self, _: &RunSpec, context: &JobContext) -> RunOutcome {
        context.control().cancelled().await;
        panic!("as it must");
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_during_the_shutdown_is_no_outcome() {
    let fixture = Fixture::new();
    let folder = submitted(&fixture, Value::Null);
    let serving = MemberServer::new(folder.clone(), Arc::new(Panics));
    let serving = serving.clock(Arc::new(VirtualClock::new()));

    let left = serving
        .shutdown_signal(async {}, Duration::from_secs(5))
        .run()
        .await;

    assert_eq!(left.expect("it can be served"), ServeOutcome::Released);
    assert!(folder.outcome().expect("readable").is_none());
}

const CALL: &str = ".every(0): ";

#[tokio::test]
async fn an_interval_of_zero_is_refused_by_the_name_of_its_call() {
    let fixture = Fixture::new();
    let run = order("a", HANDLE_JOB, json!({"does": "hold"}));
    let folder = fixture.folder("a");
    folder.submit(&run).expect("writable");

    let serving = MemberServer::new(folder.clone(), HandleJob::in_folders(fixture.root()))
        .every(Duration::ZERO);
    let served = serving.run().await.expect_err("no interval");
    let handle = MemberHandle::open(folder).expect("it is there");
    let waited = handle.every(Duration::ZERO).wait().await;
    let manager = MemberManager::in_process(fixture.root(), HandleJob::in_folders(fixture.root()))
        .every(Duration::ZERO);
    let submitted = manager.submit(run, Placement::anywhere()).await;

    assert!(matches!(served, FolderError::InvalidValue(_)), "{served}");
    assert!(served.to_string().starts_with(CALL), "{served}");
    let waited = waited.expect_err("no interval");
    assert!(waited.to_string().starts_with(CALL), "{waited}");
    assert_eq!(waited.code(), "invalid_value");
    match submitted {
        Err(EngineError::Refused { reason, .. }) => assert!(reason.starts_with(CALL), "{reason}"),
        other => panic!("{other:?}"),
    }
}
