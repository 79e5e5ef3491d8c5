//! Runs that are resumed with limit overrides.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::project::{
    IdleReason, NextAction, OpenProject, RunPreview, RunTimeline, SandboxSwitch,
};
use autonoe_core::run::{JournalLine, LimitOverrides, RunFact};
use autonoe_core::time::SeededIds;
use autonoe_core::{Budget, CostUsd, ExitReason, Mode, ProjectRun, RunControl, RunReport};
use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject, VirtualClock};
use jiff::Timestamp;

use super::{create, status};

/// The clock of each process starts here.
const MIDNIGHT: Timestamp = Timestamp::constant(1_767_225_600, 0);

fn cheap(name: &str, tool: &str, input: serde_json::Value) -> SessionScript {
    SessionScript::new(name)
        .uses_tool(tool, input)
        .costs(CostUsd::from_cents(25))
        .ends()
}

fn plans() -> SessionScript {
    cheap("plans", "mcp__autonoe__create", create(&["A", "B", "C"]))
}

fn passes(id: &str) -> SessionScript {
    cheap("passes", "mcp__autonoe__set_status", status(id, "passed"))
}

fn all() -> [SessionScript; 4] {
    [plans(), passes("A"), passes("B"), passes("C")]
}

fn iterations(max: u32) -> LimitOverrides {
    LimitOverrides {
        max_iterations: Some(max),
        ..LimitOverrides::default()
    }
}

fn run(project: &TempProject, agents: ScriptedBackend, overrides: LimitOverrides) -> ProjectRun {
    run_at(VirtualClock::new(), project, agents, overrides)
}

fn run_at(
    clock: VirtualClock,
    project: &TempProject,
    agents: ScriptedBackend,
    overrides: LimitOverrides,
) -> ProjectRun {
    ProjectRun::new(OpenProject::options(project.project()).clock(clock), agents)
        .limits(overrides)
        .configure(|runner| runner.ids(Arc::new(SeededIds::new(7))))
}

/// Plans, passes A, and is interrupted in session 3.
async fn interrupt_in_session_3(project: &TempProject, started_with: LimitOverrides) {
    let hangs = SessionScript::new("hangs").says("working").hangs();
    let agents = ScriptedBackend::new([plans(), passes("A"), hangs]);
    let control = RunControl::new();
    let broken = run(project, agents, started_with).run(&control);
    let minute = Duration::from_secs(60);
    assert!(tokio::time::timeout(minute, broken).await.is_err());
}

/// Resumes in session 3.
async fn resume_run(project: &TempProject, overrides: LimitOverrides) -> RunReport {
    let agents = ScriptedBackend::resuming_at(3, all()).unverified();
    let report = run(project, agents, overrides)
        .run(&RunControl::new())
        .await;
    report.expect("it starts")
}

fn changes(project: &TempProject) -> Vec<LimitOverrides> {
    let journal = project.journal();
    let lines = journal.entries().iter().map(|entry| &entry.line);
    let changes = lines.filter_map(|line| match line {
        JournalLine::Fact {
            fact: RunFact::LimitsChanged { limits, .. },
            ..
        } => Some(limits.clone()),
        _ => None,
    });
    changes.collect()
}

