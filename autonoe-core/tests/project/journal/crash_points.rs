//! Runs that are killed after each line of their journal.

use autonoe_core::agent::AgentErrorKind;
use autonoe_core::event::InstructionName;
use autonoe_core::run::SelectionContext;
use autonoe_core::{CostUsd, ExitReason, Mode, OnQuota, ProjectRun};
use autonoe_testkit::{
    CrashPoint, CrashPoints, CrashReport, SessionScript, TempProject, TotalsAccuracy,
};
use serde_json::json;

use super::{create, scripts_with_quota_back_at, status};

/// Planning, an error with a retry, a wait for quota, two coding sessions, costs.
fn run() -> CrashPoints {
    CrashPoints::new(|attempt| {
        // Virtual time takes a little real time: a waiting run emits an event each second.
        let scripts = scripts_with_quota_back_at("2026-01-01T00:05:00Z");
        ProjectRun::new(attempt.project(), attempt.agents(scripts))
            .configure(|runner| runner.on_quota(OnQuota::Wait))
    })
}

/// The accuracy of the totals after each line of the run: once the end of a session is recorded,
/// nothing of it is lost.
const RUN_TOTALS: &str = "\
run_started | exact
fact: started, then start_session | but for session 1
ledger_save | but for session 1
status_changed | but for session 1
status_changed | but for session 1
fact: session_ended, then wait | exact
fact: wait_over, then start_session | but for session 2
fact: session_ended, then wait | exact
fact: wait_over, then start_session | but for session 3
fact: session_ended, then wait | exact
fact: wait_over, then start_session | but for session 4
ledger_save | but for session 4
status_changed | but for session 4
fact: session_ended, then wait | exact
fact: wait_over, then start_session | but for session 5
denied | but for session 5
ledger_save | but for session 5
status_changed | but for session 5
fact: session_ended, then finish | exact
run_ended | exact
";

fn assert_every_kill_of_the_run_is_survived(report: &CrashReport) {
    report.assert();
    let uninterrupted = report.uninterrupted();
    assert_eq!(uninterrupted.exit, ExitReason::AllPassed);
    let reported = uninterrupted.deliverables.expect("the ledger was read");
    assert_eq!((reported.passed, reported.total), (2, 2));
    assert_eq!((uninterrupted.iterations, uninterrupted.sessions), (4, 5));
    assert_eq!(uninterrupted.cost.known_usd, CostUsd::from_cents(50));
    assert_eq!(totals(report), RUN_TOTALS);
}

/// Returns the accuracy of the resumed run's totals, line by line.
fn totals(report: &CrashReport) -> String {
    let points = report.points().iter();
    let lines = points.map(
        |CrashPoint {
             content, totals, ..
         }| match totals {
            TotalsAccuracy::Exact => format!("{content} | exact\n"),
            TotalsAccuracy::Unknown { session } => {
                format!("{content} | but for session {session}\n")
            }
            other => format!("{content} | {other:?}\n"),
        },
    );
    lines.collect()
}

#[test]
fn run_dropped_after_any_line_reaches_same_end() {
    assert_every_kill_of_the_run_is_survived(&run().drop_runs());
}

#[test]
fn run_killed_after_any_line_reaches_same_end() {
    let test = "project::journal::crash_points::run_killed_after_any_line_reaches_same_end";

    assert_every_kill_of_the_run_is_survived(&run().kill_processes(test));
}

/// The specification has removed C and added D, and B turns out not to work.
fn sync() -> CrashPoints {
    CrashPoints::new(|attempt| {
        let one = |id: &str| json!({ "deliverableId": id });
        let agents = attempt.agents([
            SessionScript::new("syncs")
                .uses_tool("mcp__autonoe__create", create(&["D"]))
                .uses_tool("mcp__autonoe__deprecate", one("C"))
                .costs(CostUsd::from_cents(5))
                .ends(),
            SessionScript::new("verifies A and breaks off")
                .uses_tool("mcp__autonoe__verify", one("A"))
                .fails(AgentErrorKind::Crashed, "it is gone"),
            SessionScript::new("verifies B and D")
                .uses_tool("mcp__autonoe__set_status", status("B", "pending"))
                .uses_tool("mcp__autonoe__verify", one("B"))
                .uses_tool("mcp__autonoe__set_status", status("D", "passed"))
                .uses_tool("mcp__autonoe__verify", one("D"))
                .costs(CostUsd::from_cents(15))
                .ends(),
        ]);
        ProjectRun::new(attempt.project().mode(Mode::Sync), agents)
    })
    .in_project(|| {
        let deliverable = |id: &str, passed: bool| {
            json!({
                "id": id, "description": "a thing", "acceptanceCriteria": ["it works"],
                "passed": passed, "blocked": false,
            })
        };
        let all = [("A", true), ("B", true), ("C", false)];
        TempProject::new().status(json!({
            "createdAt": "2025-12-01",
            "updatedAt": "2025-12-31",
            "deliverables": all.map(|(id, passed)| deliverable(id, passed)),
        }))
    })
}

