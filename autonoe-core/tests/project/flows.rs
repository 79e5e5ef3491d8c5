//! Flows in a project directory: lock, settings, journal, and resuming after a kill.

use std::sync::Arc;

use autonoe_core::agent::{CostTotal, SessionEnd};
use autonoe_core::project::{
    OpenProject, ProjectError, ProjectRunError, RunStopReason, RunTimeline,
};
use autonoe_core::run::{Durability, FlowExit, JournalLine};
use autonoe_core::session::{FlowStart, OpenSessions};
use autonoe_core::time::SeededIds;
use autonoe_core::{Budget, CostUsd, ExitReason, ProjectRun, RunControl, SessionOrder};
use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject, VirtualClock};
use serde_json::json;

fn text_session(text: &str, cents: u64) -> SessionScript {
    SessionScript::new(text)
        .says(text)
        .costs(CostUsd::from_cents(cents))
        .ends()
}

async fn open_project(project: &TempProject) -> OpenProject {
    let options = OpenProject::options(project.project()).clock(Arc::new(VirtualClock::new()));
    options.open().await.expect("it is free")
}

async fn begin(open_project: &OpenProject, agents: ScriptedBackend) -> OpenSessions {
    let builder = open_project.start(Arc::new(agents)).expect("settings fit");
    let sessions = builder.ids(Arc::new(SeededIds::new(7))).build_sessions();
    let start = FlowStart::new("review")
        .definition("1f0c9a")
        .parameters(json!({"branch": "main"}));
    let open = sessions
        .expect("parts fit")
        .open(start, &RunControl::new())
        .await;
    open.expect("it begins")
}

#[tokio::test(start_paused = true)]
async fn a_flow_needs_no_specification_and_is_in_the_journal() {
    let project = TempProject::new();
    let open_project = open_project(&project).await;
    let mut open = begin(
        &open_project,
        ScriptedBackend::new([text_session("hello", 10)]),
    )
    .await;

    open.record_fact(json!({"fact": 1}), Durability::Synced)
        .expect("written");
    open.run(SessionOrder::new("Say hello.").name("greet"))
        .await;
    let report = open.close(FlowExit::Completed, json!({"steps": 1}));
    drop(open_project);

    let journal = project.journal();
    let lines: Vec<_> = journal.entries().iter().map(|entry| &entry.line).collect();
    assert!(matches!(
        lines[..],
        [
            JournalLine::FlowStarted { .. },
            JournalLine::FlowFact { .. },
            JournalLine::SessionStarted { .. },
            JournalLine::SessionEnded { .. },
            JournalLine::FlowEnded { .. },
        ]
    ));
    assert_eq!(
        (journal.interrupted_run(), journal.interrupted_flow()),
        (None, None)
    );
    let [history] = &journal.run_histories()[..] else {
        panic!("one flow, one story");
    };
    assert_eq!(
        (history.flow.as_deref(), history.mode),
        (Some("review"), None)
    );
    assert_eq!(
        history.stop_reason(),
        RunStopReason::FlowEnded(report.clone())
    );
    assert_eq!(
        history.stop_reason().to_string(),
        "it ended: it is complete"
    );
    assert_eq!(history.cost(), CostTotal::known(CostUsd::from_cents(10)));
    let timeline = RunTimeline::from_journal(&journal, &report.run).expect("it has lines");
    assert_eq!(timeline.flow.as_deref(), Some("review"));
    let [session] = &timeline.sessions[..] else {
        panic!("one session: {timeline:?}");
    };
    assert_eq!(session.instruction.as_str(), "greet");
    assert_eq!(timeline.flow_report, Some(report));
}

