//! Hosted sessions, for an engine that may call twice, late, or from two places.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use autonoe_core::agent::SessionEnd;
use autonoe_core::engine::{
    HostedOutcome, HostedSession, RunProgress, SessionHost, SessionHostError,
};
use autonoe_core::event::InstructionName;
use autonoe_core::gate::policy::Destructive;
use autonoe_core::ledger::LedgerView;
use autonoe_core::project::{FileDeliverableRepository, OpenProject, ProjectSessionHost, RunLock};
use autonoe_core::run::{JournalLine, RunAction, RunFact, RunLimits, RunMachine};
use autonoe_core::time::{Epoch, SessionKey};
use autonoe_core::{Budget, CostUsd, DeliverableRepository, Mode, RunId};
use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject, VirtualClock};
use jiff::Timestamp;
use serde_json::json;
use tokio_util::sync::CancellationToken;

fn host(project: &TempProject, agents: &Arc<ScriptedBackend>) -> ProjectSessionHost {
    ProjectSessionHost::new(
        OpenProject::options(project.project()).clock(Arc::new(VirtualClock::new())),
        agents.clone(),
    )
}

fn agents(scripts: impl IntoIterator<Item = SessionScript>) -> Arc<ScriptedBackend> {
    Arc::new(ScriptedBackend::new(scripts))
}

fn key(number: u32) -> SessionKey {
    SessionKey {
        run: RunId::new("shop"),
        number,
    }
}

fn session() -> HostedSession {
    HostedSession::new(InstructionName::Coding).prompt("Work.")
}

fn quick(name: &str) -> SessionScript {
    SessionScript::new(name)
        .says("Done.")
        .costs(CostUsd::from_cents(5))
        .ends()
}

fn slow(name: &str) -> SessionScript {
    SessionScript::new(name)
        .says("I begin.")
        .waits(Duration::from_secs(60))
        .costs(CostUsd::from_cents(5))
        .ends()
}

async fn attach(
    host: &ProjectSessionHost,
    number: u32,
    epoch: u64,
) -> Result<HostedOutcome, SessionHostError> {
    let never = CancellationToken::new();
    host.attach_or_start(&key(number), Epoch(epoch), session(), &|_| {}, never)
        .await
}

fn records(project: &TempProject) -> usize {
    let journal = project.journal();
    let lines = journal.entries().iter().map(|entry| &entry.line);
    lines
        .filter(|line| matches!(line, JournalLine::SessionEnded { .. }))
        .count()
}

async fn ledger_epoch(project: &TempProject) -> Option<Epoch> {
    let ledger = FileDeliverableRepository::open(project.project()).expect("it can be opened");
    let found = ledger.load().await.expect("it can be read");
    found.map(|found| found.epoch)
}

#[tokio::test(start_paused = true)]
async fn a_session_with_a_recorded_outcome_is_not_rerun() {
    let project = TempProject::new();
    let played = agents([quick("one"), quick("two")]);
    let first = attach(&host(&project, &played), 1, 1)
        .await
        .expect("it runs");

    // Another process with another object.
    let second = attach(&host(&project, &played), 1, 1).await;

    assert_eq!(second.expect("it is recorded"), first);
    assert_eq!(played.received().len(), 1);
    let next = attach(&host(&project, &played), 2, 1)
        .await
        .expect("it runs");
    assert!(next.result.end.is_completed());
    assert_eq!(records(&project), 2);
    played.verify();
}

/// Passes A, which is in the ledger of the project.
fn passes() -> SessionScript {
    let passed = json!({"deliverableId": "A", "status": "passed"});
    SessionScript::new("passes").uses_tool("mcp__autonoe__set_status", passed)
}

fn with_ledger() -> TempProject {
    TempProject::new().status(json!({"deliverables": [
        {"id": "A", "description": "Login", "acceptanceCriteria": ["it works"],
         "passed": false, "blocked": false},
    ]}))
}

