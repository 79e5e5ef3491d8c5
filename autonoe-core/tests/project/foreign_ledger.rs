//! Ledgers that something other than the run changes, during a run and between runs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_core::agent::SessionEnd;
use autonoe_core::ledger::ForeignChange;
use autonoe_core::project::{Journal, OpenProject, ProjectRunError, RunTimeline, SandboxSwitch};
use autonoe_core::run::{FlowExit, JournalLine};
use autonoe_core::session::FlowStart;
use autonoe_core::time::SeededIds;
use autonoe_core::{
    DeliverableStatus, ExitReason, ProjectRun, RunControl, RunEvent, RunEventKind, RunReport,
    SessionOrder,
};
use autonoe_testkit::{EventLog, ScriptedBackend, SessionScript, TempProject, VirtualClock};
use serde_json::{Value, json};

/// A ledger in which everything has passed and nothing was built.
const FORGED: &str = r#"{"deliverables": [
    {"id": "A", "description": "a thing", "acceptanceCriteria": ["it works"], "passed": true, "blocked": false},
    {"id": "B", "description": "a thing", "acceptanceCriteria": ["it works"], "passed": true, "blocked": false}
], "epoch": 1, "revision": 99}"#;

fn ledger(project: &Path) -> PathBuf {
    project.join(".autonoe/status.json")
}

fn saved_copy(project: &TempProject, number: u32) -> PathBuf {
    project
        .path()
        .join(format!(".autonoe/status.foreign-{number}.json"))
}

fn forges(project: &Path) {
    fs::write(ledger(project), FORGED).expect("writable");
}

fn plans() -> SessionScript {
    let one = |id| json!({"id": id, "description": "a thing", "acceptanceCriteria": ["it works"]});
    SessionScript::new("plans")
        .uses_tool(
            "mcp__autonoe__create",
            json!({"deliverables": [one("A"), one("B")]}),
        )
        .ends()
}

fn passed(id: &str) -> Value {
    json!({"deliverableId": id, "status": "passed"})
}

fn passes(ids: &[&str]) -> SessionScript {
    let session = SessionScript::new("passes");
    let session = ids.iter().fold(session, |session, id| {
        session.uses_tool("mcp__autonoe__set_status", passed(id))
    });
    session.ends()
}

fn run(project: &TempProject, agents: ScriptedBackend, events: &Arc<EventLog>) -> ProjectRun {
    let events = events.clone();
    ProjectRun::new(
        OpenProject::options(project.project()).clock(Arc::new(VirtualClock::new())),
        Arc::new(agents),
    )
    .configure(move |runner| runner.ids(Arc::new(SeededIds::new(1))).observer(events))
}

async fn report(
    project: &TempProject,
    scripts: impl IntoIterator<Item = SessionScript>,
) -> RunReport {
    run(project, ScriptedBackend::new(scripts), &Arc::default())
        .run(&RunControl::new())
        .await
        .expect("it starts")
}

/// Returns the values of the journal lines for which `choose` returns one.
fn lines<T>(project: &TempProject, choose: impl Fn(&JournalLine) -> Option<T>) -> Vec<T> {
    let journal = Journal::read(&project.project().journal_path()).expect("readable");
    journal
        .entries()
        .iter()
        .filter_map(|entry| choose(&entry.line))
        .collect()
}

fn restored(project: &TempProject) -> Vec<(u32, ForeignChange, Option<String>)> {
    lines(project, |line| match line {
        JournalLine::LedgerRestored { session, foreign } => {
            Some((*session, foreign.change, foreign.saved_as.clone()))
        }
        _ => None,
    })
}

fn edits(project: &TempProject) -> usize {
    lines(project, |line| {
        matches!(line, JournalLine::LedgerEdited { .. }).then_some(())
    })
    .len()
}

