//! Checks that a session has exactly one outcome.

use autonoe_core::engine::HostedOutcome;
use autonoe_core::event::InstructionName;
use tokio_util::sync::CancellationToken;

use super::agents::{MESSAGE, does};
use super::fixture::{Fixture, expect_outcome, key, run, session};
use super::fixture::{RECEIVED, STARTED};
use crate::conformance::checks::CheckOutcome;

pub(super) async fn outcome_is_returned(it: Fixture) -> CheckOutcome {
    let outcome = it.run_session(1, 1).await?;

    ensure!(outcome.result.end.is_completed(), "it returns {outcome:?}");
    it.check_started_and_ended(1).await
}

pub(super) async fn recorded_is_not_run_again(it: Fixture) -> CheckOutcome {
    let first = it.run_session(1, 1).await?;

    outcome_is_repeated(&it, &first).await
}

/// Attaches to the first session again, also with a higher epoch: the recorded outcome is returned,
/// and nothing runs.
pub(super) async fn outcome_is_repeated(it: &Fixture, first: &HostedOutcome) -> CheckOutcome {
    let again = it.run_session(1, 1).await?;
    let later = it.run_session(1, 2).await?;

    ensure!(
        again.result == first.result && later.result == first.result,
        "it returns {first:?}, then {again:?}, then {later:?}"
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
