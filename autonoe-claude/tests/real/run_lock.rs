//! Processes that hold the lock of a run.

use std::fs;
use std::path::Path;

use autonoe_core::Project;
use autonoe_core::project::{ProjectError, RunLock};
use autonoe_testkit::model_server::anthropic::{ModelScript, Turn};
use jiff::Timestamp;
use serde_json::json;

use crate::build::{Build, on_newer_build};
use crate::fixture::{Fixture, collect_events, eventually, within};

/// Returns whether the process has `file` open.
fn holds(process: u32, file: &Path) -> bool {
    let open = fs::read_dir(format!("/proc/{process}/fd")).expect("it lives");
    let links = open.flatten().map(|entry| fs::read_link(entry.path()));
    links.flatten().any(|link| link == file)
}

/// The program's runtime closes all inherited files for the processes that it starts. So after a
/// kill of the host the lock is free when the program has exited, even if a tool is alive. The
/// marker of the session finds the tools.
async fn the_lock_of_a_run_reaches_the_program_and_not_its_tools(build: Build) {
    let input = json!({"command": "echo 1 > begun; sleep 600", "description": "wait"});
    let fixture = Fixture::new(build, ModelScript::new([Turn::tool("Bash", input)]));
    let project = Project::find(&fixture.project(), None).expect("a project");
    let lock = RunLock::acquire(&project, Timestamp::now()).expect("it is free");
    let mut spec = fixture.spec([]);
    spec.lock = Some(lock.descriptor());
    let mut client = fixture.client(spec);
    let control = client.control();

    let turn = collect_events(client.as_mut(), "Wait.");
    let checked = async {
        fixture.written("begun").await;
        let is_tool = |name: &str| fixture.processes().iter().any(|it| it.name == name);
        eventually("the tool", || is_tool("sleep")).await;
        let program = fixture.program().await;
        let (others, lock) = (fixture.processes(), project.run_lock_path());
        assert!(holds(program, &lock), "it does not reach the program");
        for tool in others.iter().filter(|process| process.pid != program) {
            assert!(!holds(tool.pid, &lock), "it reaches {tool:?} now");
            let environment = fs::read_to_string(format!("/proc/{}/environ", tool.pid));
            let environment = environment.expect("it lives");
            assert!(
                environment.contains("\0AUTONOE_AGENT_SESSION=autonoe-claude-"),
                "{tool:?} has no marker: {environment:?}"
            );
        }
        control.interrupt().await.expect("it can be");
    };
    let ((events, error), ()) = tokio::join!(turn, checked);

    // The program still holds it.
    assert!(error.is_none(), "{error:?} {events:?}");
    let second = RunLock::acquire(&project, Timestamp::now());
    assert!(matches!(second, Err(ProjectError::Locked(_))), "{second:?}");
    within(client.dispose()).await.expect("it ends");
    drop(lock);
    RunLock::acquire(&project, Timestamp::now()).expect("it is free again");
    fixture.assert_nothing_is_left();
}

on_newer_build![the_lock_of_a_run_reaches_the_program_and_not_its_tools];
