//! The Git commands of [`git_commands`](super::git_commands), executed in the sandbox that Autonoe
//! starts an agent in. It needs bubblewrap, and fails without it.

use std::ffi::OsString;
use std::path::Path;
use std::thread;

use autonoe_backend::{SandboxConfig, SandboxMounts, SandboxNetwork, SessionDirectory};
use autonoe_core::agent::{OuterSandbox, Sandbox, Support};
use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::time::SessionKey;
use autonoe_core::tool::Toolbox;
use autonoe_core::{Capabilities, DeliverableStatus, ExitReason, RunId, SessionSpec};
use autonoe_process::{Exit, ShutdownPolicy, find_program};
use autonoe_testkit::SessionScript;
use tokio::io::AsyncReadExt;

use super::git_commands::{
    ARGUMENTS, ENVIRONMENT, HARMLESS, SET_STATUS, commit_ledger, passed, passes, plans, repository,
    restored, run, statuses,
};

/// Runs `git` with `arguments` in the sandbox of a session in `project`. Returns its exit and its
/// output.
fn sandboxed_git(project: &Path, arguments: &str) -> (Exit, String) {
    let project = project.to_owned();
    let words: Vec<OsString> = ARGUMENTS
        .into_iter()
        .chain(arguments.split_whitespace())
        .map(OsString::from)
        .collect();
    // The run is in virtual time, and the process is not.
    let running = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(execute(&project, words))
    });
    running.join().expect("it does not panic")
}

async fn execute(project: &Path, words: Vec<OsString>) -> (Exit, String) {
    let path = std::env::var_os("PATH").expect("set");
    let git = find_program("git", &path).expect("git is installed");
    let bubblewrap = find_program("bwrap", &path);
    let mut walls = SandboxConfig::new(Some(bubblewrap.expect("this test needs bubblewrap")));
    walls.network = SandboxNetwork::Off;
    let key = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let gate = Gate::new(ProjectPaths::new(project), Grants::none());
    let mut spec = SessionSpec::new(key, project, gate, Toolbox::new([]));
    spec.sandbox = Sandbox::Required;
    spec.outer_sandbox = Some(OuterSandbox::bubblewrap());
    let folders = tempfile::tempdir().expect("a folder");
    let place = SessionDirectory::create(folders.path(), "git-", |_| Ok(())).expect("a folder");
    let inside = SandboxMounts {
        program: git,
        ..SandboxMounts::default()
    };

    let claimed = Capabilities::new("git").with_outer_sandbox(Support::Yes);
    let launch = walls
        .launch(&spec, &claimed, place, &inside)
        .await
        .expect("a sandbox can be made")
        .args(words)
        .env("PATH", path)
        .envs(ENVIRONMENT);
    let mut started = launch.start().await.expect("it starts");
    drop(started.stdin);
    let mut text = String::new();
    let read = started.stdout.read_to_string(&mut text).await;
    read.expect("it prints text");
    let exit = started.process.exited().await;
    let end = started
        .process
        .shutdown(ShutdownPolicy::kill_at_once())
        .await;
    (exit, text + &end.stderr_tail)
}

#[test]
fn the_state_can_be_read_but_not_written_in_the_sandbox() {
    let project = repository().status("{}");

    let (exit, text) = sandboxed_git(project.path(), "config -f .autonoe/status.json a.b c");

    assert_ne!(exit, Exit::Code(0));
    assert!(text.contains("Read-only file system"), "{text}");
    assert_eq!(project.read(".autonoe/status.json"), "{}");
}

#[tokio::test(start_paused = true)]
async fn commands_in_the_sandbox_of_a_run_leave_its_state_alone() {
    for commands in HARMLESS {
        let project = repository();
        let second = SessionScript::new("uses git")
            .performs(|project| std::fs::write(project.join("code.txt"), "code").expect("writable"))
            .uses_tool(SET_STATUS, passed("A"))
            .performs(move |project| {
                for command in commands {
                    let (exit, text) = sandboxed_git(project, command);
                    assert_eq!(exit, Exit::Code(0), "git {command}: {text}");
                }
            })
            .says("ok")
            .ends();

        let report = run(&project, [plans(), second, passes("B")]).await;

        assert_eq!(report.exit, ExitReason::AllPassed, "{commands:?}");
        assert_eq!(restored(&project), 0, "{commands:?}");
        let expected = [DeliverableStatus::Passed; 2];
        assert_eq!(statuses(&project), expected, "{commands:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn commands_in_the_sandbox_cannot_replace_or_remove_a_ledger_that_git_tracks() {
    for command in [
        "checkout HEAD -- .autonoe/status.json",
        "reset -q --hard",
        "stash -q",
        "checkout -q -f other",
        "clean -q -fdx",
    ] {
        let project = repository();
        let second = SessionScript::new("uses git")
            .performs(commit_ledger)
            .uses_tool(SET_STATUS, passed("A"))
            .performs(move |project| {
                let before = std::fs::read(project.join(".autonoe/status.json")).expect("there");
                let (_, text) = sandboxed_git(project, command);
                let after = std::fs::read(project.join(".autonoe/status.json")).expect("there");
                assert_eq!(after, before, "git {command}: {text}");
            })
            .says("ok")
            .ends();

        let report = run(&project, [plans(), second, passes("B")]).await;

        assert_eq!(report.exit, ExitReason::AllPassed, "{command}");
        assert_eq!(restored(&project), 0, "{command}");
        let expected = [DeliverableStatus::Passed; 2];
        assert_eq!(statuses(&project), expected, "{command}");
    }
}
