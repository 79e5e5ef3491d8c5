//! Tests how the end of a hosted run is recorded.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::engine::{HostedOutcome, HostedSession, SessionHost, SessionHostError};
use autonoe_core::event::{InstructionName, Retry};
use autonoe_core::project::{
    Journal, OpenProject, ProjectSessionHost, RunLock, RunStopReason, RunTimeline,
};
use autonoe_core::run::{JournalLine, RunLimits, RunMachine};
use autonoe_core::time::{Epoch, SessionKey};
use autonoe_core::{CostUsd, ExitReason, Mode, RunId, RunReport};
use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject, VirtualClock};
use jiff::Timestamp;
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

fn quick(name: &str) -> SessionScript {
    SessionScript::new(name)
        .says("Done.")
        .costs(CostUsd::from_cents(5))
        .ends()
}

fn run() -> RunId {
    RunId::new("shop")
}

fn report(exit: ExitReason) -> RunReport {
    let machine = RunMachine::new(RunLimits::new(Mode::Run));
    machine.report(&run(), exit, Timestamp::UNIX_EPOCH)
}

async fn attach(
    host: &ProjectSessionHost,
    number: u32,
    epoch: u64,
) -> Result<HostedOutcome, SessionHostError> {
    let key = SessionKey { run: run(), number };
    let session = HostedSession::new(InstructionName::Coding).prompt("Work.");
    let never = CancellationToken::new();
    host.attach_or_start(&key, Epoch(epoch), session, &|_| {}, never)
        .await
}

async fn conclude(host: &ProjectSessionHost, epoch: u64) -> Result<(), SessionHostError> {
    let report = report(ExitReason::AllPassed);
    host.conclude(Epoch(epoch), &report).await
}

/// Returns the recorded ends.
fn ends(project: &TempProject) -> Vec<RunReport> {
    let journal = project.journal();
    let lines = journal.entries().iter().map(|entry| &entry.line);
    lines
        .filter_map(|line| match line {
            JournalLine::RunEnded { report } => Some(report.clone()),
            _ => None,
        })
        .collect()
}

