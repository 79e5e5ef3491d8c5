//! Projects that are moved, removed or replaced during a run.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::event::Failure;
use autonoe_core::project::OpenProject;
use autonoe_core::time::SeededIds;
use autonoe_core::{
    ExitReason, Project, ProjectRun, RunControl, RunEvent, RunEventKind, RunReport,
};
use autonoe_testkit::{ScriptedBackend, SessionScript, VirtualClock};
use serde_json::json;
use tempfile::TempDir;

/// A mishap of the project with this path.
type Mishap = fn(&Path);

fn state(project: &Path) -> PathBuf {
    project.join(".autonoe")
}

fn journal(project: &Path) -> PathBuf {
    state(project).join("journal.jsonl")
}

fn moved_path(project: &Path) -> PathBuf {
    project.with_file_name("aside")
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).expect("writable");
    for entry in fs::read_dir(from).expect("readable") {
        let from = entry.expect("readable").path();
        let name = from.file_name().expect("it has one");
        fs::copy(&from, to.join(name)).expect("writable");
    }
}

/// Mishaps of the folder, after which the ledger cannot be saved any more.
const FOLDER: [(&str, Mishap, &str); 6] = [
    (
        "the project was moved",
        |project| fs::rename(project, moved_path(project)).expect("ours"),
        "is gone",
    ),
    (
        "the project was removed",
        |project| fs::remove_dir_all(project).expect("ours"),
        "is gone",
    ),
    (
        "the folder was moved",
        |project| fs::rename(state(project), moved_path(project)).expect("ours"),
        "is gone",
    ),
    (
        "the folder was removed",
        |project| fs::remove_dir_all(state(project)).expect("ours"),
        "is gone",
    ),
    (
        "the folder was replaced by an empty one",
        |project| {
            fs::rename(state(project), moved_path(project)).expect("ours");
            fs::create_dir(state(project)).expect("ours");
        },
        "was replaced",
    ),
    (
        "the folder was replaced by a copy",
        |project| {
            fs::rename(state(project), moved_path(project)).expect("ours");
            copy_folder(&moved_path(project), &state(project));
        },
        "was replaced",
    ),
];

/// Mishaps of the journal alone: the ledger is still there.
const JOURNAL: [(&str, Mishap, &str); 5] = [
    (
        "the journal was moved",
        |project| fs::rename(journal(project), moved_path(project)).expect("ours"),
        "is gone",
    ),
    (
        "the journal was removed",
        |project| fs::remove_file(journal(project)).expect("ours"),
        "is gone",
    ),
    (
        "the journal was replaced by a copy",
        |project| {
            fs::rename(journal(project), moved_path(project)).expect("ours");
            fs::copy(moved_path(project), journal(project)).expect("ours");
        },
        "was replaced",
    ),
    (
        "the journal was cut short",
        |project| fs::write(journal(project), "").expect("ours"),
        "was replaced",
    ),
    (
        "somebody else wrote to the journal",
        |project| {
            let mut text = fs::read_to_string(journal(project)).expect("ours");
            text.push_str("note\n");
            fs::write(journal(project), text).expect("ours");
        },
        "was replaced",
    ),
];

fn plans() -> SessionScript {
    let one = |id| json!({"id": id, "description": "Login", "acceptanceCriteria": ["it works"]});
    let plan = json!({"deliverables": [one("A"), one("B")]});
    SessionScript::new("plans")
        .uses_tool("mcp__autonoe__create", plan)
        .ends()
}

fn passed(id: &str) -> serde_json::Value {
    json!({"deliverableId": id, "status": "passed"})
}

const SET_STATUS: &str = "mcp__autonoe__set_status";

/// Creates a project in its own folder, so that it can be moved to a sibling.
fn project(folder: &TempDir) -> Project {
    let root = folder.path().join("project");
    fs::create_dir(&root).expect("writable");
    fs::write(root.join("SPEC.md"), "# Shop").expect("writable");
    Project::find(&root, None).expect("it is there")
}

/// Runs a plan and then `second`, and nothing after that.
async fn run(folder: &TempDir, second: SessionScript) -> RunReport {
    // There is no third script: a third session would be reported as a problem.
    let agents = ScriptedBackend::new([plans(), second]);
    ProjectRun::new(
        OpenProject::options(&project(folder)).clock(Arc::new(VirtualClock::new())),
        Arc::new(agents),
    )
    .configure(move |runner| runner.ids(Arc::new(SeededIds::new(1))))
    .run(&RunControl::new())
    .await
    .expect("it starts")
}

fn failure(report: &RunReport) -> &Failure {
    match &report.exit {
        ExitReason::Failed { error } => error,
        other => panic!("{other:?}"),
    }
}

