//! Foreign changes of the ledger between the sessions of a hosted run.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use autonoe_core::engine::{HostedOutcome, HostedSession, SessionHost, SessionHostError};
use autonoe_core::event::{Failure, InstructionName};
use autonoe_core::ledger::LedgerView;
use autonoe_core::project::{OpenProject, ProjectSessionHost};
use autonoe_core::run::{JournalLine, RunLimits, RunMachine};
use autonoe_core::time::{Epoch, SessionKey};
use autonoe_core::{ExitReason, Mode, RunEvent, RunEventKind, RunId};
use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject, VirtualClock};
use jiff::Timestamp;
use serde_json::json;
use tokio_util::sync::CancellationToken;

fn run() -> RunId {
    RunId::new("shop")
}

fn host(project: &TempProject, agents: &Arc<ScriptedBackend>) -> ProjectSessionHost {
    ProjectSessionHost::new(
        OpenProject::options(project.project()).clock(Arc::new(VirtualClock::new())),
        agents.clone(),
    )
}

fn agents(scripts: impl IntoIterator<Item = SessionScript>) -> Arc<ScriptedBackend> {
    Arc::new(ScriptedBackend::new(scripts))
}

async fn attach(host: &ProjectSessionHost, number: u32) -> Result<HostedOutcome, SessionHostError> {
    let key = SessionKey { run: run(), number };
    let session = HostedSession::new(InstructionName::Coding).prompt("Work.");
    let never = CancellationToken::new();
    host.attach_or_start(&key, Epoch(1), session, &|_| {}, never)
        .await
}

/// Passes A.
fn passes() -> SessionScript {
    let passed = json!({"deliverableId": "A", "status": "passed"});
    SessionScript::new("passes A")
        .uses_tool("mcp__autonoe__set_status", passed)
        .ends()
}

/// Leaves the ledger unchanged.
fn idles(name: &str) -> SessionScript {
    SessionScript::new(name).says("Done.").ends()
}

/// Returns a ledger of A and B.
fn ledger(passed: [bool; 2]) -> String {
    let one = |id, passed| {
        json!({"id": id, "description": "a thing", "acceptanceCriteria": ["it works"],
            "passed": passed, "blocked": false})
    };
    json!({"deliverables": [one("A", passed[0]), one("B", passed[1])], "epoch": 1}).to_string()
}

fn status(project: &TempProject) -> PathBuf {
    project.project().status_path()
}

fn failure(attached: Result<HostedOutcome, SessionHostError>) -> Failure {
    match attached {
        Err(SessionHostError::Failed { failure, .. }) => failure,
        other => panic!("{other:?}"),
    }
}

fn code(read: Result<LedgerView, Failure>) -> String {
    read.expect_err("the ledger is not that of the run").code
}

