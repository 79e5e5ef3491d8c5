//! What happened in a run, and when.

use std::time::Duration;

use autonoe_core::{Idle, RunControl, RunId, RunTimeline, WaitReason};
use autonoe_testkit::{ScriptedAgents, TempProject};
use jiff::Timestamp;

use super::{run, scripts, whole_run};

fn timeline(project: &TempProject) -> RunTimeline {
    let journal = project.journal();
    let run = &journal.stories()[0].run;
    RunTimeline::of(&journal, run).expect("it has lines")
}

fn clock(at: Timestamp) -> String {
    let text = at.to_string();
    text.trim_start_matches("2026-01-01T").to_owned()
}

/// Writes a time line as lines, in the order of time.
fn told(timeline: &RunTimeline) -> Vec<String> {
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
        let line = format!("{:?} until {}", idle.why, until(idle.until));
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
async fn a_run_is_told_with_its_times() {
    let project = TempProject::new();
    let report = whole_run(&project).await;

    let timeline = timeline(&project);

    insta::assert_snapshot!(told(&timeline).join("\n"));
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
async fn a_run_that_broke_off_in_a_wait_is_told_as_far_as_it_is_known() {
    let project = TempProject::new();
    let control = RunControl::new();
    let broken = run(&project, ScriptedAgents::new(scripts()).unverified()).run(&control);
    let broke_off = tokio::time::timeout(Duration::from_secs(3600), broken).await;
    assert!(broke_off.is_err(), "it waits");

    let timeline = timeline(&project);

    assert_eq!(timeline.report, None);
    let last = timeline.idle.last().expect("it waits");
    assert_eq!(
        (last.why, last.until),
        (Idle::Wait(WaitReason::Quota), None)
    );
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_lost_stands_there_for_each_start() {
    let project = TempProject::new();
    let control = RunControl::new();
    let hangs = autonoe_testkit::SessionScript::new("hangs")
        .says("working")
        .hangs();
    let broken = run(&project, ScriptedAgents::new([hangs]).unverified()).run(&control);
    let broke_off = tokio::time::timeout(Duration::from_secs(60), broken).await;
    assert!(broke_off.is_err(), "it hangs");

    run(&project, ScriptedAgents::new(scripts()))
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
    assert!(timeline.idle.iter().any(|idle| idle.why == Idle::BrokenOff));
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
        RunTimeline::of(&project.journal(), &RunId::new("another")),
        None
    );
}
