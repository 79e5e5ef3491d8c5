//! Runs with an interrupt, a spent quota or a broken network.

use autonoe_core::{ExitReason, RunControl};
use autonoe_testkit::model_server::{
    FaultPosition, ModelScript, Refusal, ScriptedMessage, StreamFault, Turn,
};

use super::{passing, run_planned_in, status_on_disk};
use crate::fixture::{Fixture, shell};

#[tokio::test]
async fn an_interrupted_run_ends_and_leaves_no_processes() {
    let endless = shell("echo 1 > begun && sleep 600");
    let fixture = Fixture::new(ModelScript::new([endless]));
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

#[tokio::test]
async fn a_spent_quota_ends_a_run_that_does_not_wait() {
    let script = ModelScript::from_fn(|_| Refusal::quota_spent().into());
    let fixture = Fixture::new(script).unverified();

    let (report, ended) = run_planned_in(&fixture).run().await;

    assert!(
        matches!(report.exit, ExitReason::QuotaExceeded),
        "{report} {ended:?}"
    );
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_run_continues_after_a_network_failure() {
    let cut = || {
        let cut = ScriptedMessage::new()
            .says("I will")
            .breaks(FaultPosition::AfterEvents(0), StreamFault::Cut);
        Turn::from(cut)
    };
    // The session fails, and the next one succeeds.
    let fixture = Fixture::new(ModelScript::new([cut()].into_iter().chain(passing())));

    let (report, ended) = run_planned_in(&fixture).run().await;

    assert_eq!(report.exit, ExitReason::AllPassed, "{report} {ended:?}");
    assert_eq!(status_on_disk(&fixture.project())["passed"], true);
    fixture.assert_nothing_is_left();
}