#[tokio::test(start_paused = true)]
async fn an_open_project_refuses_other_flows_and_runs() {
    let project = TempProject::new().spec("# Shop");
    let open_project = open_project(&project).await;
    let opened = OpenProject::options(project.project()).open().await;
    let run = ProjectRun::new(
        project.project().clone(),
        Arc::new(ScriptedBackend::new([])),
    );
    let started = run.run(&RunControl::new()).await;

    for refused in [opened.map(drop), started.map(drop)] {
        assert!(
            matches!(
                refused,
                Err(ProjectRunError::Project(ProjectError::Locked(_)))
            ),
            "{refused:?}"
        );
    }
    drop(open_project);
    assert!(OpenProject::options(project.project()).open().await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_flow_resumes_with_its_facts_numbers_and_costs() {
    let project = TempProject::new();
    {
        let open_project = open_project(&project).await;
        let agents =
            ScriptedBackend::new([text_session("one", 10), SessionScript::new("lost").hangs()]);
        let mut open = begin(&open_project, agents).await;
        open.run(SessionOrder::new("One.").name("one")).await;
        open.record_fact(json!("one is done"), Durability::Synced)
            .expect("written");
        // The process ends in the middle of the second session.
        let lost = open.run(SessionOrder::new("Two.").name("two"));
        let interrupted = tokio::time::timeout(std::time::Duration::from_secs(60), lost).await;
        assert!(interrupted.is_err());
    }
    let journal = project.journal();
    assert_eq!(journal.interrupted_run(), None);
    let reason = journal.run_histories()[0].stop_reason().to_string();
    assert_eq!(reason, "it was killed in session 2");

    let open_project = open_project(&project).await;
    let recorded = open_project
        .journal()
        .interrupted_flow()
        .expect("it was interrupted");
    assert_eq!(recorded.facts, [json!("one is done")]);
    assert_eq!(recorded.start.definition, "1f0c9a");
    assert_eq!(recorded.start.parameters, json!({"branch": "main"}));
    let run = recorded.run.clone();
    let scripts = [
        text_session("one", 10),
        text_session("two", 20),
        text_session("three", 30),
    ];
    let agents = Arc::new(ScriptedBackend::resuming_at(2, scripts));
    let budget = Budget::default().with_cost(CostUsd::from_cents(60));
    let builder = open_project.resume(agents.clone()).expect("settings fit");
    let sessions = builder.budget(budget).build_sessions().expect("parts fit");
    let open = sessions.reopen(recorded, &RunControl::new()).await;
    let mut open = open.expect("it begins");
    let second = open.run(SessionOrder::new("Two.").name("two")).await;
    let third = open.run(SessionOrder::new("Three.").name("three")).await;
    let fourth = open.run(SessionOrder::new("Four.").name("four")).await;
    let report = open.close(FlowExit::Completed, json!({}));

    assert_eq!((second.number, third.number), (2, 3));
    // The spending before the interruption counts against the budget.
    assert!(matches!(fourth.result.end, SessionEnd::BudgetSpent { .. }));
    assert_eq!(report.run, run);
    // The cost of the lost session is unknown.
    let cost = CostTotal {
        known_usd: CostUsd::from_cents(60),
        unknown_parts: 1,
    };
    assert_eq!((report.cost, report.sessions), (cost, 3));
    let journal = project.journal();
    let history = &journal.run_histories()[0];
    assert_eq!(history.resumed, 1);
    assert_eq!(history.cost(), cost);
    let timeline = RunTimeline::from_journal(&journal, &run).expect("it has lines");
    let starts = timeline.sessions.iter().map(|session| session.number);
    assert_eq!(starts.collect::<Vec<_>>(), [1, 2, 2, 3]);
    assert_eq!(timeline.cost.last().map(|point| point.total), Some(cost));
    assert_eq!(journal.interrupted_flow(), None);
}

#[tokio::test(start_paused = true)]
async fn a_run_does_not_resume_an_interrupted_flow() {
    let project = TempProject::new().spec("# Shop");
    {
        let open_project = open_project(&project).await;
        let _interrupted = begin(&open_project, ScriptedBackend::new([])).await;
    }
    assert!(project.journal().interrupted_flow().is_some());

    let agents = Arc::new(ScriptedBackend::new([SessionScript::new("hangs").hangs()]));
    let run = ProjectRun::new(
        OpenProject::options(project.project()).clock(Arc::new(VirtualClock::new())),
        agents,
    )
    .configure(|runner| {
        runner.budget(Budget::default().with_time(std::time::Duration::from_secs(5)))
    });
    let report = run.run(&RunControl::new()).await.expect("it starts");

    assert!(matches!(report.exit, ExitReason::BudgetExceeded { .. }));
    let journal = project.journal();
    assert_eq!(journal.run_histories().len(), 2);
    assert_eq!(
        (journal.interrupted_run(), journal.interrupted_flow()),
        (None, None)
    );
}

#[tokio::test(start_paused = true)]
async fn a_flow_ends_when_its_journal_cannot_be_written() {
    let project = TempProject::new();
    let open_project = open_project(&project).await;
    let mut open = begin(&open_project, ScriptedBackend::new([])).await;
    std::fs::remove_file(project.project().journal_path()).expect("it is there");

    let noted = open.record_fact(json!({}), Durability::Written);
    let performed = open.run(SessionOrder::new("Work.")).await;

    assert_eq!(noted.expect_err("it is gone").code, "journal_unavailable");
    let SessionEnd::Failed { error } = performed.result.end else {
        panic!("{performed:?}");
    };
    assert_eq!(error.code, "journal_unavailable");
}