/// The accuracy of the totals after each line of the sync.
const SYNC_TOTALS: &str = "\
run_started | exact
ledger_save | exact
fact: started, then start_session | but for session 1
ledger_save | but for session 1
status_changed | but for session 1
ledger_save | but for session 1
deprecated | but for session 1
fact: session_ended, then wait | exact
fact: wait_over, then start_session | but for session 2
verified | but for session 2
fact: session_ended, then wait | exact
fact: wait_over, then start_session | but for session 3
ledger_save | but for session 3
status_changed | but for session 3
verified | but for session 3
ledger_save | but for session 3
status_changed | but for session 3
verified | but for session 3
fact: session_ended, then finish | exact
run_ended | exact
";

fn assert_every_kill_of_the_sync_is_survived(report: &CrashReport) {
    report.assert();
    let uninterrupted = report.uninterrupted();
    assert_eq!(uninterrupted.exit, ExitReason::AllVerified);
    let reported = uninterrupted.deliverables.expect("the ledger was read");
    assert_eq!((reported.verified, reported.verified_total), (3, 3));
    assert_eq!((reported.passed, reported.total), (2, 3));
    assert_eq!(uninterrupted.cost.known_usd, CostUsd::from_cents(20));
    assert_eq!(totals(report), SYNC_TOTALS);
}

#[test]
fn sync_dropped_after_any_line_reaches_same_end() {
    assert_every_kill_of_the_sync_is_survived(&sync().drop_runs());
}

#[test]
fn sync_killed_after_any_line_reaches_same_end() {
    let test = "project::journal::crash_points::sync_killed_after_any_line_reaches_same_end";

    assert_every_kill_of_the_sync_is_survived(&sync().kill_processes(test));
}

/// A run whose selector makes the second session a review.
fn run_with_review() -> CrashPoints {
    let review = || InstructionName::new("review");
    CrashPoints::new(move |attempt| {
        let agents = attempt.agents([
            SessionScript::new("plans")
                .uses_tool("mcp__autonoe__create", create(&["A"]))
                .costs(CostUsd::from_cents(10))
                .ends(),
            SessionScript::new("reviews")
                .says("It is fine.")
                .costs(CostUsd::from_cents(5))
                .ends(),
            SessionScript::new("passes A")
                .uses_tool("mcp__autonoe__set_status", status("A", "passed"))
                .costs(CostUsd::from_cents(20))
                .ends(),
        ]);
        ProjectRun::new(attempt.project(), agents).configure(move |runner| {
            runner.instruction_selector(move |context: &SelectionContext| match context.session {
                2 => review(),
                _ => context.default_instruction(),
            })
        })
    })
    .in_project(move || TempProject::new().instruction(&review(), "Review the code."))
}

const REVIEW_TOTALS: &str = "\
run_started | exact
fact: started, then start_session | but for session 1
ledger_save | but for session 1
status_changed | but for session 1
fact: session_ended, then wait | exact
fact: wait_over, then start_session | but for session 2
fact: instruction_selected, then continue | but for session 2
fact: session_ended, then wait | exact
fact: wait_over, then start_session | but for session 3
ledger_save | but for session 3
status_changed | but for session 3
fact: session_ended, then finish | exact
run_ended | exact
";

#[test]
fn selector_run_dropped_after_any_line_reaches_same_end() {
    let report = run_with_review().drop_runs();

    report.assert();
    assert_eq!(report.uninterrupted().exit, ExitReason::AllPassed);
    assert_eq!(totals(&report), REVIEW_TOTALS);
}
