//! Checks that a host with an outdated epoch writes nothing.

use std::fmt::Debug;

use autonoe_core::engine::SessionHostError;
use autonoe_core::event::InstructionName;
use autonoe_core::time::Epoch;
use tokio_util::sync::CancellationToken;

use super::fixture::{Fixture, STARTED, does, expect_outcome, key, run, session};
use crate::conformance::checks::CheckOutcome;

pub(super) async fn older_epochs_are_refused(it: Fixture) -> CheckOutcome {
    it.run_session(1, 5).await?;

    let late = it.attach(2, 4, does::GIVE).await;

    is_fenced(&late, Epoch(4), Epoch(5))?;
    it.check_started_and_ended(1).await
}

pub(super) async fn overtaken_records_nothing(it: Fixture) -> CheckOutcome {
    let taking_over = async {
        it.events.until(STARTED, 1).await;
        it.attach(1, 2, does::GIVE).await
    };

    let (older, newer) = tokio::join!(it.attach(1, 1, does::HOLD), taking_over);

    is_fenced(&older, Epoch(1), Epoch(2))?;
    let newer = expect_outcome(newer)?;
    ensure!(newer.result.end.is_completed(), "it returns {newer:?}");
    let found = it.run_session(1, 2).await?;
    ensure!(found.result == newer.result, "{found:?} is recorded");
    it.check_started_and_ended(2).await
}

pub(super) async fn overtaken_writes_nothing(it: Fixture) -> CheckOutcome {
    let plan = session(InstructionName::Initializer, does::PLAN);
    let never = CancellationToken::new();
    let (host, key) = (it.host(), key(1));
    let planning = host.attach_or_start(&key, Epoch(1), plan, &|_| {}, never);
    let taking_over = async {
        it.events.until(STARTED, 1).await;
        it.attach(1, 2, does::GIVE).await
    };
    let releasing = async {
        // From now on no host with a lower epoch may write.
        let is_taken_over = || async { it.host().claim(&run()).await == Ok(Epoch(3)) };
        it.until(is_taken_over).await;
        it.events.release();
    };

    let (older, newer, ()) = tokio::join!(planning, taking_over, releasing);

    is_fenced(&older, Epoch(1), Epoch(2))?;
    expect_outcome(newer)?;
    let ledger = it.host().ledger_view(&run()).await;
    ensure!(
        ledger.as_ref().is_ok_and(|ledger| ledger.counts.total == 0),
        "the ledger of the new epoch is {ledger:?}"
    );
    Ok(())
}

pub(super) async fn claiming_changes_nothing(it: Fixture) -> CheckOutcome {
    let (nothing, first) = (
        it.host().ledger_view(&run()).await,
        it.host().claim(&run()).await,
    );
    ensure!(
        nothing == Ok(Default::default()) && first == Ok(Epoch(1)),
        "without a run, the ledger is {nothing:?} and the epoch {first:?}"
    );
    it.run_session(1, 1).await?;
    for _ in 0..2 {
        let claimed = it.host().claim(&run()).await;
        ensure!(claimed == Ok(Epoch(2)), "a claim returns {claimed:?}");
    }

    // A claim is not a takeover.
    it.run_session(2, 1).await?;
    Ok(())
}

pub(super) async fn claiming_does_not_wait(it: Fixture) -> CheckOutcome {
    let reading = async {
        it.events.until(STARTED, 1).await;
        let claimed = it.host().claim(&run()).await;
        let view = it.host().ledger_view(&run()).await;
        it.events.release();
        (claimed, view)
    };

    let (held, (claimed, view)) = tokio::join!(it.attach(1, 1, does::HOLD), reading);

    ensure!(
        claimed == Ok(Epoch(2)) && view.is_ok(),
        "while a session runs, {claimed:?} and {view:?} are returned"
    );
    ensure!(
        expect_outcome(held)?.result.end.is_completed(),
        "the session did not continue"
    );
    Ok(())
}

pub(super) fn is_fenced<T: Debug>(
    result: &Result<T, SessionHostError>,
    requested: Epoch,
    latest: Epoch,
) -> CheckOutcome {
    let expected = SessionHostError::Fenced { requested, latest };
    ensure!(
        result.as_ref().err() == Some(&expected),
        "epoch {} receives {result:?}, although epoch {} has taken over",
        requested.0,
        latest.0
    );
    Ok(())
}
