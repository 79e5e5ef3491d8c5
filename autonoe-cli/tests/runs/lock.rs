//! A second run in a project that is in use.

use crate::runs::support::autonoe::{scripted, scripted_command};
use crate::runs::support::project::Project;
use crate::runs::support::running_command::RunningCommand;
use crate::runs::support::script::{Script, hangs, text_step};

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
