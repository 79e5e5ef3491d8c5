//! Runs that are interrupted, or whose program is killed, while a tool runs.

use autonoe_core::{ExitReason, RunControl};
use autonoe_testkit::model_server::anthropic::ModelScript;
use rustix::process::Signal;

use super::{bash, passing, run_planned_in, status_on_disk};
use crate::build::{Build, on_newer_build};
use crate::fixture::{Fixture, send};

/// A command that does not end, and signals its start.
const ENDLESS: &str = "echo 1 > begun && sleep 600";

async fn an_interrupted_run_ends_and_leaves_nothing(build: Build) {
    let fixture = Fixture::new(build, ModelScript::new([bash(ENDLESS)]));
    let control = RunControl::new();

    let run = run_planned_in(&fixture).run_with_control(&control);
    let interrupted = async {
        fixture.written("begun").await;
        control.cancel();
    };
    let ((report, ended), ()) = tokio::join!(run, interrupted);

    assert_eq!(report.exit, ExitReason::Interrupted, "{report} {ended:?}");
    assert_eq!(report.sessions, 1);
    assert_eq!(status_on_disk(&fixture.project())["passed"], false);
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

async fn a_run_continues_after_its_program_was_killed_in_a_tool(build: Build) {
    let turns = [bash(ENDLESS)].into_iter().chain(passing());
    let fixture = Fixture::new(build, ModelScript::new(turns));

    let run = run_planned_in(&fixture).run();
    let killed = async {
        fixture.written("begun").await;
        send(Signal::KILL, fixture.program().await);
    };
    let ((report, ended), ()) = tokio::join!(run, killed);

    assert_eq!(report.exit, ExitReason::AllPassed, "{report} {ended:?}");
    assert_eq!(report.sessions, 2);
    let crashed = ended[0].to_string();
    assert!(crashed.contains("crashed"), "{crashed}");
    assert_eq!(status_on_disk(&fixture.project())["passed"], true);
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

on_newer_build![
    an_interrupted_run_ends_and_leaves_nothing,
    a_run_continues_after_its_program_was_killed_in_a_tool,
];