fn code(result: &Result<(), SessionHostError>) -> (&str, Retry) {
    match result {
        Err(SessionHostError::Failed { failure, .. }) => (&failure.code, failure.retry),
        result => panic!("{result:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn an_ended_run_is_not_interrupted_for_any_reader() {
    let project = TempProject::new();
    let host = host(&project, &agents([quick("one")]));
    attach(&host, 1, 1).await.expect("it runs");
    assert!(project.journal().interrupted_flow().is_some());

    let concluded = conclude(&host, 1).await;

    assert_eq!(concluded, Ok(()));
    let journal = project.journal();
    assert_eq!(
        (journal.interrupted_run(), journal.interrupted_flow()),
        (None, None)
    );
    let [history] = &journal.run_histories()[..] else {
        panic!("one run, one story");
    };
    let ended = report(ExitReason::AllPassed);
    assert_eq!(history.stop_reason(), RunStopReason::Ended(ended.clone()));
    assert_eq!(history.cost().to_string(), "$0.05");
    let timeline = RunTimeline::from_journal(&journal, &run()).expect("it is there");
    assert_eq!((timeline.sessions.len(), timeline.report), (1, Some(ended)));
}

#[tokio::test(start_paused = true)]
async fn an_end_that_is_reported_twice_is_recorded_once_and_the_first_one_wins() {
    let project = TempProject::new();
    let played = agents([quick("one")]);
    let (one, other) = (host(&project, &played), host(&project, &played));
    attach(&one, 1, 1).await.expect("it runs");
    let interrupted = report(ExitReason::Interrupted);

    let (first, second) = tokio::join!(conclude(&one, 1), conclude(&other, 1));
    let later = one.conclude(Epoch(2), &interrupted).await;

    assert_eq!((first, second, later), (Ok(()), Ok(()), Ok(())));
    assert_eq!(ends(&project), [report(ExitReason::AllPassed)]);
    // A call with nothing to record takes nothing over.
    assert_eq!(one.claim(&run()).await, Ok(Epoch(2)));
}

#[tokio::test(start_paused = true)]
async fn an_ended_run_returns_its_sessions_and_starts_none() {
    let project = TempProject::new();
    let played = agents([quick("one")]);
    let first = attach(&host(&project, &played), 1, 1).await;
    conclude(&host(&project, &played), 1)
        .await
        .expect("written");

    let second = attach(&host(&project, &played), 1, 2).await;
    let next = attach(&host(&project, &played), 2, 2).await;

    assert_eq!(second, first);
    assert_eq!(code(&next.map(drop)), ("run_ended", Retry::Permanent));
    assert_eq!(played.received().len(), 1);
    assert_eq!(ends(&project).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_overtaken_caller_records_no_end() {
    let project = TempProject::new();
    let host = host(&project, &agents([quick("one")]));
    attach(&host, 1, 5).await.expect("it runs");

    let late = conclude(&host, 4).await;

    let expected = SessionHostError::Fenced {
        requested: Epoch(4),
        latest: Epoch(5),
    };
    assert_eq!(late, Err(expected));
    assert_eq!(ends(&project), []);
}

#[tokio::test(start_paused = true)]
async fn a_run_without_a_record_needs_no_end_and_leaves_no_trace() {
    let project = TempProject::new();
    let played = agents([quick("one")]);

    let concluded = conclude(&host(&project, &played), 3).await;

    assert_eq!(concluded, Ok(()));
    for file in ["status.json", "journal.jsonl", "run.lock"] {
        let path = project.project().state_dir().join(file);
        assert!(!path.exists(), "{path:?}");
    }
    // Another existing run is not touched.
    attach(&host(&project, &played), 1, 1)
        .await
        .expect("it runs");
    let mut of_another = report(ExitReason::AllPassed);
    of_another.run = RunId::new("another");
    let concluded = host(&project, &played)
        .conclude(Epoch(1), &of_another)
        .await;
    assert_eq!((concluded, ends(&project)), (Ok(()), Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn an_end_waits_for_a_running_session_but_not_for_long() {
    let project = TempProject::new();
    let host = host(&project, &agents([quick("one")]));
    attach(&host, 1, 1).await.expect("it runs");
    let lock = RunLock::acquire(project.project(), Timestamp::UNIX_EPOCH).expect("it is free");

    let in_vain = conclude(&host, 1).await;
    let letting_go = async {
        tokio::time::sleep(Duration::from_secs(30)).await;
        drop(lock);
    };
    let (written, ()) = tokio::join!(conclude(&host, 1), letting_go);

    assert_eq!(code(&in_vain), ("project_in_use", Retry::Retryable));
    assert_eq!(written, Ok(()));
    assert_eq!(ends(&project).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_end_with_a_higher_epoch_stops_the_overtaken_session() {
    let project = TempProject::new();
    let stopped = agents([SessionScript::new("one").says("I begin.").hangs()]);
    let (older, newer) = (host(&project, &stopped), host(&project, &agents([])));
    let ending = async {
        tokio::time::sleep(Duration::from_secs(7)).await;
        conclude(&newer, 2).await
    };

    let (older, concluded) = tokio::join!(attach(&older, 1, 1), ending);

    assert!(
        matches!(older, Err(SessionHostError::Fenced { .. })),
        "{older:?}"
    );
    assert_eq!(concluded, Ok(()));
    assert_eq!((stopped.open_clients(), ends(&project).len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn an_end_is_found_in_a_rotated_journal() {
    let project = TempProject::new();
    let played = agents([quick("one")]);
    attach(&host(&project, &played), 1, 1)
        .await
        .expect("it runs");
    let moved = project.project().journal_path().with_extension("1.jsonl");
    std::fs::rename(project.project().journal_path(), moved).expect("it is there");

    for _ in 0..2 {
        conclude(&host(&project, &played), 1)
            .await
            .expect("written");
    }

    let all = Journal::read_all(project.project()).expect("readable");
    assert_eq!(all.interrupted_flow(), None);
    assert_eq!(ends(&project).len(), 1);
    let next = attach(&host(&project, &played), 2, 1).await;
    assert_eq!(code(&next.map(drop)).0, "run_ended");
}
