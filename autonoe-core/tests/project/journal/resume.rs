//! Selection of the run to resume, and its continuation.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::agent::Activity;
use autonoe_core::project::{NextAction, RunPreview, RunTimeline, SandboxSwitch};
use autonoe_core::run::{Durability, JournalError, JournalLine, RunJournal};
use autonoe_core::{ExitReason, Mode, RunControl, RunId};
use autonoe_testkit::{ScriptedBackend, TempProject};
use jiff::Timestamp;

use super::{run, scripts, whole_run};

#[tokio::test(start_paused = true)]
async fn a_finished_run_is_not_resumed() {
    let project = TempProject::new();
    whole_run(&project).await;

    assert_eq!(project.journal().interrupted_run(), None);
}

/// A journal that refuses every line.
struct Refuses;

impl RunJournal for Refuses {
    fn append(
        &self,
        _: &RunId,
        _: Timestamp,
        _: &JournalLine,
        _: Durability,
    ) -> Result<(), JournalError> {
        Err(JournalError::new("there is no room"))
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_interrupted_before_its_first_line_starts_from_scratch() {
    let project = TempProject::new();
    let broken = run(&project, ScriptedBackend::new([]))
        .configure(|runner| runner.journal(Arc::new(Refuses)))
        .run(&RunControl::new())
        .await
        .expect("it starts");
    assert!(
        matches!(broken.exit, ExitReason::Failed { .. }),
        "{broken:?}"
    );

    assert_eq!(project.journal().interrupted_run(), None);
    let report = whole_run(&project).await;

    assert_eq!((report.exit, report.sessions), (ExitReason::AllPassed, 5));
    assert_eq!(project.journal().run_histories()[0].resumed, 0);
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_wait_continues_until_its_time() {
    let project = TempProject::new();
    let agents = ScriptedBackend::new(scripts()).unverified();
    {
        // The process ends one hour into the five hours of waiting.
        let control = RunControl::new();
        let running = run(&project, agents).run(&control);
        let interrupted = tokio::time::timeout(Duration::from_secs(3600), running).await;
        assert!(interrupted.is_err(), "it waits");
    }
    let reason = project.journal().run_histories()[0]
        .stop_reason()
        .to_string();
    assert_eq!(
        reason,
        "it was killed while it waited until 2026-01-01 05:00:00Z"
    );

    // The clock of the test starts again at midnight.
    let report = run(&project, ScriptedBackend::resuming_at(4, scripts()))
        .run(&RunControl::new())
        .await
        .expect("it starts");

    assert_eq!(report.exit, ExitReason::AllPassed);
    assert_eq!((report.iterations, report.sessions), (4, 5));
    assert_eq!(report.elapsed, Duration::from_secs(5 * 3600 + 3));
    let journal = project.journal();
    let histories = journal.run_histories();
    assert_eq!(histories[0].resumed, 1);
    let timeline = RunTimeline::from_journal(&journal, &histories[0].run).expect("it has lines");
    let last = &timeline.sessions[4];
    assert_eq!(
        last.result.as_ref().map(|result| result.activity),
        Some(Activity::Some)
    );
}

#[tokio::test(start_paused = true)]
async fn a_preview_has_the_interrupted_run() {
    let other_project = TempProject::new();
    whole_run(&other_project).await;
    let whole = other_project.journal_text();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let started = |line: &&str| line.contains("\"start_session\"");
    let starts = lines.iter().filter(|line| started(line)).count();
    let mut seen = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let project = TempProject::new();
        let text = lines[..=index].concat();
        let project = project
            .file(".autonoe/journal.jsonl", text)
            .status(other_project.read(".autonoe/status.json"));

        let run = Mode::Run;
        let preview = RunPreview::new(project.project(), run, SandboxSwitch::default());
        let preview = preview.expect("a run could start");
        let sync = RunPreview::new(project.project(), Mode::Sync, SandboxSwitch::default());

        assert_eq!(preview.resumes.is_some(), index + 1 < lines.len());
        assert!(sync.expect("a sync could start").resumes.is_none());
        if let (true, NextAction::Session { number, .. }) = (started(line), &preview.next) {
            seen.push(*number);
        }
    }
    assert_eq!(seen.len(), starts);
    assert_eq!(seen, [1, 2, 3, 4, 5]);
}
