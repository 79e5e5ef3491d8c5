//! Journal lines that a run writes.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use autonoe_core::project::{FileJournal, OpenProject, RunHistory, RunStopReason, RunTimeline};
use autonoe_core::{ExitReason, Mode, OnQuota, ProjectRun, RunControl};
use autonoe_testkit::{ScriptedBackend, TempProject, VirtualClock};

use super::{scripts, whole_run};

#[tokio::test(start_paused = true)]
async fn a_journal_has_the_run_session_by_session() {
    let project = TempProject::new();

    let report = whole_run(&project).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
    let histories = project.journal().run_histories();
    assert_eq!(histories.len(), 1);
    let timeline = RunTimeline::from_journal(&project.journal(), &histories[0].run);
    let timeline = timeline.expect("it has lines");
    let sessions: Vec<_> = timeline
        .sessions
        .iter()
        .map(|session| {
            let result = session.result.as_ref().expect("it ended");
            (
                session.number,
                session.instruction.to_string(),
                result.cost.to_string(),
                session.changes,
                session.denied,
            )
        })
        .collect();
    let row = |number, name: &str, cost: &str, changes, denied| {
        (number, name.to_owned(), cost.to_owned(), changes, denied)
    };
    assert_eq!(
        sessions,
        [
            row(1, "initializer", "$0.10", 2, 0),
            row(2, "coding", "at least $0.00 (1 cost unknown)", 0, 0),
            row(3, "coding", "$0.00", 0, 0),
            row(4, "coding", "$0.20", 1, 0),
            row(5, "coding", "$0.20", 1, 1),
        ]
    );
    assert_eq!(histories[0].mode, Some(Mode::Run));
    assert_eq!(histories[0].cost(), report.cost);
    let denied = &timeline.denied[0];
    assert_eq!(
        (
            denied.tool.as_str(),
            denied.target.as_deref(),
            denied.by.as_str()
        ),
        ("Write", Some("/etc/passwd"), "file-scope")
    );
    assert_eq!(histories[0].stop_reason(), RunStopReason::Ended(report));
    assert_eq!(
        histories[0].stop_reason().to_string(),
        "it ended: all achievable deliverables passed"
    );
}

#[tokio::test(start_paused = true)]
async fn two_runs_of_the_same_script_give_byte_identical_journals() {
    let (one, other) = (TempProject::new(), TempProject::new());

    whole_run(&one).await;
    whole_run(&other).await;

    assert_eq!(one.journal_text(), other.journal_text());
    insta::assert_snapshot!(one.journal_text());
}

#[tokio::test(start_paused = true)]
async fn no_run_is_mistaken_for_another_one_in_the_same_journal() {
    let project = TempProject::new();
    let mut reports = Vec::new();
    for scripts in [scripts(), Vec::new(), Vec::new()] {
        let agents = Arc::new(ScriptedBackend::new(scripts));
        let report = ProjectRun::new(
            OpenProject::options(project.project()).clock(Arc::new(VirtualClock::new())),
            agents,
        )
        .configure(|runner| runner.on_quota(OnQuota::Wait))
        .run(&RunControl::new())
        .await;
        reports.push(report.expect("it starts"));
    }

    let histories = project.journal().run_histories();

    let ended: Vec<_> = histories.iter().map(RunHistory::stop_reason).collect();
    let ids: BTreeSet<_> = reports
        .iter()
        .map(|report| report.run.to_string())
        .collect();
    assert_eq!(ids.len(), 3);
    assert!(
        ids.iter().all(|id| id.len() == 32),
        "128 random bits: {ids:?}"
    );
    assert_eq!(
        ended,
        reports
            .into_iter()
            .map(RunStopReason::Ended)
            .collect::<Vec<_>>()
    );
}

#[tokio::test(start_paused = true)]
async fn a_large_journal_is_rotated_at_the_start_of_a_new_run() {
    let project = TempProject::new();
    whole_run(&project).await;
    let line = project.journal_text();
    let line = format!("{}\n", line.lines().next().expect("a line"));
    let large = line.repeat(17 * 1024 * 1024 / line.len());
    fs::write(project.project().journal_path(), &large).expect("writable");

    drop(FileJournal::open_for_new_run(project.project()).expect("writable"));

    assert_eq!(project.journal_text(), "");
    let rotated = project.project().state_dir().join("journal.1.jsonl");
    assert_eq!(
        fs::metadata(rotated).expect("it is there").len(),
        large.len() as u64
    );
}
