//! Checks that a session has exactly one outcome and a run exactly one conclusion.

use autonoe_core::engine::{HostedOutcome, SessionHostError};
use autonoe_core::event::{InstructionName, Retry};
use autonoe_core::run::{RunLimits, RunMachine};
use autonoe_core::time::Epoch;
use autonoe_core::{ExitReason, Mode, RunReport};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::fixture::{
    Fixture, MESSAGE, RECEIVED, STARTED, does, expect_outcome, key, run, session,
};
use super::takeover::is_fenced;
use crate::conformance::checks::{CheckOutcome, Flaw};

pub(super) async fn outcome_is_returned(it: Fixture) -> CheckOutcome {
    let outcome = it.run_session(1, 1).await?;

    ensure!(outcome.result.end.is_completed(), "it returns {outcome:?}");
    it.check_started_and_ended(1).await
}

pub(super) async fn recorded_session_is_not_rerun(it: Fixture) -> CheckOutcome {
    let first = it.run_session(1, 1).await?;

    outcome_is_repeated(&it, &first).await
}

/// Attaches to the first session again, also with a higher epoch: the recorded outcome is returned,
/// and nothing runs.
pub(super) async fn outcome_is_repeated(it: &Fixture, first: &HostedOutcome) -> CheckOutcome {
    let second = it.run_session(1, 1).await?;
    let later = it.run_session(1, 2).await?;

    ensure!(
        second.result == first.result && later.result == first.result,
        "it returns {first:?}, then {second:?}, then {later:?}"
    );
    it.check_started_and_ended(1).await
}

pub(super) async fn returned_outcome_is_recorded(it: Fixture) -> CheckOutcome {
    let first = it.run_session(1, 1).await?;

    // A cancelled call starts nothing, so it can only return a recorded outcome.
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let found = expect_outcome(it.attach_until(1, 1, does::GIVE, cancelled).await)?;

    ensure!(
        found.result == first.result,
        "{first:?} was returned, and {found:?} is recorded"
    );
    Ok(())
}

pub(super) async fn two_at_once(it: Fixture) -> CheckOutcome {
    let releasing = async {
        it.events.until(STARTED, 1).await;
        it.events.release();
    };

    let (one, other, ()) = tokio::join!(
        it.attach(1, 1, does::HOLD),
        it.attach(1, 1, does::HOLD),
        releasing
    );

    let (one, other) = (expect_outcome(one)?, expect_outcome(other)?);
    ensure!(
        one.result == other.result,
        "one request returns {one:?}, the other {other:?}"
    );
    it.check_started_and_ended(1).await
}

pub(super) async fn sessions_are_separate(it: Fixture) -> CheckOutcome {
    it.run_session(1, 1).await?;

    let second = it.run_session(2, 1).await?;

    ensure!(second.result.end.is_completed(), "it returns {second:?}");
    it.check_started_and_ended(2).await
}

pub(super) async fn ledger_is_returned(it: Fixture) -> CheckOutcome {
    it.events.release();
    let plan = session(InstructionName::Initializer, does::PLAN);
    let never = CancellationToken::new();
    let epoch = autonoe_core::time::Epoch(1);

    let planned = it
        .host()
        .attach_or_start(&key(1), epoch, plan, &|_| {}, never)
        .await;

    let ledger = expect_outcome(planned)?.ledger;
    ensure!(
        ledger.as_ref().is_ok_and(|ledger| ledger.counts.total == 1),
        "the outcome contains the ledger {ledger:?}"
    );
    let found = it.host().ledger_view(&run()).await;
    ensure!(found == ledger, "reading returns {found:?}");
    Ok(())
}

pub(super) async fn messages_arrive(it: Fixture) -> CheckOutcome {
    let session = session(InstructionName::Coding, does::GIVE).message(MESSAGE);
    let never = CancellationToken::new();
    let epoch = autonoe_core::time::Epoch(1);

    let attached = it
        .host()
        .attach_or_start(&key(1), epoch, session, &|_| {}, never)
        .await;

    expect_outcome(attached)?;
    let count = it.events.count(RECEIVED);
    ensure!(count == 1, "{count} agents received the message");
    Ok(())
}

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
    let second = it.run_session(1, 1).await?;
    ensure!(second.result == held.result, "later it returns {second:?}");
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