/// Returns the initial ledger, the first session, and the ledger that is forged after it.
fn forgeries() -> [(&'static str, Option<String>, SessionScript, String); 4] {
    let pending = || Some(ledger([false, false]));
    let forged = || ledger([true, true]);
    [
        ("all passed after a pass", pending(), passes(), forged()),
        (
            "the pass taken away",
            pending(),
            passes(),
            ledger([false, false]),
        ),
        (
            "all passed after no change",
            pending(),
            idles("idles"),
            forged(),
        ),
        (
            "a plan that no session made",
            None,
            idles("idles"),
            forged(),
        ),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_was_forged_between_two_sessions_is_refused_and_left_alone() {
    for (case, before, script, forged) in forgeries() {
        let project = TempProject::new();
        let project = match before {
            Some(before) => project.status(before),
            None => project,
        };
        let played = agents([script]);
        let host = host(&project, &played);
        let first = attach(&host, 1).await.expect("it runs");
        assert!(first.ledger.is_ok(), "{case}: {first:?}");
        fs::write(status(&project), &forged).expect("writable");

        let recorded = attach(&host, 1).await.expect("it is recorded");
        let view = host.ledger_view(&run()).await;
        let next = failure(attach(&host, 2).await);

        assert_eq!(code(recorded.ledger), "ledger_foreign_change", "{case}");
        assert_eq!(code(view), "ledger_foreign_change", "{case}");
        assert_eq!(next.code, "ledger_foreign_change", "{case}");
        assert!(next.message.contains("start another"), "{case}: {next}");
        assert_eq!(played.received().len(), 1, "{case}: no session started");
        let found = fs::read_to_string(status(&project)).expect("there");
        assert_eq!(found, forged, "{case}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_is_forged_right_after_the_session_is_not_its_outcome() {
    let project = TempProject::new().status(ledger([false, false]));
    let path = status(&project);
    let played = agents([passes()]);
    let host = host(&project, &played).configure(move |runner| {
        let path = path.clone();
        runner.observer(Arc::new(move |event: &RunEvent<'_>| {
            // The session has compared its ledger before it emits this event.
            if let RunEventKind::SessionEnded { .. } = event.kind {
                fs::write(&path, ledger([true, true])).expect("writable");
            }
        }))
    });

    let outcome = attach(&host, 1).await.expect("it is recorded");

    assert!(outcome.result.end.is_completed(), "{outcome:?}");
    assert_eq!(code(outcome.ledger), "ledger_foreign_change");
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_was_removed_between_two_sessions_is_an_error_and_not_zero_of_zero() {
    for script in [passes(), idles("idles")] {
        let project = TempProject::new().status(ledger([false, false]));
        let played = agents([script]);
        let host = host(&project, &played);
        attach(&host, 1).await.expect("it runs");
        fs::remove_file(status(&project)).expect("ours");

        let view = host.ledger_view(&run()).await;
        let recorded = failure(attach(&host, 1).await);
        let next = failure(attach(&host, 2).await);

        assert_eq!(code(view), "ledger_missing");
        assert_eq!(
            (recorded.code, next.code.as_str()),
            ("ledger_missing".into(), "ledger_missing")
        );
        assert!(next.message.contains("status.json is missing"), "{next}");
        assert_eq!(project.ledger(), None, "no new one was created");
    }
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_is_removed_right_after_the_session_is_an_error() {
    // Its deliverables are not in the journal: it has none.
    let project = TempProject::new();
    let path = status(&project);
    let played = agents([idles("idles")]);
    let host = host(&project, &played).configure(move |runner| {
        let path = path.clone();
        runner.observer(Arc::new(move |event: &RunEvent<'_>| {
            if let RunEventKind::SessionEnded { .. } = event.kind {
                fs::remove_file(&path).expect("ours");
            }
        }))
    });

    let failed = attach(&host, 1).await;

    let ledger = match failed {
        Ok(outcome) => outcome.ledger,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(code(ledger), "ledger_missing");
}

#[tokio::test(start_paused = true)]
async fn an_edit_before_the_first_session_is_accepted_and_recorded() {
    let project = TempProject::new().status(ledger([false, false]));
    let earlier = agents([passes()]);
    attach(&host(&project, &earlier), 1).await.expect("it runs");
    let machine = RunMachine::new(RunLimits::new(Mode::Run));
    let report = machine.report(&run(), ExitReason::Interrupted, Timestamp::UNIX_EPOCH);
    let first = host(&project, &earlier);
    first.conclude(Epoch(1), &report).await.expect("it is open");
    fs::write(status(&project), ledger([true, true])).expect("writable");

    let view = first.ledger_view(&run()).await.expect("the run has ended");
    let played = agents([idles("idles")]);
    let key = SessionKey {
        run: RunId::new("next"),
        number: 1,
    };
    let session = HostedSession::new(InstructionName::Coding).prompt("Work.");
    let never = CancellationToken::new();
    let next = host(&project, &played)
        .attach_or_start(&key, Epoch(2), session, &|_| {}, never)
        .await
        .expect("it runs");

    assert_eq!(view.counts.passed, 2);
    assert_eq!(next.ledger.expect("it is accepted").counts.passed, 2);
    let journal = project.journal();
    let lines = journal.entries().iter().map(|entry| &entry.line);
    let edits = lines.filter(|line| matches!(line, JournalLine::LedgerEdited { .. }));
    assert_eq!(edits.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn sessions_that_change_the_ledger_follow_each_other() {
    let project = TempProject::new().status(ledger([false, false]));
    let fails = json!({"deliverableId": "A", "status": "pending"});
    let resets = SessionScript::new("resets A")
        .uses_tool("mcp__autonoe__set_status", fails)
        .ends();
    let played = agents([passes(), resets, idles("idles"), passes()]);
    let host = host(&project, &played);

    let mut passed = Vec::new();
    for number in 1..=4 {
        let outcome = attach(&host, number).await.expect("it runs");
        passed.push(outcome.ledger.expect("it is that of the run").counts.passed);
    }

    assert_eq!(passed, [1, 0, 0, 1]);
}
