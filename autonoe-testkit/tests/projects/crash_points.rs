//! Crash tests report the problems of killed and resumed runs by journal line.

use std::cell::Cell;

use autonoe_core::{CostUsd, Mode, ProjectRun};
use autonoe_testkit::{CrashPoints, CrashReport, SessionScript, TempProject, TotalsAccuracy};
use serde_json::json;

use crate::projects::{plans, sets_status};

/// Returns the lines with problems, and the problems of the first line.
fn problem_lines(report: &CrashReport) -> (Vec<usize>, Vec<String>) {
    let failed: Vec<_> = report
        .points()
        .iter()
        .filter(|point| !point.problems.is_empty())
        .collect();
    let first = failed.first().map(|point| point.problems.clone());
    (
        failed.iter().map(|point| point.line).collect(),
        first.unwrap_or_default(),
    )
}

#[test]
fn a_run_that_is_resumed_correctly_has_no_problems() {
    let crashes = CrashPoints::new(|attempt| {
        let agents = attempt.agents([plans(), sets_status("passed")]);
        ProjectRun::new(attempt.project(), agents)
    });

    let report = crashes.drop_runs();

    report.assert();
    let totals: Vec<_> = report.points().iter().map(|point| point.totals).collect();
    let lost = |session| TotalsAccuracy::Unknown { session };
    assert_eq!(
        totals,
        [
            TotalsAccuracy::Exact,
            lost(1),
            lost(1),
            lost(1),
            TotalsAccuracy::Exact,
            lost(2),
            lost(2),
            lost(2),
            TotalsAccuracy::Exact,
            TotalsAccuracy::Exact,
        ]
    );
    assert_eq!(
        report.to_string(),
        "killed after each of 10 lines of the journal: 10 reached the same end, 0 did not; 4 have \
         exact totals"
    );
}

#[test]
fn another_final_ledger_is_found() {
    // After it was killed in session 2, it gives up.
    let crashes = CrashPoints::new(|attempt| {
        let builds = match attempt.lost_session() {
            Some(2) => sets_status("blocked"),
            _ => sets_status("passed"),
        };
        ProjectRun::new(attempt.project(), attempt.agents([plans(), builds]))
    });

    let report = crashes.drop_runs();

    let (lines, problems) = problem_lines(&report);
    // Line 7 announces the save, which finishes although the run is dropped. The deliverable has
    // passed by then, and a passed deliverable is not given up.
    assert_eq!(lines, [6]);
    assert_eq!(
        problems,
        [
            "the ledger: /ledger/deliverables/0/blocked is true instead of false",
            "the ledger: /ledger/deliverables/0/passed is false instead of true",
            "the report: /blockedCount is 1 instead of 0",
            "the report: /deliverablesPassedCount is 0 instead of 1",
            "the report: /exitReason is \"all_blocked\" instead of \"all_passed\"",
        ]
    );
    assert_eq!(report.points()[5].totals, TotalsAccuracy::Wrong);
}

#[test]
fn wrong_totals_without_an_unknown_part_are_found() {
    let crashes = CrashPoints::new(|attempt| {
        let dearer = CostUsd::from_cents(u64::from(attempt.first_session()));
        let builds = sets_status("passed").costs(dearer);
        ProjectRun::new(attempt.project(), attempt.agents([plans(), builds]))
    });

    let report = crashes.drop_runs();

    let (lines, problems) = problem_lines(&report);
    assert_eq!(lines, [5, 6, 7, 8]);
    assert_eq!(
        problems,
        ["the report: /totalCost/knownUsd is \"0.12\" instead of \"0.11\""]
    );
}

#[test]
fn a_run_that_is_not_resumed_at_all_is_found() {
    let crashes = CrashPoints::new(|attempt| {
        let agents = attempt.agents([plans(), sets_status("passed")]);
        let mode = match attempt.first_session() {
            1 => Mode::Run,
            _ => Mode::Sync,
        };
        ProjectRun::new(attempt.project().mode(mode), agents)
    });

    let (lines, problems) = problem_lines(&crashes.drop_runs());

    assert_eq!(lines, [5, 6, 7, 8, 9]);
    let expected = "session 1 (sync) has no script left: \"plans\" was already played";
    assert!(problems[0].starts_with(expected), "{problems:?}");
}

#[test]
fn a_run_that_is_another_one_each_time_is_found() {
    let runs = Cell::new(0);
    let crashes = CrashPoints::new(move |attempt| {
        runs.set(runs.get() + 1);
        let plans = plans().costs(CostUsd::from_cents(runs.get()));
        let agents = attempt.agents([plans, sets_status("passed")]);
        ProjectRun::new(attempt.project(), agents)
    });

    let report = crashes.drop_runs();

    let problem = &report.points()[4].problems[0];
    let beginning = "two runs of the same script differ in line 5 of their journals: {\"v\":1,";
    assert!(problem.starts_with(beginning), "{problem}");
}

#[test]
#[should_panic(expected = "session 3 (never comes) never started")]
fn an_undisturbed_run_that_is_not_as_written_fails_the_test() {
    let never = SessionScript::new("never comes").ends();
    let crashes = CrashPoints::new(move |attempt| {
        let agents = attempt.agents([plans(), sets_status("passed"), never.clone()]);
        ProjectRun::new(attempt.project(), agents)
    });

    let _ = crashes.drop_runs();
}

#[test]
#[should_panic(expected = "the run must be the first in its project")]
fn a_project_with_a_journal_fails_the_test() {
    let crashes =
        CrashPoints::new(|attempt| ProjectRun::new(attempt.project(), attempt.agents([plans()])))
            .in_project(|| {
                let started = json!({
                    "v": 1, "run": "x", "at": "2026-01-01T00:00:00Z",
                    "line": "run_resumed", "epoch": 1,
                });
                TempProject::new().file(".autonoe/journal.jsonl", format!("{started}\n"))
            });

    let _ = crashes.drop_runs();
}
