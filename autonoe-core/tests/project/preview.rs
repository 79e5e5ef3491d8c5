//! Previews of runs.

use std::fs;
use std::path::Path;

use autonoe_core::event::InstructionName;
use autonoe_core::project::{
    InstructionOrigin, NextAction, ProjectRunError, RunLock, RunPreview, SandboxSwitch,
};
use autonoe_core::{ExitReason, Mode};
use autonoe_testkit::TempProject;
use jiff::Timestamp;
use serde_json::json;

fn preview(project: &TempProject, mode: Mode) -> RunPreview {
    RunPreview::new(project.project(), mode, SandboxSwitch::default()).expect("a run could start")
}

fn ledger(passed: bool) -> serde_json::Value {
    json!({"deliverables": [{
        "id": "A", "description": "a thing", "acceptanceCriteria": ["it works"],
        "passed": passed, "blocked": false,
    }]})
}

/// Returns the names of all files in the project.
fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("readable");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("readable").path())
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path.display().to_string()]
            }
        })
        .collect();
    names.sort();
    names
}

#[test]
fn the_first_session_depends_on_mode_and_ledger_and_nothing_is_written() {
    for (mode, status, instruction, tools) in [
        (
            Mode::Run,
            None,
            InstructionName::Initializer,
            vec!["create"],
        ),
        (
            Mode::Run,
            Some(ledger(false)),
            InstructionName::Coding,
            vec!["set_status", "list"],
        ),
        (
            Mode::Sync,
            Some(ledger(true)),
            InstructionName::Sync,
            vec!["create", "deprecate", "list"],
        ),
    ] {
        let mut project = TempProject::new().spec("# Shop");
        if let Some(status) = status {
            project = project.status(status);
        }
        let before = files(project.path());

        let preview = preview(&project, mode);

        let NextAction::Session {
            number: 1,
            instruction: chosen,
            text,
            tools: names,
            ..
        } = preview.next
        else {
            panic!("{mode}: {:?}", preview.next);
        };
        let tools: Vec<_> = tools
            .iter()
            .map(|it| format!("mcp__autonoe__{it}"))
            .collect();
        assert_eq!((chosen, names), (instruction, tools));
        assert_eq!(text.origin, InstructionOrigin::BuiltIn);
        assert_eq!(files(project.path()), before);
    }
}

/// Appendix A.1 by files. An empty file counts as none: a run writes one before its first session,
/// so an interrupted plan is made again.
// Shows: spec/a.1/four-rows
// Shows: spec/9.1/no-status
#[test]
fn the_first_instruction_follows_the_file_of_the_ledger() {
    let empty = json!({"deliverables": []});
    let deprecated = json!({"deliverables": [{
        "id": "A", "description": "a thing", "acceptanceCriteria": ["it works"],
        "passed": false, "blocked": false, "deprecatedAt": "2026-01-31",
    }]});
    for (mode, status, expected) in [
        (Mode::Run, None, Some(InstructionName::Initializer)),
        (
            Mode::Run,
            Some(empty.clone()),
            Some(InstructionName::Initializer),
        ),
        (
            Mode::Run,
            Some(ledger(false)),
            Some(InstructionName::Coding),
        ),
        (Mode::Run, Some(deprecated), None),
        (Mode::Sync, None, Some(InstructionName::Sync)),
        (Mode::Sync, Some(empty), Some(InstructionName::Sync)),
        (Mode::Sync, Some(ledger(false)), Some(InstructionName::Sync)),
    ] {
        let project = TempProject::new().spec("# Shop");
        let project = match &status {
            Some(status) => project.status(status.clone()),
            None => project,
        };
        assert_eq!(
            project.project().status_path().exists(),
            status.is_some(),
            "{status:?}"
        );

        let next = preview(&project, mode).next;

        let chosen = match &next {
            NextAction::Session { instruction, .. } => Some(instruction.clone()),
            NextAction::Finish { .. } => None,
            other => panic!("{mode} {status:?}: {other:?}"),
        };
        assert_eq!(chosen, expected, "{mode} {status:?}: {next:?}");
    }
}

#[test]
fn a_text_of_the_project_has_its_file() {
    let project = TempProject::new()
        .spec("# Shop")
        .instruction(&InstructionName::Initializer, "Plan it.");

    let preview = preview(&project, Mode::Run);

    let file = project.project().state_dir().join("initializer.md");
    assert!(
        matches!(&preview.next, NextAction::Session { text, .. }
            if text.text == "Plan it." && text.origin == InstructionOrigin::File(file)),
        "{:?}",
        preview.next
    );
}

#[test]
fn a_finished_ledger_ends_a_run_at_once() {
    let project = TempProject::new().spec("# Shop").status(ledger(true));

    let next = preview(&project, Mode::Run).next;

    let exit = ExitReason::AllPassed;
    assert_eq!(next, NextAction::Finish { exit });
}

#[test]
fn another_running_run_is_reported() {
    let project = TempProject::new().spec("# Shop");
    let lock = RunLock::acquire(project.project(), Timestamp::now()).expect("the lock is free");

    assert!(preview(&project, Mode::Run).lock_held.is_some());

    drop(lock);
    assert!(preview(&project, Mode::Run).lock_held.is_none());
}

#[test]
fn preview_reports_errors_that_prevent_a_run() {
    for (project, is_expected) in [
        (
            TempProject::new().spec("# Shop").status("{"),
            (|error| matches!(error, ProjectRunError::Ledger(_))) as fn(&ProjectRunError) -> bool,
        ),
        (
            TempProject::new()
                .spec("# Shop")
                .status(json!({"deliverables": [], "epoch": u64::MAX})),
            |error| matches!(error, ProjectRunError::Ledger(_)),
        ),
        (TempProject::new().spec("# Shop").config("{"), |error| {
            matches!(error, ProjectRunError::Config(_))
        }),
        (
            TempProject::new()
                .spec("# Shop")
                .file(".autonoe/journal.jsonl", "hello\n"),
            |error| matches!(error, ProjectRunError::Journal(_)),
        ),
        (
            TempProject::new()
                .spec("# Shop")
                .instruction(&InstructionName::Initializer, " "),
            |error| matches!(error, ProjectRunError::Instruction(_)),
        ),
    ] {
        let error = RunPreview::new(project.project(), Mode::Run, SandboxSwitch::default())
            .expect_err("it could not start");

        assert!(is_expected(&error), "{error:?}");
    }
}
