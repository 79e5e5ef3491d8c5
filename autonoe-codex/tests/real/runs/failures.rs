//! Runs with an interrupt, a killed program or a broken network.

use autonoe_core::{ExitReason, RunControl};
use autonoe_testkit::model_server::{
    FaultPosition, ModelScript, ScriptedMessage, StreamFault, Turn,
};
use rustix::process::Signal;

use super::{passing, planning, run_in, status_on_disk};
use crate::fixture::{Fixture, send};
use crate::model::shell;

/// A command that does not end, and signals its start.
const ENDLESS: &str = "echo 1 > begun && sleep 600";

#[tokio::test]
async fn an_interrupted_run_ends_and_leaves_nothing() {
    let script = planning().into_iter().chain([shell(ENDLESS)]);
    let fixture = Fixture::new(ModelScript::new(script)).sandboxed();
    let control = RunControl::new();

    let run = run_in(&fixture).run_with_control(&control);
    let interrupted = async {
        fixture.written("begun").await;
        control.cancel();
    };
    let ((report, ended), ()) = tokio::join!(run, interrupted);

    assert_eq!(report.exit, ExitReason::Interrupted, "{report} {ended:?}");
    assert_eq!(report.sessions, 2);
    assert_eq!(status_on_disk(&fixture.project())["passed"], false);
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_run_continues_after_its_program_was_killed_in_a_tool() {
    let turns = planning()
        .into_iter()
        .chain([shell(ENDLESS)])
        .chain(passing());
    let fixture = Fixture::new(ModelScript::new(turns)).sandboxed();

    let run = run_in(&fixture).run();
    let killed = async {
        fixture.written("begun").await;
        send(Signal::KILL, fixture.program().await);
    };
    let ((report, ended), ()) = tokio::join!(run, killed);

    assert_eq!(report.exit, ExitReason::AllPassed, "{report} {ended:?}");
    assert_eq!(report.sessions, 3);
    let crashed = ended[1].to_string();
    assert!(crashed.contains("crashed"), "{crashed}");
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_run_continues_after_a_network_failure() {
    let cut = || -> Turn {
        ScriptedMessage::new()
            .says("half an answer, and then")
            .breaks(FaultPosition::AfterBlock(0), StreamFault::Cut)
            .into()
    };
    // The program retries once on its own.
    let turns = planning()
        .into_iter()
        .chain([cut(), cut()])
        .chain(passing());
    let fixture = Fixture::new(ModelScript::new(turns)).sandboxed();

    let (report, ended) = run_in(&fixture).run().await;

    assert_eq!(report.exit, ExitReason::AllPassed, "{report} {ended:?}");
    assert_eq!(report.sessions, 3, "{ended:?}");
    let failed = ended[1].to_string();
    assert!(failed.contains("stream disconnected"), "{failed}");
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}