#[tokio::test(start_paused = true)]
async fn limit_overrides_apply_and_the_counts_continue() {
    let cents = |cents| LimitOverrides {
        budget: Budget::default().with_cost(CostUsd::from_cents(cents)),
        ..LimitOverrides::default()
    };
    let money = ExitReason::BudgetExceeded {
        budget: autonoe_core::agent::BudgetKind::Cost,
    };
    for (overrides, exit, iterations) in [
        (iterations(2), ExitReason::MaxIterations, 2),
        (iterations(3), ExitReason::MaxIterations, 3),
        (iterations(9), ExitReason::AllPassed, 4),
        (cents(50), money.clone(), 2),
        (cents(75), money, 3),
        (LimitOverrides::default(), ExitReason::AllPassed, 4),
    ] {
        let project = TempProject::new();
        interrupt_in_session_3(&project, LimitOverrides::default()).await;

        let report = resume_run(&project, overrides.clone()).await;

        assert_eq!(
            (report.exit, report.iterations),
            (exit, iterations),
            "{overrides:?}"
        );
        assert_eq!(report.cost.unknown_parts, 1, "{overrides:?}");
        let histories = project.journal().run_histories();
        assert_eq!(histories.len(), 1, "it is the same run");
        assert_eq!(histories[0].cost(), report.cost, "{overrides:?}");
        let expected = if overrides == LimitOverrides::default() {
            vec![]
        } else {
            vec![overrides]
        };
        assert_eq!(changes(&project), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn other_limits_stay_those_of_the_first_start() {
    let project = TempProject::new();
    interrupt_in_session_3(&project, iterations(3)).await;
    let overrides = LimitOverrides {
        max_retries: Some(1),
        ..LimitOverrides::default()
    };

    let report = resume_run(&project, overrides).await;

    assert_eq!(
        (report.exit, report.iterations),
        (ExitReason::MaxIterations, 3)
    );
}

#[tokio::test(start_paused = true)]
async fn an_unchanged_limit_is_not_recorded() {
    let project = TempProject::new();
    interrupt_in_session_3(&project, iterations(3)).await;

    let report = resume_run(&project, iterations(3)).await;

    assert_eq!(report.exit, ExitReason::MaxIterations);
    assert_eq!(changes(&project), []);
}

#[tokio::test(start_paused = true)]
async fn time_counts_from_the_start_that_gave_it() {
    let project = TempProject::new();
    interrupt_in_session_3(&project, LimitOverrides::default()).await;
    let minute = LimitOverrides {
        budget: Budget::default().with_time(Duration::from_secs(60)),
        ..LimitOverrides::default()
    };
    // A day later.
    let clock = VirtualClock::starting_at(MIDNIGHT + Duration::from_secs(24 * 3600));
    let agents = ScriptedBackend::resuming_at(3, all());

    let report = run_at(clock, &project, agents, minute)
        .run(&RunControl::new())
        .await
        .expect("it starts");

    assert_eq!(report.exit, ExitReason::AllPassed);
    assert!(report.elapsed > Duration::from_secs(24 * 3600));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_killed_after_any_later_line_has_the_same_end_without_new_overrides() {
    let reference = TempProject::new();
    interrupt_in_session_3(&reference, LimitOverrides::default()).await;
    let before = reference.journal_text().lines().count();
    let expected = resume_run(&reference, iterations(3)).await;
    let whole = reference.journal_text();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    assert!(lines[before].contains("run_resumed"), "{}", lines[before]);
    assert!(lines[before + 1].contains("limits_changed"));
    assert!(lines.len() > before + 4, "{whole}");

    for last in before + 1..lines.len() - 1 {
        let ledger =
            std::fs::read_to_string(reference.project().status_path()).expect("it is there");
        let project = TempProject::new()
            .file(".autonoe/journal.jsonl", lines[..=last].concat())
            .file(".autonoe/status.json", ledger);

        let report = resume_run(&project, LimitOverrides::default()).await;

        let line = lines[last];
        assert_eq!(report.exit, expected.exit, "after {line}");
        assert_eq!(report.iterations, expected.iterations, "after {line}");
        assert_eq!(report.run, expected.run, "after {line}");
        assert_eq!(changes(&project), [iterations(3)], "after {line}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_preview_has_the_next_step_under_the_limit_overrides() {
    let project = TempProject::new();
    interrupt_in_session_3(&project, LimitOverrides::default()).await;
    let preview = |overrides: &LimitOverrides| {
        let sandbox = SandboxSwitch::default();
        RunPreview::with_limits(project.project(), Mode::Run, sandbox, overrides, MIDNIGHT)
            .expect("a run could start")
    };

    let continues = preview(&iterations(3));
    let ends = preview(&iterations(2));

    assert!(
        matches!(continues.next, NextAction::Session { number: 3, .. }),
        "{:?}",
        continues.next
    );
    let limits = continues.resumes.expect("the run is resumed").limits;
    assert_eq!(limits.max_iterations, Some(3));
    let exit = ExitReason::MaxIterations;
    assert_eq!(ends.next, NextAction::Finish { exit });
}

#[tokio::test(start_paused = true)]
async fn the_timeline_has_a_lost_session_that_is_not_rerun() {
    let project = TempProject::new();
    interrupt_in_session_3(&project, LimitOverrides::default()).await;

    let report = resume_run(&project, iterations(1)).await;

    let timeline =
        RunTimeline::from_journal(&project.journal(), &report.run).expect("it has lines");
    let cost = timeline.cost.last().expect("it cost something").total;
    assert_eq!(cost, report.cost);
    assert!(
        timeline
            .idle
            .iter()
            .any(|idle| idle.reason == IdleReason::Interrupted)
    );
}
