//! Temporary project directories.

use std::sync::Arc;

use autonoe_core::event::InstructionName;
use autonoe_core::project::OpenProject;
use autonoe_core::{ProjectRun, RunControl};
use autonoe_testkit::{ScriptedBackend, TempProject, VirtualClock};
use serde_json::json;

use crate::projects::{plans, sets_status};

#[test]
fn it_is_there_until_it_is_dropped() {
    let project = TempProject::new();
    let path = project.path().to_owned();
    let was_there = path.join("SPEC.md").is_file();

    drop(project);

    assert!(was_there);
    assert!(!path.exists());
}

#[test]
fn project_files_are_written_to_expected_paths() {
    let project = TempProject::new()
        .spec("# A shop")
        .config(json!({"profile": "rust"}))
        .status("not a ledger")
        .instruction(&InstructionName::Coding, "Write the tests first.")
        .file("src/bin/shop.rs", "fn main() {}");

    let read = [
        ("SPEC.md", "# A shop"),
        (".autonoe/agent.json", r#"{"profile":"rust"}"#),
        (".autonoe/status.json", "not a ledger"),
        (".autonoe/coding.md", "Write the tests first."),
        ("src/bin/shop.rs", "fn main() {}"),
    ];
    for (path, text) in read {
        assert_eq!(project.read(path), text, "{path}");
    }
    assert!(project.project().specification().is_ok());
}

#[test]
fn a_project_without_a_run_has_neither_ledger_nor_journal() {
    let project = TempProject::new();

    assert_eq!(project.ledger(), None);
    assert_eq!(project.journal().entries(), []);
}

#[tokio::test(start_paused = true)]
async fn run_results_are_readable() {
    let project = TempProject::new();
    let agents = ScriptedBackend::new([plans(), sets_status("passed")]);

    let report = ProjectRun::new(
        OpenProject::options(project.project()).clock(Arc::new(VirtualClock::new())),
        Arc::new(agents),
    )
    .run(&RunControl::new())
    .await
    .expect("it starts");

    let state = project.ledger().expect("it was saved");
    let reported = report.deliverables.expect("the ledger was read");
    assert_eq!(state.view().counts.passed, reported.passed);
    let histories = project.journal().run_histories();
    assert_eq!((histories.len(), histories[0].sessions), (1, 2));
    let lines = project.journal_text().lines().count();
    assert_eq!(lines, project.journal().entries().len());
}

#[test]
#[should_panic(expected = "does not contain a valid ledger")]
fn a_file_that_is_no_ledger_fails_the_test() {
    let project = TempProject::new().status("{}");

    let _ = project.ledger();
}

#[test]
#[should_panic(expected = "is outside the project")]
fn writing_a_file_outside_the_project_panics() {
    let _ = TempProject::new().file("../elsewhere", "");
}
