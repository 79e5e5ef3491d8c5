//! Timelines of runs.

use std::time::Duration;

use autonoe_core::event::WaitReason;
use autonoe_core::project::{IdleReason, RunTimeline};
use autonoe_core::{RunControl, RunId};
use autonoe_testkit::{ScriptedBackend, TempProject};
use jiff::Timestamp;

use super::{run, scripts, whole_run};

fn timeline(project: &TempProject) -> RunTimeline {
    let journal = project.journal();
    let run = &journal.run_histories()[0].run;
    RunTimeline::from_journal(&journal, run).expect("it has lines")
}

fn clock(at: Timestamp) -> String {
    let text = at.to_string();
    text.trim_start_matches("2026-01-01T").to_owned()
}

/// Formats a timeline as lines, in the order of time.
fn lines(timeline: &RunTimeline) -> Vec<String> {
    let mut lines: Vec<(Timestamp, String)> = Vec::new();
    let until = |until: Option<Timestamp>| until.map_or("?".to_owned(), clock);
    for session in &timeline.sessions {
        let (number, instruction) = (session.number, &session.instruction);
        let (changes, denied) = (session.changes, session.denied);
        let known = session.result.is_some();
        let line = format!(
            "session {number} ({instruction}) until {}, {changes} changes, {denied} denied, result: {known}",
            until(session.until)
        );
        lines.push((session.from, line));
    }
    for idle in &timeline.idle {
        let line = format!("{:?} until {}", idle.reason, until(idle.until));
        lines.push((idle.from, line));
    }
    for point in &timeline.cost {
        lines.push((point.at, format!("cost {}", point.total)));
    }
    for point in &timeline.progress {
        let counts = point.ledger.counts;
        let line = format!("{} of {} passed", counts.passed, counts.total);
        lines.push((point.at, line));
    }
    for denied in &timeline.denied {
        let target = denied.target.as_deref().unwrap_or("?");
        lines.push((denied.at, format!("denied {} {target}", denied.tool)));
    }
    lines.sort_by_key(|(at, _)| *at);
    let lines = lines.into_iter();
    lines
        .map(|(at, line)| format!("{} {line}", clock(at)))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn the_timeline_of_a_run_has_its_times() {
    let project = TempProject::new();
    let report = whole_run(&project).await;

    let timeline = timeline(&project);

    insta::assert_snapshot!(lines(&timeline).join("\n"));
    assert_eq!(
        timeline.cost.last().map(|point| point.total),
        Some(report.cost)
    );
    let last = timeline.progress.last().expect("it has points").ledger;
    let reported = report.deliverables.expect("the ledger was read");
    assert_eq!(
        (last.counts.passed, last.counts.total),
        (reported.passed, reported.total)
    );
    assert_eq!(timeline.report, Some(report));
}

#[tokio::test(start_paused = true)]
async fn the_timeline_of_a_run_that_was_interrupted_in_a_wait_is_open() {
    let project = TempProject::new();
    let control = RunControl::new();
    let running = run(&project, ScriptedBackend::new(scripts()).unverified()).run(&control);
    let interrupted = tokio::time::timeout(Duration::from_secs(3600), running).await;
    assert!(interrupted.is_err(), "it waits");

    let timeline = timeline(&project);

    assert_eq!(timeline.report, None);
    let last = timeline.idle.last().expect("it waits");
    assert_eq!(
        (last.reason, last.until),
        (IdleReason::Wait(WaitReason::Quota), None)
    );
}

#[tokio::test(start_paused = true)]
async fn a_lost_session_is_listed_once_per_start() {
    let project = TempProject::new();
    let control = RunControl::new();
    let hangs = autonoe_testkit::SessionScript::new("hangs")
        .says("working")
        .hangs();
    let running = run(&project, ScriptedBackend::new([hangs]).unverified()).run(&control);
    let interrupted = tokio::time::timeout(Duration::from_secs(60), running).await;
    assert!(interrupted.is_err(), "it hangs");

    run(&project, ScriptedBackend::new(scripts()))
        .run(&RunControl::new())
        .await
        .expect("it starts");

    let timeline = timeline(&project);
    let first: Vec<_> = timeline.sessions[..2]
        .iter()
        .map(|session| {
            (
                session.number,
                session.until.is_some(),
                session.result.is_some(),
            )
        })
        .collect();
    assert_eq!(first, [(1, true, false), (1, true, true)]);
    assert!(
        timeline
            .idle
            .iter()
            .any(|idle| idle.reason == IdleReason::Interrupted)
    );
    assert_eq!(timeline.cost[0].total.unknown_parts, 1);
    let report = timeline.report.as_ref().expect("it came to its end");
    assert_eq!(
        timeline.cost.last().map(|point| point.total),
        Some(report.cost)
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_not_in_the_journal_has_no_time_line() {
    let project = TempProject::new();
    whole_run(&project).await;

    assert_eq!(
        RunTimeline::from_journal(&project.journal(), &RunId::new("another")),
        None
    );
}
