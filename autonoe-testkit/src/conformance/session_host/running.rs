//! One outcome for a session.

use autonoe_core::{HostedOutcome, InstructionName};
use tokio_util::sync::CancellationToken;

use super::agents::{MESSAGE, does};
use super::ground::{BEGUN, TOLD};
use super::ground::{Stand, key, run, session, told};
use crate::conformance::checks::Finding;

pub(super) async fn outcome_is_told(it: Stand) -> Finding {
    let outcome = it.give(1, 1).await?;

    ensure!(
        outcome.result.end.is_completed(),
        "it is told as {outcome:?}"
    );
    it.begun_and_gone(1).await
}

pub(super) async fn recorded_is_not_run_again(it: Stand) -> Finding {
    let first = it.give(1, 1).await?;

    told_as_before(&it, &first).await
}

/// Asks again for the first session, also with a higher epoch: it is told as it was, and nothing runs.
pub(super) async fn told_as_before(it: &Stand, first: &HostedOutcome) -> Finding {
    let again = it.give(1, 1).await?;
    let later = it.give(1, 2).await?;

    ensure!(
        again.result == first.result && later.result == first.result,
        "it is told as {first:?}, then as {again:?}, then as {later:?}"
    );
    it.begun_and_gone(1).await
}

pub(super) async fn told_is_recorded(it: Stand) -> Finding {
    let first = it.give(1, 1).await?;

    // Who is cancelled begins nothing, so all that can be told is what is recorded.
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let found = told(it.attach_until(1, 1, does::GIVE, cancelled).await)?;

    ensure!(
        found.result == first.result,
        "{first:?} was told, and {found:?} is recorded"
    );
    Ok(())
}

pub(super) async fn two_at_once(it: Stand) -> Finding {
    let releasing = async {
        it.signs.until(BEGUN, 1).await;
        it.signs.release();
    };

    let (one, other, ()) = tokio::join!(
        it.attach(1, 1, does::HOLD),
        it.attach(1, 1, does::HOLD),
        releasing
    );

    let (one, other) = (told(one)?, told(other)?);
    ensure!(
        one.result == other.result,
        "one is told {one:?}, the other {other:?}"
    );
    it.begun_and_gone(1).await
}

pub(super) async fn numbers_are_apart(it: Stand) -> Finding {
    it.give(1, 1).await?;

    let second = it.give(2, 1).await?;

    ensure!(second.result.end.is_completed(), "it is told as {second:?}");
    it.begun_and_gone(2).await
}

pub(super) async fn ledger_is_told(it: Stand) -> Finding {
    it.signs.release();
    let plan = session(InstructionName::Initializer, does::PLAN);
    let never = CancellationToken::new();
    let epoch = autonoe_core::Epoch(1);

    let planned = it
        .host()
        .attach_or_start(&key(1), epoch, plan, &|_| {}, never)
        .await;

    let ledger = told(planned)?.ledger;
    ensure!(
        ledger.as_ref().is_ok_and(|ledger| ledger.counts.total == 1),
        "with the outcome it is told as {ledger:?}"
    );
    let found = it.host().look(&run()).await;
    ensure!(found == ledger, "who looks is told {found:?}");
    Ok(())
}

pub(super) async fn messages_arrive(it: Stand) -> Finding {
    let session = session(InstructionName::Coding, does::GIVE).told(MESSAGE);
    let never = CancellationToken::new();
    let epoch = autonoe_core::Epoch(1);

    let attached = it
        .host()
        .attach_or_start(&key(1), epoch, session, &|_| {}, never)
        .await;

    told(attached)?;
    let count = it.signs.count(TOLD);
    ensure!(count == 1, "{count} agents were told what was to be told");
    Ok(())
}
