//! Projects that are in use, moved or removed during a run.

use std::fs;

use crate::runs::support::autonoe::{RunningCommand, scripted, scripted_command};
use crate::runs::support::project::Project;
use crate::runs::support::script::{Script, ends, hangs, text_step, waits_for_file};

// Shows: beyond/project-that-is-moved-removed
#[test]
fn a_moved_or_incomplete_project_ends_the_run_with_an_error() {
    type Mishap = fn(&Project);
    for (mishap, named) in [
        (
            (|project| fs::rename(project.root(), project.sibling_path("aside")).expect("ours"))
                as Mishap,
            ".autonoe",
        ),
        (
            |project| fs::remove_dir_all(project.path(".autonoe")).expect("ours"),
            ".autonoe",
        ),
        (
            |project| fs::remove_file(project.path(".autonoe/journal.jsonl")).expect("ours"),
            "journal.jsonl",
        ),
    ] {
        let project = Project::new();
        let released = project.sibling_path("released");
        let script = Script::new().plans(&["DL-001", "DL-002"]).session([
            text_step("working"),
            waits_for_file(&released),
            ends(),
        ]);
        let command = scripted_command(&project, &script, &["run"]);
        let run =
            RunningCommand::until_journal_has(command, &project, "\"number\":2,\"instruction\"");

        mishap(&project);
        fs::write(released, "").expect("writable");
        let (code, written) = run.end();

        assert_eq!(code, Some(1), "{written}");
        assert!(written.contains("is gone"), "{written}");
        assert!(written.contains(named), "{written}");
        assert!(written.contains("start again"), "{written}");
        assert!(!written.contains("Session 3 started"), "{written}");
        let warning = "the end of the run is not in the journal";
        assert!(written.contains(warning), "{written}");
        for raw in ["ERROR", "WARN", "autonoe_core::"] {
            assert!(!written.contains(raw), "{raw}: {written}");
        }
    }
}

#[test]
fn a_second_run_reports_the_lock_and_not_an_interrupted_run() {
    let project = Project::new();
    let script = Script::new().session([text_step("I begin."), hangs()]);
    let command = scripted_command(&project, &script, &["run"]);
    let first = RunningCommand::until_journal_has(command, &project, "\"number\":1");

    for arguments in [["run"], ["sync"]] {
        let second = scripted(&project, &script, &arguments);

        assert_eq!(second.code, Some(1), "{second:?}");
        let held = format!("is held by another run: process {}", first.id());
        assert!(second.stderr.contains(&held), "{second:?}");
        assert!(!second.stderr.contains("warning:"), "{second:?}");
    }
    first.kill();
}
