//! Checks of how a run is concluded.

use autonoe_core::engine::SessionHostError;
use autonoe_core::event::Retry;
use autonoe_core::run::{RunLimits, RunMachine};
use autonoe_core::time::Epoch;
use autonoe_core::{ExitReason, Mode, RunReport};
use jiff::Timestamp;

use super::agents::does;
use super::fixture::STARTED;
use super::fixture::{Fixture, run};
use super::outcomes::outcome_is_repeated;
use super::takeover::is_fenced;
use crate::conformance::checks::{CheckOutcome, Flaw};

pub(super) async fn end_can_be_repeated(it: Fixture) -> CheckOutcome {
    it.run_session(1, 1).await?;

    concluded(&it, 1).await?;
    concluded(&it, 1).await?;
    // From another host, by the new claimant of the run.
    concluded(&it, 2).await
}

pub(super) async fn recorded_outcome_survives_the_end(it: Fixture) -> CheckOutcome {
    let first = it.run_session(1, 1).await?;
    concluded(&it, 1).await?;

    outcome_is_repeated(&it, &first).await
}

pub(super) async fn nothing_begins_after_the_end(it: Fixture) -> CheckOutcome {
    it.run_session(1, 1).await?;
    concluded(&it, 1).await?;

    let attached = it.attach(2, 1, does::GIVE).await;

    let is_refused = match &attached {
        Err(SessionHostError::Failed { failure, .. }) => failure.retry == Retry::Permanent,
        _ => false,
    };
    ensure!(is_refused, "a session after the end returns {attached:?}");
    it.check_started_and_ended(1).await
}

pub(super) async fn overtaken_does_not_conclude(it: Fixture) -> CheckOutcome {
    it.run_session(1, 2).await?;

    let late = it.host().conclude(Epoch(1), &report()).await;

    is_fenced(&late, Epoch(1), Epoch(2))?;
    // The run of the host that took over continues.
    it.run_session(2, 2).await?;
    it.check_started_and_ended(2).await
}

pub(super) async fn nothing_needs_no_end(it: Fixture) -> CheckOutcome {
    concluded(&it, 1).await?;

    let claimed = it.host().claim(&run()).await;
    ensure!(
        claimed == Ok(Epoch(1)),
        "without a run, a claim then returns {claimed:?}"
    );
    it.run_session(1, 1).await?;
    it.check_started_and_ended(1).await
}

pub(super) async fn end_waits_for_a_session(it: Fixture) -> CheckOutcome {
    let concluding = async {
        it.events.until(STARTED, 1).await;
        let releasing = async { it.events.release() };
        let (concluded, ()) = tokio::join!(concluded(&it, 1), releasing);
        concluded
    };

    let (held, concluded) = tokio::join!(it.attach(1, 1, does::HOLD), concluding);

    concluded?;
    let held = super::fixture::expect_outcome(held)?;
    ensure!(held.result.end.is_completed(), "it returns {held:?}");
    let again = it.run_session(1, 1).await?;
    ensure!(again.result == held.result, "later it returns {again:?}");
    it.check_started_and_ended(1).await
}

/// Concludes the run through another host, which must record it.
async fn concluded(it: &Fixture, epoch: u64) -> CheckOutcome {
    let concluded = it.host().conclude(Epoch(epoch), &report()).await;
    concluded.map_err(|error| Flaw::Failed(format!("the end is not recorded: {error}")))
}

fn report() -> RunReport {
    let machine = RunMachine::new(RunLimits::new(Mode::Run));
    machine.report(&run(), ExitReason::AllPassed, Timestamp::UNIX_EPOCH)
}
