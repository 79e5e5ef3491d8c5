//! Ownership of the ledger: from the run lock to its release, in each run of a runner.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::ledger::{LedgerStore, RepositoryErrorKind};
use autonoe_core::project::{OpenProject, ProjectInstructions};
use autonoe_core::run::{FlowExit, JournalLine, SessionRunnerBuilder};
use autonoe_core::session::{FlowStart, OpenSessions};
use autonoe_core::{DeliverableStatus, ExitReason, ProjectRun, RunControl, SessionRunner};
use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject, VirtualClock};
use serde_json::{Value, json};

/// Returns a ledger of A and B.
fn ledger(passed: bool, epoch: u64) -> String {
    let one = |id| {
        json!({"id": id, "description": "a thing", "acceptanceCriteria": ["it works"],
            "passed": passed, "blocked": false})
    };
    json!({"deliverables": [one("A"), one("B")], "epoch": epoch}).to_string()
}

fn planned() -> TempProject {
    TempProject::new().status(ledger(false, 1))
}

fn status(project: &TempProject) -> PathBuf {
    project.project().status_path()
}

fn passed(id: &str) -> Value {
    json!({"deliverableId": id, "status": "passed"})
}

/// Returns the names of kept ledgers.
fn saved_copies(project: &TempProject) -> Vec<String> {
    let entries = fs::read_dir(project.project().state_dir()).expect("there");
    let names = entries.map(|entry| entry.expect("readable").file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    let mut saved_copies: Vec<_> = names
        .filter(|name| name.starts_with("status.foreign") || name.starts_with("status.fenced"))
        .collect();
    saved_copies.sort();
    saved_copies
}

async fn open_project(project: &TempProject) -> OpenProject {
    let options = OpenProject::options(project.project());
    options.open().await.expect("the lock is free")
}

async fn open(open_project: &OpenProject) -> OpenSessions {
    let agents = Arc::new(ScriptedBackend::new([]));
    let sessions = open_project
        .start(agents)
        .expect("writable")
        .build_sessions();
    let opened = sessions
        .expect("complete")
        .open(FlowStart::new("tidy"), &RunControl::new())
        .await;
    opened.expect("it begins")
}

#[tokio::test]
async fn ledger_store_is_unusable_after_the_run_lock_is_released() {
    let project = planned();
    let open_project = open_project(&project).await;
    let open = open(&open_project).await;
    let store: LedgerStore = open.ledger_store().expect("there is a ledger").clone();
    assert!(store.read().await.is_ok());
    drop((open, open_project));
    // The operator edits the ledger between two runs.
    fs::write(status(&project), ledger(true, 2)).expect("writable");

    let read = store.read().await.expect_err("the lock is released");
    let updated = store
        .update(|state, today| state.ledger.create([], today).map(drop))
        .await;

    assert_eq!(read.kind(), RepositoryErrorKind::Fenced);
    assert!(read.to_string().contains("released"), "{read}");
    assert!(updated.is_err());
    let found = fs::read_to_string(status(&project)).expect("there");
    assert_eq!(found, ledger(true, 2));
    assert_eq!(saved_copies(&project), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_vanishes_before_the_takeover_is_an_error_and_no_fresh_start() {
    let project = planned();
    let open_project = open_project(&project).await;
    fs::remove_file(status(&project)).expect("ours");
    let instructions = ProjectInstructions::new(project.project().state_dir());
    let runner = open_project
        .start(Arc::new(ScriptedBackend::new([])))
        .expect("writable")
        .clock(Arc::new(VirtualClock::new()))
        .instructions(Arc::new(instructions))
        .build()
        .expect("complete");

    let report = runner.run(&RunControl::new()).await;

    let ExitReason::Failed { error } = &report.exit else {
        panic!("{report:?}");
    };
    assert_eq!(error.code, "ledger_missing");
    assert!(error.message.contains("status.json is missing"), "{error}");
    assert!(!status(&project).exists(), "no new one was created");
    assert_eq!(project.journal_text(), "");
}

/// Returns the number of edits between runs in the journal.
fn edits(project: &TempProject) -> usize {
    let journal = project.journal();
    let lines = journal.entries().iter().map(|entry| &entry.line);
    lines
        .filter(|line| matches!(line, JournalLine::LedgerEdited { .. }))
        .count()
}

/// Runs until the first session has ended.
async fn run_once(runner: SessionRunnerBuilder, open_project: &OpenProject) -> SessionRunner {
    let instructions = ProjectInstructions::new(open_project.project().state_dir());
    let runner = runner
        .clock(Arc::new(VirtualClock::new()))
        .instructions(Arc::new(instructions))
        .max_iterations(1)
        .build()
        .expect("complete");
    runner.run(&RunControl::new()).await;
    runner
}

#[tokio::test(start_paused = true)]
async fn each_run_of_a_runner_compares_the_ledger_with_the_journal_as_it_is_then() {
    let project = planned();
    let idles = SessionScript::new("idles").says("ok").ends();
    let first = open_project(&project).await;
    let agents = Arc::new(ScriptedBackend::new([idles]));
    run_once(first.start(agents).expect("writable"), &first).await;
    drop(first);
    let open_project = open_project(&project).await;
    let passes = SessionScript::new("passes")
        .uses_tool("mcp__autonoe__set_status", passed("A"))
        .uses_tool("mcp__autonoe__set_status", passed("B"))
        .ends();
    let agents = Arc::new(ScriptedBackend::new([passes]));
    let runner = run_once(open_project.start(agents).expect("writable"), &open_project).await;

    let second = runner.run(&RunControl::new()).await;

    assert_eq!((second.exit, second.sessions), (ExitReason::AllPassed, 0));
    assert_eq!(edits(&project), 0, "the runner itself changed the ledger");

    fs::write(status(&project), ledger(true, 2)).expect("writable");
    let third = runner.run(&RunControl::new()).await;

    assert_eq!((third.exit, third.sessions), (ExitReason::AllPassed, 0));
    assert_eq!(edits(&project), 1);
}

#[tokio::test(start_paused = true)]
async fn a_replaced_lock_file_beside_a_forged_ledger_stops_the_run_and_loses_no_ledger() {
    let project = planned();
    let replaces = |project: &Path| {
        let lock = project.join(".autonoe/run.lock");
        fs::remove_file(&lock).expect("ours");
        fs::write(&lock, "").expect("writable");
        fs::write(project.join(".autonoe/status.json"), ledger(true, 7)).expect("writable");
    };
    let script = SessionScript::new("is interfered with")
        .uses_tool("mcp__autonoe__set_status", passed("A"))
        .performs(replaces)
        .fails_tool("mcp__autonoe__list", json!({}))
        .fails_tool("mcp__autonoe__set_status", passed("B"))
        .hangs();
    // The run may end before the agent makes its last call.
    let agents = ScriptedBackend::new([script]).unverified();
    let run = ProjectRun::new(
        OpenProject::options(project.project()).clock(Arc::new(VirtualClock::new())),
        agents,
    );

    let report = run.run(&RunControl::new()).await.expect("it starts");

    let ExitReason::Failed { error } = &report.exit else {
        panic!("{report:?}");
    };
    assert_eq!(error.code, "ledger_fenced");
    assert!(error.message.contains("status.fenced-1.json"), "{error}");
    let found = fs::read_to_string(status(&project)).expect("there");
    assert_eq!(found, ledger(true, 7), "it may be that of another run");
    assert_eq!(saved_copies(&project), ["status.fenced-1.json"]);
    // The acknowledged ledger of the run can be restored.
    let own = project.read(".autonoe/status.fenced-1.json");
    let project = project.status(own);
    let ledger = project.ledger().expect("a valid ledger").ledger;
    let statuses = ledger.deliverables().iter().map(|one| one.status());
    let expected = [DeliverableStatus::Passed, DeliverableStatus::Pending];
    assert_eq!(statuses.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn an_unchanged_ledger_is_read_while_another_process_keeps_the_write_lock() {
    let project = planned();
    let open_project = open_project(&project).await;
    let open = open(&open_project).await;
    let lock = project.project().state_dir().join("status.lock");
    let lock = File::options().append(true).open(lock).expect("there");
    lock.lock().expect("it is free");

    let reading = tokio::time::timeout(Duration::from_secs(60), open.ledger()).await;

    let view = reading.expect("it does not wait for the lock");
    assert_eq!(view.expect("readable").expect("there").counts.total, 2);
    drop(lock);
    open.close(FlowExit::Completed, json!({}));
}
