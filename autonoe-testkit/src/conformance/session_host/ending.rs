//! Beats, cancellations and those who leave.

use autonoe_core::{Epoch, InstructionName, SessionEnd, SessionHostError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::agents::does;
use super::ground::{BEGUN, GONE};
use super::ground::{Stand, key, session, told};
use crate::conformance::checks::{Finding, Flaw};

pub(super) async fn beats_while_it_works(it: Stand) -> Finding {
    let beats = watch::Sender::new(0);
    let session = session(InstructionName::Coding, does::HOLD);
    let (host, key) = (it.host(), key(1));
    let beat = |_| beats.send_modify(|beats| *beats += 1);
    let holding = host.attach_or_start(&key, Epoch(1), session, &beat, CancellationToken::new());
    let releasing = async {
        let _ = beats.subscribe().wait_for(|beats| *beats > 1).await;
        it.signs.release();
    };

    let (held, ()) = tokio::join!(holding, releasing);

    told(held)?;
    Ok(())
}

pub(super) async fn beats_while_it_waits(it: Stand) -> Finding {
    let beats = watch::Sender::new(0);
    let session = session(InstructionName::Coding, does::GIVE);
    let (host, second) = (it.host(), key(2));
    let beat = |_| beats.send_modify(|beats| *beats += 1);
    let waiting = async {
        it.signs.until(BEGUN, 1).await;
        let never = CancellationToken::new();
        host.attach_or_start(&second, Epoch(1), session, &beat, never)
            .await
    };
    let releasing = async {
        let _ = beats.subscribe().wait_for(|beats| *beats > 1).await;
        it.signs.release();
    };

    let (held, waited, ()) = tokio::join!(it.attach(1, 1, does::HOLD), waiting, releasing);

    told(held)?;
    told(waited)?;
    it.begun_and_gone(2).await
}

pub(super) async fn cancelled_ends_and_stays(it: Stand) -> Finding {
    let cancelled = CancellationToken::new();
    let cancelling = async {
        it.signs.until(BEGUN, 1).await;
        cancelled.cancel();
    };

    let holding = it.attach_until(1, 1, does::HOLD, cancelled.clone());
    let (held, ()) = tokio::join!(holding, cancelling);

    let held = told(held)?;
    ensure!(
        held.result.end == SessionEnd::Cancelled,
        "it is told as {held:?}"
    );
    let gone = it.signs.count(GONE);
    ensure!(gone == 1, "it is told before its agent is gone");
    let again = it.give(1, 1).await?;
    ensure!(again.result == held.result, "later it is told as {again:?}");
    it.begun_and_gone(1).await
}

pub(super) async fn cancelled_before_it_began(it: Stand) -> Finding {
    let cancelled = CancellationToken::new();
    cancelled.cancel();

    let attached = it.attach_until(1, 1, does::GIVE, cancelled).await;

    ensure!(
        attached == Err(SessionHostError::Cancelled(key(1))),
        "it is told as {attached:?}"
    );
    it.give(1, 1).await?;
    it.begun_and_gone(1).await
}

pub(super) async fn dropped_is_run_again(it: Stand) -> Finding {
    tokio::select! {
        held = it.attach(1, 1, does::HOLD) => {
            return Err(Flaw::Failed(format!("it ended before it was let go: {held:?}")));
        }
        () = it.signs.until(BEGUN, 1) => {}
    }
    it.signs.until(GONE, 1).await;

    let again = it.give(1, 1).await?;

    ensure!(
        again.result.end.is_completed(),
        "asked for again it is told as {again:?}"
    );
    it.begun_and_gone(2).await
}