#[tokio::test(start_paused = true)]
async fn no_session_begins_a_new_ledger_when_the_one_of_the_journal_is_missing() {
    let project = with_ledger();
    let played = agents([passes().ends()]);
    attach(&host(&project, &played), 1, 1)
        .await
        .expect("it runs");
    std::fs::remove_file(project.project().status_path()).expect("ours");

    let refused = attach(&host(&project, &played), 2, 1).await;

    let Err(SessionHostError::Failed { failure, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(failure.code, "ledger_missing");
    assert_eq!(project.ledger(), None);
}

#[tokio::test(start_paused = true)]
async fn an_engine_gets_the_restored_ledger_after_a_session() {
    let project = with_ledger();
    let path = project.project().status_path();
    let reverts = move |_: &std::path::Path| std::fs::write(&path, "{}").expect("writable");
    let played = agents([passes().performs(reverts).ends()]);

    let outcome = attach(&host(&project, &played), 1, 1)
        .await
        .expect("it runs");

    let ledger = outcome.ledger.expect("readable");
    assert_eq!((ledger.counts.passed, ledger.counts.total), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_recorded_outcome_that_was_never_returned_is_returned_to_the_next_caller() {
    const TRIES: usize = 200;
    // Between the record and the report only a file is read, so some tries are too late.
    for _ in 0..TRIES {
        let project = TempProject::new();
        let played = agents([quick("one")]);
        let host = host(&project, &played);
        let was_reported = {
            let mut attaching = pin!(attach(&host, 1, 1));
            let killed = poll_fn(|context| match attaching.as_mut().poll(context) {
                Poll::Ready(_) => Poll::Ready(true),
                Poll::Pending if records(&project) > 0 => Poll::Ready(false),
                Poll::Pending => Poll::Pending,
            });
            killed.await
        };

        let outcome = attach(&host, 1, 1).await.expect("it is recorded");

        assert!(outcome.result.end.is_completed());
        assert_eq!(outcome.lost, 0);
        assert_eq!((played.received().len(), records(&project)), (1, 1));
        if !was_reported {
            return;
        }
    }
    panic!("it was told before it could be killed, {TRIES} times");
}

#[tokio::test(start_paused = true)]
async fn an_unfinished_session_is_rerun_under_its_number() {
    let project = TempProject::new();
    let left = agents([SessionScript::new("one").says("I begin.").hangs()]);
    let host_that_dies = host(&project, &left);
    let leaving =
        tokio::time::timeout(Duration::from_secs(30), attach(&host_that_dies, 1, 1)).await;
    assert!(leaving.is_err());
    assert_eq!(records(&project), 0);

    let played = agents([quick("one")]);
    let outcome = attach(&host(&project, &played), 1, 2)
        .await
        .expect("it runs");

    assert!(outcome.result.end.is_completed());
    assert_eq!(outcome.lost, 1);
    let second = attach(&host(&project, &played), 1, 2).await;
    assert_eq!(second, Ok(outcome));
    assert_eq!((left.received().len(), played.received().len()), (1, 1));
    let journal = project.journal();
    assert!(journal.session_result(&key(1)).is_some());
    let [history] = &journal.run_histories()[..] else {
        panic!("one run, one story");
    };
    // The cost of the lost session is unknown, and counted as such.
    assert_eq!(history.cost().unknown_parts, 1);
}

#[tokio::test(start_paused = true)]
async fn a_caller_with_an_older_epoch_is_refused() {
    let project = TempProject::new();
    let played = agents([quick("one")]);
    let host = host(&project, &played);
    attach(&host, 1, 5).await.expect("it runs");

    let late = attach(&host, 2, 4).await;

    let expected = SessionHostError::Fenced {
        requested: Epoch(4),
        latest: Epoch(5),
    };
    assert_eq!(late, Err(expected));
    assert_eq!(played.received().len(), 1);
    assert_eq!(host.claim(&key(1).run).await, Ok(Epoch(6)));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_cancelled_ends_and_stays_cancelled() {
    let project = TempProject::new();
    let played = agents([SessionScript::new("one").says("I begin.").hangs()]);
    let host = host(&project, &played);
    let cancelled = CancellationToken::new();
    let (key, beat) = (key(1), |_| {});
    let running = host.attach_or_start(&key, Epoch(1), session(), &beat, cancelled.clone());
    let cancelling = async {
        tokio::time::sleep(Duration::from_secs(20)).await;
        cancelled.cancel();
    };

    let (outcome, ()) = tokio::join!(running, cancelling);

    assert_eq!(outcome.expect("recorded").result.end, SessionEnd::Cancelled);
    assert_eq!((played.open_clients(), played.disposed()), (0, 1));
    let second = attach(&host, 1, 1).await.expect("recorded");
    assert_eq!(second.result.end, SessionEnd::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn a_session_cancelled_before_its_start_can_be_retried() {
    let project = TempProject::new();
    let played = agents([quick("one")]);
    let host = host(&project, &played);
    let cancelled = CancellationToken::new();
    cancelled.cancel();

    let outcome = host
        .attach_or_start(&key(1), Epoch(1), session(), &|_| {}, cancelled)
        .await;

    assert_eq!(outcome, Err(SessionHostError::Cancelled(key(1))));
    assert_eq!(played.received().len(), 0);
    attach(&host, 1, 1).await.expect("it runs");
}

#[tokio::test(start_paused = true)]
async fn two_hosts_run_the_same_session_once() {
    let project = TempProject::new();
    let played = agents([slow("one")]);
    let (one, other) = (host(&project, &played), host(&project, &played));

    let (one, other) = tokio::join!(attach(&one, 1, 1), attach(&other, 1, 1));

    assert_eq!(one.expect("it runs"), other.expect("it is waited for"));
    assert_eq!(played.received().len(), 1);
    assert_eq!(records(&project), 1);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_overtaken_in_a_session_stops_and_records_nothing() {
    let project = TempProject::new();
    let stopped = agents([SessionScript::new("one").says("I begin.").hangs()]);
    let played = agents([quick("one")]);
    let (older, newer) = (host(&project, &stopped), host(&project, &played));
    let taking_over = async {
        tokio::time::sleep(Duration::from_secs(7)).await;
        attach(&newer, 1, 2).await
    };

    let (older, newer) = tokio::join!(attach(&older, 1, 1), taking_over);

    let expected = SessionHostError::Fenced {
        requested: Epoch(1),
        latest: Epoch(2),
    };
    assert_eq!(older, Err(expected));
    assert!(newer.expect("it runs").result.end.is_completed());
    assert_eq!((stopped.open_clients(), stopped.disposed()), (0, 1));
    assert_eq!(records(&project), 1);
    assert_eq!(ledger_epoch(&project).await, Some(Epoch(2)));
}

#[tokio::test(start_paused = true)]
async fn an_overtaken_host_does_not_change_the_ledger() {
    let project = TempProject::new();
    let create = json!({"deliverables": [
        {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["it works"]},
    ]});
    let overtaken = agents([
        // Shorter than the interval of takeover checks: only the fence stops it.
        SessionScript::new("one")
            .says("I begin.")
            .waits(Duration::from_secs(4))
            .fails_tool("mcp__autonoe__create", create)
            .ends(),
    ]);
    let next = agents([quick("one")]);
    let (older, newer) = (host(&project, &overtaken), host(&project, &next));
    let plan = HostedSession::new(InstructionName::Initializer).prompt("Plan.");
    let (first, beat) = (key(1), |_: RunProgress| {});
    let planning = older.attach_or_start(&first, Epoch(1), plan, &beat, CancellationToken::new());
    let taking_over = async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        attach(&newer, 1, 2).await
    };

    let (older, newer) = tokio::join!(planning, taking_over);

    assert!(
        matches!(older, Err(SessionHostError::Fenced { .. })),
        "{older:?}"
    );
    let newer = newer.expect("it runs");
    assert_eq!(newer.ledger.expect("readable").counts.total, 0);
    assert_eq!(records(&project), 1);
}

#[tokio::test(start_paused = true)]
async fn a_host_sends_heartbeats_while_it_works_and_waits() {
    let project = TempProject::new();
    let played = agents([slow("one")]);
    let host = host(&project, &played);
    let lock = RunLock::acquire(project.project(), Timestamp::UNIX_EPOCH).expect("it is free");
    let beats = Mutex::new(Vec::new());
    let (key, beat) = (key(1), |at: RunProgress| {
        beats.lock().expect("whole").push(at);
    });
    let never = CancellationToken::new();
    let running = host.attach_or_start(&key, Epoch(1), session(), &beat, never);
    let letting_go = async {
        tokio::time::sleep(Duration::from_secs(10)).await;
        drop(lock);
    };

    let (outcome, ()) = tokio::join!(running, letting_go);

    let outcome = outcome.expect("it runs");
    assert_eq!(
        outcome.result.duration,
        Duration::from_secs(60),
        "{outcome:?}"
    );
    let beats = beats.into_inner().expect("whole");
    let (waiting, working): (Vec<_>, Vec<_>) = beats.iter().partition(|at| at.iteration == 0);
    assert!(waiting.len() >= 10, "{} beats", waiting.len());
    assert!(working.len() >= 10, "{} beats", working.len());
    assert!(working.iter().all(|at| at.iteration == 1));
}

#[tokio::test(start_paused = true)]
async fn a_session_receives_its_text_messages_and_budget() {
    let project = TempProject::new().instruction(&InstructionName::Coding, "Build it.");
    let played = agents([SessionScript::new("one")
        .expects_in_prompt("Build it.")
        .expects_in_prompt("The tests come first.")
        .uses_tokens(
            autonoe_core::agent::TokenUsage {
                input: 200,
                ..Default::default()
            },
            Some(CostUsd::from_cents(1)),
        )
        .hangs()]);
    let host = host(&project, &played);
    let session = HostedSession::new(InstructionName::Coding)
        .message("The tests come first.")
        .budget(Budget::default().with_tokens(100));
    let never = CancellationToken::new();

    let outcome = host
        .attach_or_start(&key(1), Epoch(1), session, &|_| {}, never)
        .await;

    let end = outcome.expect("recorded").result.end;
    assert!(matches!(end, SessionEnd::BudgetSpent { .. }), "{end:?}");
    played.verify();
}

#[tokio::test(start_paused = true)]
async fn a_journal_that_cannot_be_read_starts_nothing() {
    let project = TempProject::new().file(".autonoe/journal.jsonl", "no line of ours\n");
    let played = agents([]);

    let outcome = attach(&host(&project, &played), 1, 1).await;

    assert!(
        matches!(outcome, Err(SessionHostError::Failed { .. })),
        "{outcome:?}"
    );
    assert_eq!(played.received().len(), 0);
    assert_eq!(project.read(".autonoe/journal.jsonl"), "no line of ours\n");
}

#[tokio::test(start_paused = true)]
async fn the_ledger_can_be_read_without_a_session() {
    let project = TempProject::new();
    let host = host(&project, &agents([]));
    assert_eq!(
        host.ledger_view(&key(1).run).await,
        Ok(LedgerView::default())
    );

    let deliverable = |id: &str, passed: bool| {
        json!({"id": id, "description": "A thing", "acceptanceCriteria": ["It is there"],
            "passed": passed, "blocked": false})
    };
    let status =
        json!({"deliverables": [deliverable("DL-001", true), deliverable("DL-002", false)]});
    let project = TempProject::new().status(status);
    let host = self::host(&project, &agents([]));
    let found = host.ledger_view(&key(1).run).await.expect("it can be read");

    assert_eq!((found.counts.passed, found.counts.total), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_cannot_be_read_is_no_empty_one() {
    let project = TempProject::new().file(".autonoe/status.json", "no ledger of ours\n");
    let host = host(&project, &agents([]));

    let found = host.ledger_view(&key(1).run).await;

    assert!(found.is_err(), "{found:?}");
}

#[tokio::test(start_paused = true)]
async fn agents_delete_files_only_where_they_may() {
    let delete = || json!({"command": "rm old.txt"});
    for (destructive, script) in [
        (
            Destructive::Forbidden,
            SessionScript::new("one").is_denied_by("bash-security", "Bash", delete()),
        ),
        (
            Destructive::Allowed,
            SessionScript::new("one").uses_tool("Bash", delete()),
        ),
    ] {
        let project = TempProject::new().file("old.txt", "old\n");
        let played = agents([script.ends()]);
        let options = OpenProject::options(project.project())
            .clock(VirtualClock::new())
            .destructive(destructive);
        let host = ProjectSessionHost::new(options, played.clone());

        let outcome = attach(&host, 1, 1).await;

        assert!(outcome.expect("it runs").result.end.is_completed());
        played.verify();
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_of_a_sync_run_is_refused_by_a_host_for_run_mode() {
    let project = TempProject::new();
    let played = Arc::new(ScriptedBackend::new([]));
    let mut machine = RunMachine::new(RunLimits::new(Mode::Sync));
    let ledger = LedgerView::default();
    let action = machine.apply(RunFact::Started {
        at: Timestamp::UNIX_EPOCH,
        ledger,
    });
    let RunAction::StartSession(plan) = &action else {
        panic!("no session: {action:?}")
    };
    let session = HostedSession::from(plan).prompt("Work.");

    let never = CancellationToken::new();
    let host = host(&project, &played);
    let attached = host
        .attach_or_start(&key(1), Epoch(1), session, &|_| {}, never)
        .await;

    let Err(SessionHostError::Failed { failure, .. }) = attached else {
        panic!("it is refused: {attached:?}")
    };
    assert_eq!(failure.code, "wrong_mode");
    assert_eq!(
        failure.remedy.as_deref(),
        Some("start the session host with mode sync")
    );
    assert!(played.received().is_empty());
    assert_eq!(records(&project), 0);
}