fn status(project: &TempProject, id: &str) -> DeliverableStatus {
    let ledger = project.ledger().expect("there").ledger;
    let mut all = ledger.deliverables().iter();
    let found = all.find(|deliverable| deliverable.id().as_str() == id);
    found.expect("there").status()
}

/// A foreign change of the ledger, and the change that the run reports.
type Mishap = (&'static str, fn(&Path), ForeignChange);

const MISHAPS: [Mishap; 8] = [
    ("a forged ledger", forges, ForeignChange::Changed),
    (
        "a forged ledger with a higher epoch",
        |project| {
            let forged = FORGED.replace("\"epoch\": 1", "\"epoch\": 7");
            fs::write(ledger(project), forged).expect("writable");
        },
        ForeignChange::Changed,
    ),
    (
        "a blank at the end",
        |project| {
            let text = fs::read_to_string(ledger(project)).expect("readable");
            fs::write(ledger(project), text + " ").expect("writable");
        },
        ForeignChange::Changed,
    ),
    (
        "something that is no ledger",
        |project| fs::write(ledger(project), "no JSON").expect("writable"),
        ForeignChange::Changed,
    ),
    (
        "nothing",
        |project| fs::remove_file(ledger(project)).expect("ours"),
        ForeignChange::Removed,
    ),
    (
        "a symlink to a forged ledger",
        |project| {
            fs::write(project.join("forged.json"), FORGED).expect("writable");
            fs::remove_file(ledger(project)).expect("ours");
            symlink(project.join("forged.json"), ledger(project)).expect("writable");
        },
        ForeignChange::Replaced,
    ),
    (
        "a symlink to the ledger itself",
        |project| {
            fs::rename(ledger(project), project.join("moved.json")).expect("ours");
            symlink(project.join("moved.json"), ledger(project)).expect("writable");
        },
        ForeignChange::Replaced,
    ),
    (
        "a folder",
        |project| {
            fs::remove_file(ledger(project)).expect("ours");
            fs::create_dir(ledger(project)).expect("writable");
            fs::write(ledger(project).join("inside"), "one").expect("writable");
        },
        ForeignChange::Replaced,
    ),
];

#[tokio::test(start_paused = true)]
async fn foreign_content_does_not_end_a_run_and_is_kept() {
    for (case, mishap, change) in MISHAPS {
        let project = TempProject::new();
        let second = SessionScript::new("has its ledger replaced")
            .performs(mishap)
            .says("ok")
            .ends();

        let report = report(&project, [plans(), second, passes(&["A", "B"])]).await;

        assert_eq!(report.exit, ExitReason::AllPassed, "{case}");
        assert_eq!(
            report.sessions, 3,
            "{case}: the second session passed nothing"
        );
        let name = (change != ForeignChange::Removed).then(|| "status.foreign-1.json".to_owned());
        assert_eq!(restored(&project), [(2, change, name.clone())], "{case}");
        assert_eq!(
            saved_copy(&project, 1).symlink_metadata().is_ok(),
            name.is_some(),
            "{case}"
        );
        let file = ledger(project.path()).symlink_metadata().expect("there");
        assert!(file.is_file(), "{case}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_call_restores_the_ledger_before_it_changes_it() {
    for (case, mishap, _) in MISHAPS {
        let project = TempProject::new();
        let second = SessionScript::new("is interfered with")
            .uses_tool("mcp__autonoe__set_status", passed("A"))
            .performs(mishap)
            .uses_tool("mcp__autonoe__list", json!({}))
            .uses_tool("mcp__autonoe__set_status", passed("B"))
            .ends();

        let report = report(&project, [plans(), second]).await;

        assert_eq!(report.exit, ExitReason::AllPassed, "{case}");
        assert_eq!(restored(&project).len(), 1, "{case}");
        assert_eq!(status(&project, "A"), DeliverableStatus::Passed, "{case}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_acknowledged_pass_survives_an_older_ledger() {
    let project = TempProject::new();
    let copy = |project: &Path| drop(fs::copy(ledger(project), project.join("old.json")));
    let revert = |project: &Path| drop(fs::copy(project.join("old.json"), ledger(project)));
    let second = SessionScript::new("passes A")
        .performs(copy)
        .uses_tool("mcp__autonoe__set_status", passed("A"))
        .performs(revert)
        .ends();

    let report = report(&project, [plans(), second, passes(&["B"])]).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
    assert_eq!(status(&project, "A"), DeliverableStatus::Passed);
    let old = fs::read(project.path().join("old.json")).expect("there");
    assert_eq!(fs::read(saved_copy(&project, 1)).expect("it is kept"), old);
}

#[tokio::test(start_paused = true)]
async fn the_second_foreign_change_stops_the_run_with_its_cause() {
    let project = TempProject::new();
    let forging = |name: &str| SessionScript::new(name).performs(forges).says("ok").ends();

    let report = report(&project, [plans(), forging("first"), forging("second")]).await;

    let ExitReason::Failed { error } = &report.exit else {
        panic!("{report:?}");
    };
    assert_eq!(error.code, "ledger_foreign_change");
    for part in ["changed the ledger", "status.foreign-2.json", "start again"] {
        assert!(error.message.contains(part), "{part}: {error}");
    }
    let reported = report.deliverables.expect("the ledger was read");
    assert_eq!((reported.passed, reported.total), (0, 2));
    assert_eq!(status(&project, "A"), DeliverableStatus::Pending);
    for number in [1, 2] {
        assert_eq!(
            fs::read_to_string(saved_copy(&project, number)).expect("kept"),
            FORGED
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_foreign_change_in_a_session_stops_it() {
    let project = TempProject::new();
    let second = SessionScript::new("works on")
        .performs(forges)
        .uses_tool("mcp__autonoe__set_status", passed("A"))
        .performs(forges)
        .fails_tool("mcp__autonoe__set_status", passed("B"))
        .hangs();

    let report = report(&project, [plans(), second]).await;

    let ExitReason::Failed { error } = &report.exit else {
        panic!("{report:?}");
    };
    assert_eq!(error.code, "ledger_foreign_change");
    assert_eq!(status(&project, "A"), DeliverableStatus::Passed);
    assert_eq!(status(&project, "B"), DeliverableStatus::Pending);
}

#[tokio::test(start_paused = true)]
async fn a_resumed_run_remembers_the_first_foreign_change() {
    let project = TempProject::new();
    let control = RunControl::new();
    let cancel = control.clone();
    let forging = SessionScript::new("forges")
        .performs(forges)
        .says("ok")
        .ends();
    let agents = ScriptedBackend::new([plans(), forging]).unverified();
    let dropped = run(&project, agents, &Arc::default()).configure(move |runner| {
        runner.observer(Arc::new(move |event: &RunEvent<'_>| {
            if matches!(event.kind, RunEventKind::LedgerRestored { .. }) {
                cancel.cancel();
            }
        }))
    });
    // Like a kill: the run is dropped with its first foreign change in the journal.
    let never = RunControl::new();
    tokio::select! {
        biased;
        () = control.cancelled() => {}
        _ = dropped.run(&never) => panic!("it is dropped"),
    }
    assert_eq!(restored(&project).len(), 1);

    let second_forgery = SessionScript::new("forges again")
        .performs(forges)
        .says("ok")
        .ends();
    let agents = ScriptedBackend::resuming_at(3, [plans(), passes(&[]), second_forgery]);
    let report = run(&project, agents, &Arc::default())
        .run(&RunControl::new())
        .await
        .expect("it starts");

    let ExitReason::Failed { error } = &report.exit else {
        panic!("{report:?}");
    };
    assert_eq!(error.code, "ledger_foreign_change");
}

#[tokio::test(start_paused = true)]
async fn observers_are_notified_and_the_time_line_has_it() {
    let project = TempProject::new();
    let events = Arc::<EventLog>::default();
    let second = SessionScript::new("forges")
        .performs(forges)
        .says("ok")
        .ends();
    let agents = ScriptedBackend::new([plans(), second, passes(&["A", "B"])]);

    let report = run(&project, agents, &events)
        .run(&RunControl::new())
        .await
        .expect("it starts");

    let text = events.render();
    let sentence = "something other than the run changed the ledger; it was restored, and the \
                    foreign content is kept as status.foreign-1.json";
    assert!(text.contains(sentence), "{text}");
    let journal = Journal::read(&project.project().journal_path()).expect("readable");
    let timeline = RunTimeline::from_journal(&journal, &report.run).expect("it is there");
    assert_eq!(timeline.ledger_restored.len(), 1);
    assert_eq!(timeline.ledger_restored[0].session, 2);
    assert_eq!(timeline.ledger_edited, None);
}

#[tokio::test(start_paused = true)]
async fn an_edit_between_runs_is_accepted_and_recorded_once() {
    let project = TempProject::new();
    let first = run(&project, ScriptedBackend::new([plans()]), &Arc::default())
        .configure(|runner| runner.max_iterations(1))
        .run(&RunControl::new())
        .await
        .expect("it starts");
    assert_eq!(first.exit, ExitReason::MaxIterations);
    let text = fs::read_to_string(ledger(project.path())).expect("readable");
    let edited = text.replacen("\"passed\": false", "\"passed\": true", 1);
    fs::write(ledger(project.path()), edited).expect("writable");

    let second = report(&project, [passes(&["B"])]).await;
    let third = report(&project, []).await;

    assert_eq!(second.exit, ExitReason::AllPassed);
    assert_eq!(third.exit, ExitReason::AllPassed);
    assert_eq!(edits(&project), 1);
    assert_eq!(restored(&project), []);
}

#[tokio::test(start_paused = true)]
async fn runs_that_follow_each_other_find_no_edit() {
    let project = TempProject::new();
    for ids in [None, Some("A"), Some("B")] {
        let script = ids.map_or_else(plans, |id| passes(&[id]));
        run(&project, ScriptedBackend::new([script]), &Arc::default())
            .configure(|runner| runner.max_iterations(1))
            .run(&RunControl::new())
            .await
            .expect("it starts");
    }

    assert_eq!(status(&project, "B"), DeliverableStatus::Passed);
    assert_eq!(edits(&project), 0);
}

/// Returns the project of a killed run: its journal ends with the line before the save in which A
/// passes.
async fn killed_at_the_save(text_of_the_ledger: &str) -> TempProject {
    let copy = |name: &'static str| {
        move |project: &Path| drop(fs::copy(ledger(project), project.join(name)))
    };
    let project = TempProject::new();
    let second = SessionScript::new("passes")
        .performs(copy("before.json"))
        .uses_tool("mcp__autonoe__set_status", passed("A"))
        .performs(copy("after.json"))
        .uses_tool("mcp__autonoe__set_status", passed("B"))
        .ends();
    report(&project, [plans(), second]).await;
    let journal = project.read(".autonoe/journal.jsonl");
    let lines: Vec<&str> = journal.split_inclusive('\n').collect();
    let saves = lines.iter().enumerate();
    let mut saves = saves.filter(|(_, line)| line.contains("\"ledger_save\""));
    let (of_a, _) = saves.nth(1).expect("the plan, then A, then B");
    let found = project.read(text_of_the_ledger);
    project
        .file(".autonoe/journal.jsonl", lines[..=of_a].concat())
        .status(found)
}

#[tokio::test(start_paused = true)]
async fn a_kill_before_or_after_the_save_is_no_edit() {
    for (text, expected) in [
        ("before.json", DeliverableStatus::Pending),
        ("after.json", DeliverableStatus::Passed),
    ] {
        let project = killed_at_the_save(text).await;
        assert_eq!(status(&project, "A"), expected);

        let agents = ScriptedBackend::resuming_at(2, [plans(), passes(&["A", "B"])]);
        let resumed = run(&project, agents, &Arc::default())
            .run(&RunControl::new())
            .await
            .expect("it starts");

        assert_eq!(resumed.exit, ExitReason::AllPassed, "{text}");
        assert_eq!(edits(&project), 0, "{text}");
        assert_eq!(restored(&project), [], "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_edit_after_a_kill_is_accepted_and_recorded() {
    let project = killed_at_the_save("before.json").await;
    forges(project.path());

    let resumed = run(
        &project,
        ScriptedBackend::resuming_at(2, [plans(), passes(&[])]),
        &Arc::default(),
    )
    .run(&RunControl::new())
    .await
    .expect("it starts");

    assert_eq!(resumed.exit, ExitReason::AllPassed);
    assert_eq!(edits(&project), 1);
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_disappears_between_runs_is_an_error_and_no_new_plan() {
    let project = TempProject::new();
    run(&project, ScriptedBackend::new([plans()]), &Arc::default())
        .configure(|runner| runner.max_iterations(1))
        .run(&RunControl::new())
        .await
        .expect("it starts");
    let backup = fs::read(ledger(project.path())).expect("there");
    fs::remove_file(ledger(project.path())).expect("ours");

    let refused = run(&project, ScriptedBackend::new([]), &Arc::default())
        .run(&RunControl::new())
        .await
        .expect_err("nothing can be started");

    assert!(matches!(refused, ProjectRunError::Ledger(_)), "{refused:?}");
    let text = refused.to_string();
    for part in [
        "status.json is missing",
        "2 deliverables",
        "git stash pop",
        "journal*.jsonl",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let preview = autonoe_core::project::RunPreview::new(
        project.project(),
        autonoe_core::Mode::Run,
        SandboxSwitch::default(),
    );
    assert_eq!(preview.expect_err("as the run").to_string(), text);
    assert!(!ledger(project.path()).exists(), "no new one was begun");

    fs::write(ledger(project.path()), backup).expect("writable");
    let report = report(&project, [passes(&["A", "B"])]).await;
    assert_eq!(report.exit, ExitReason::AllPassed);
}

#[tokio::test(start_paused = true)]
async fn a_project_without_journal_and_ledger_is_planned_from_scratch() {
    let project = TempProject::new();
    report(&project, [plans(), passes(&["A", "B"])]).await;
    fs::remove_file(ledger(project.path())).expect("ours");
    fs::remove_file(project.project().journal_path()).expect("ours");

    let report = report(&project, [plans(), passes(&["A", "B"])]).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
}

#[tokio::test(start_paused = true)]
async fn a_session_of_a_flow_fails_at_the_second_foreign_change() {
    let project = TempProject::new().status(FORGED.replace("true", "false"));
    let forging = |name: &str| SessionScript::new(name).performs(forges).says("ok").ends();
    let agents = Arc::new(ScriptedBackend::new([forging("first"), forging("second")]));
    let open_project = OpenProject::options(project.project())
        .clock(Arc::new(VirtualClock::new()))
        .open()
        .await
        .expect("the lock is free");
    let sessions = open_project
        .start(agents)
        .expect("writable")
        .build_sessions()
        .expect("complete");
    let mut open = sessions
        .open(FlowStart::new("tidy"), &RunControl::new())
        .await
        .expect("it begins");

    let first = open.run(SessionOrder::new("Tidy up.")).await;
    let view = open.ledger().await.expect("readable").expect("there");
    let second = open.run(SessionOrder::new("Tidy up.")).await;

    assert!(
        matches!(first.result.end, SessionEnd::Outcome(_)),
        "{first:?}"
    );
    assert_eq!(view.counts.passed, 0);
    let SessionEnd::Failed { error } = &second.result.end else {
        panic!("{second:?}");
    };
    assert_eq!(error.code, "ledger_foreign_change");
    open.close(FlowExit::Completed, json!({}));
}
