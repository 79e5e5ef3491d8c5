//! Sessions without progress in interrupted runs.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::run::{JournalLine, RecordedRun, RunAction, WorkspaceSnapshot};
use autonoe_core::{ExitReason, Mode, ProjectRun, RunControl};
use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject};

use super::{create, run};

fn idles() -> SessionScript {
    SessionScript::new("idles").says("I looked around.").ends()
}

fn unchanged(run: ProjectRun) -> ProjectRun {
    let workspace = || Ok(WorkspaceSnapshot::new("unchanged"));
    run.configure(move |runner| runner.workspace(Arc::new(workspace)))
}

#[tokio::test(start_paused = true)]
async fn the_count_continues_after_an_interruption_and_a_replay_reaches_the_same_end() {
    let project = TempProject::new();
    let plans = SessionScript::new("plans")
        .uses_tool("mcp__autonoe__create", create(&["A"]))
        .ends();
    let hangs = SessionScript::new("hangs").says("working").hangs();
    let first = ScriptedBackend::new([plans, idles(), idles(), idles(), hangs]).unverified();
    {
        let control = RunControl::new();
        let run = unchanged(run(&project, first)).run(&control);
        let interrupted = tokio::time::timeout(Duration::from_secs(60), run).await;
        assert!(interrupted.is_err(), "it hangs");
    }

    let second =
        ScriptedBackend::resuming_at(4, [idles(), idles(), idles(), idles(), idles(), idles()]);
    let report = unchanged(run(&project, second.unverified()))
        .run(&RunControl::new())
        .await
        .expect("it starts");

    let exit = ExitReason::Stalled {
        sessions: 5,
        mode: Mode::Run,
    };
    assert_eq!((&report.exit, report.sessions), (&exit, 6));
    let journal = project.journal();
    assert_eq!(
        journal.run_histories()[0].stop_reason().to_string(),
        "it ended: the last 5 sessions changed nothing: no deliverable, no commit, no file"
    );
    // Without its last line, the run looks as if it had been killed before its end was recorded.
    let lines = journal.entries().iter().map(|entry| &entry.line);
    let lines = lines.filter(|line| !matches!(line, JournalLine::RunEnded { .. }));
    let replayed = RecordedRun::replay(report.run, lines).expect("it did not end");
    assert_eq!(replayed.interrupted_action(), RunAction::Finish { exit });
}