/// Checks that the run ended with a clear message, and that the moved file got no more content.
fn assert_clear(case: &str, report: &RunReport, expected: &str, folder: &TempDir) {
    let error = failure(report);
    assert!(error.message.contains(expected), "{case}: {error}");
    assert!(error.message.contains("start again"), "{case}: {error}");
    let path = folder.path().join("project");
    let named = error.message.contains(&path.display().to_string());
    assert!(named, "{case}: {error}");
    assert!(report.elapsed < Duration::from_secs(60), "{case}: at once");
    for moved in [
        "aside",
        "aside/journal.jsonl",
        "aside/.autonoe/journal.jsonl",
    ] {
        let moved = folder.path().join(moved);
        if moved.is_file() {
            let text = fs::read_to_string(moved).expect("readable");
            assert!(!text.contains("run_ended"), "{case}: {text}");
            assert!(!text.contains("\"newStatus\":\"passed\""), "{case}: {text}");
        }
    }
}

// Shows: beyond/project-that-is-moved-removed
#[tokio::test(start_paused = true)]
async fn project_lost_during_a_session_ends_the_run() {
    for (case, mishap, expected) in FOLDER.into_iter().chain(JOURNAL) {
        let folder = tempfile::tempdir().expect("a folder");
        let second = SessionScript::new("continues")
            .performs(mishap)
            .says("ok")
            .ends();

        let report = run(&folder, second).await;

        assert_clear(case, &report, expected, &folder);
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_cannot_mark_anything_any_more_is_stopped() {
    for (case, mishap, expected) in FOLDER {
        let folder = tempfile::tempdir().expect("a folder");
        let second = SessionScript::new("works on")
            .performs(mishap)
            .fails_tool(SET_STATUS, passed("A"))
            .hangs();

        let report = run(&folder, second).await;

        assert_clear(case, &report, expected, &folder);
        assert_eq!(failure(&report).code, "ledger_missing", "{case}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_is_stopped_before_a_ledger_change_that_the_journal_cannot_record() {
    for (case, mishap, expected) in JOURNAL {
        let folder = tempfile::tempdir().expect("a folder");
        let second = SessionScript::new("works on")
            .performs(mishap)
            .fails_tool(SET_STATUS, passed("A"))
            .hangs();

        let report = run(&folder, second).await;

        assert_clear(case, &report, expected, &folder);
        assert_eq!(failure(&report).code, "journal_unavailable", "{case}");
    }
}

#[tokio::test(start_paused = true)]
async fn project_lost_between_sessions_starts_no_session() {
    for (case, mishap, expected) in FOLDER.into_iter().chain(JOURNAL) {
        let folder = tempfile::tempdir().expect("a folder");

        let report = run_with_a_mishap_in_the_pause(&folder, mishap).await;

        assert_clear(case, &report, expected, &folder);
    }
}

/// Runs a plan; `mishap` happens in the following pause.
async fn run_with_a_mishap_in_the_pause(folder: &TempDir, mishap: Mishap) -> RunReport {
    let project = project(folder);
    let root = project.root().to_owned();
    let agents = Arc::new(ScriptedBackend::new([plans()]));
    let watch = move |event: &RunEvent<'_>| {
        if matches!(event.kind, RunEventKind::WaitStarted { .. }) {
            mishap(&root);
        }
    };
    let report = ProjectRun::new(
        OpenProject::options(&project).clock(Arc::new(VirtualClock::new())),
        agents.clone(),
    )
    .configure(move |runner| runner.observer(Arc::new(watch)))
    .run(&RunControl::new())
    .await
    .expect("it starts");
    assert_eq!(agents.prompts().len(), 1, "no second agent was prompted");
    report
}

#[tokio::test(start_paused = true)]
async fn the_run_of_a_restored_project_is_resumed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (case, moves, expected) = FOLDER[0];
    let second = SessionScript::new("continues")
        .performs(moves)
        .says("ok")
        .ends();
    let broken = run(&folder, second).await;
    assert_clear(case, &broken, expected, &folder);
    fs::rename(folder.path().join("aside"), folder.path().join("project")).expect("ours");

    let project = Project::find(&folder.path().join("project"), None).expect("it is back");
    let pass = SessionScript::new("passes")
        .uses_tool(SET_STATUS, passed("A"))
        .uses_tool(SET_STATUS, passed("B"))
        .ends();
    let agents = ScriptedBackend::resuming_at(2, [plans(), pass]);
    let report = ProjectRun::new(
        OpenProject::options(&project).clock(Arc::new(VirtualClock::new())),
        Arc::new(agents),
    )
    .run(&RunControl::new())
    .await
    .expect("it starts");

    assert_eq!(report.exit, ExitReason::AllPassed);
    assert_eq!(report.run, broken.run, "it is the same run");
}
