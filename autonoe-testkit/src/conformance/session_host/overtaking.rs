//! Who was overtaken writes nothing.

use std::fmt::Debug;

use autonoe_core::{Epoch, InstructionName, SessionHostError};
use tokio_util::sync::CancellationToken;

use super::agents::does;
use super::ground::BEGUN;
use super::ground::{Stand, key, run, session, told};
use crate::conformance::checks::Finding;

pub(super) async fn older_epochs_are_refused(it: Stand) -> Finding {
    it.give(1, 5).await?;

    let late = it.attach(2, 4, does::GIVE).await;

    is_fenced(&late, Epoch(4), Epoch(5))?;
    it.begun_and_gone(1).await
}

pub(super) async fn overtaken_records_nothing(it: Stand) -> Finding {
    let taking_over = async {
        it.signs.until(BEGUN, 1).await;
        it.attach(1, 2, does::GIVE).await
    };

    let (older, newer) = tokio::join!(it.attach(1, 1, does::HOLD), taking_over);

    is_fenced(&older, Epoch(1), Epoch(2))?;
    let newer = told(newer)?;
    ensure!(newer.result.end.is_completed(), "it is told as {newer:?}");
    let found = it.give(1, 2).await?;
    ensure!(found.result == newer.result, "{found:?} is recorded");
    it.begun_and_gone(2).await
}

pub(super) async fn overtaken_writes_nothing(it: Stand) -> Finding {
    let plan = session(InstructionName::Initializer, does::PLAN);
    let never = CancellationToken::new();
    let (host, key) = (it.host(), key(1));
    let planning = host.attach_or_start(&key, Epoch(1), plan, &|_| {}, never);
    let taking_over = async {
        it.signs.until(BEGUN, 1).await;
        it.attach(1, 2, does::GIVE).await
    };
    let releasing = async {
        // From then on nobody with a lower epoch may write.
        let is_taken_over = || async { it.host().claim(&run()).await == Ok(Epoch(3)) };
        it.until(is_taken_over).await;
        it.signs.release();
    };

    let (older, newer, ()) = tokio::join!(planning, taking_over, releasing);

    is_fenced(&older, Epoch(1), Epoch(2))?;
    told(newer)?;
    let ledger = it.host().look(&run()).await;
    ensure!(
        ledger.as_ref().is_ok_and(|ledger| ledger.counts.total == 0),
        "the ledger of who took over is {ledger:?}"
    );
    Ok(())
}

pub(super) async fn looking_changes_nothing(it: Stand) -> Finding {
    let (nothing, first) = (it.host().look(&run()).await, it.host().claim(&run()).await);
    ensure!(
        nothing == Ok(Default::default()) && first == Ok(Epoch(1)),
        "where nothing is, the ledger is {nothing:?} and the epoch {first:?}"
    );
    it.give(1, 1).await?;
    for _ in 0..2 {
        let claimed = it.host().claim(&run()).await;
        ensure!(claimed == Ok(Epoch(2)), "a claim is told as {claimed:?}");
    }

    // Who claims has not taken over.
    it.give(2, 1).await?;
    Ok(())
}

pub(super) async fn looking_does_not_wait(it: Stand) -> Finding {
    let looking = async {
        it.signs.until(BEGUN, 1).await;
        let claimed = it.host().claim(&run()).await;
        let looked = it.host().look(&run()).await;
        it.signs.release();
        (claimed, looked)
    };

    let (held, (claimed, looked)) = tokio::join!(it.attach(1, 1, does::HOLD), looking);

    ensure!(
        claimed == Ok(Epoch(2)) && looked.is_ok(),
        "while a session goes on {claimed:?} and {looked:?} are told"
    );
    ensure!(
        told(held)?.result.end.is_completed(),
        "the session did not go on"
    );
    Ok(())
}

pub(super) fn is_fenced<T: Debug>(
    told: &Result<T, SessionHostError>,
    asked: Epoch,
    latest: Epoch,
) -> Finding {
    let expected = SessionHostError::Fenced { asked, latest };
    ensure!(
        told.as_ref().err() == Some(&expected),
        "epoch {} is told {told:?}, although epoch {} has taken over",
        asked.0,
        latest.0
    );
    Ok(())
}
