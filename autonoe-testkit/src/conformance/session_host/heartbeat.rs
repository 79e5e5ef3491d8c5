//! Checks of heartbeats, cancellation and abandoned sessions.

use autonoe_core::agent::SessionEnd;
use autonoe_core::engine::SessionHostError;
use autonoe_core::event::InstructionName;
use autonoe_core::time::Epoch;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::fixture::{ENDED, Fixture, STARTED, does, expect_outcome, key, session};
use crate::conformance::checks::{CheckOutcome, Flaw};

pub(super) async fn heartbeats_while_running(it: Fixture) -> CheckOutcome {
    let beats = watch::Sender::new(0);
    let session = session(InstructionName::Coding, does::HOLD);
    let (host, key) = (it.host(), key(1));
    let beat = |_| beats.send_modify(|beats| *beats += 1);
    let holding = host.attach_or_start(&key, Epoch(1), session, &beat, CancellationToken::new());
    let releasing = async {
        let _ = beats.subscribe().wait_for(|beats| *beats > 1).await;
        it.events.release();
    };

    let (held, ()) = tokio::join!(holding, releasing);

    expect_outcome(held)?;
    Ok(())
}

pub(super) async fn heartbeats_while_waiting(it: Fixture) -> CheckOutcome {
    let beats = watch::Sender::new(0);
    let session = session(InstructionName::Coding, does::GIVE);
    let (host, second) = (it.host(), key(2));
    let beat = |_| beats.send_modify(|beats| *beats += 1);
    let waiting = async {
        it.events.until(STARTED, 1).await;
        let never = CancellationToken::new();
        host.attach_or_start(&second, Epoch(1), session, &beat, never)
            .await
    };
    let releasing = async {
        let _ = beats.subscribe().wait_for(|beats| *beats > 1).await;
        it.events.release();
    };

    let (held, waited, ()) = tokio::join!(it.attach(1, 1, does::HOLD), waiting, releasing);

    expect_outcome(held)?;
    expect_outcome(waited)?;
    it.check_started_and_ended(2).await
}

pub(super) async fn cancelled_ends_and_stays(it: Fixture) -> CheckOutcome {
    let cancelled = CancellationToken::new();
    let cancelling = async {
        it.events.until(STARTED, 1).await;
        cancelled.cancel();
    };

    let holding = it.attach_until(1, 1, does::HOLD, cancelled.clone());
    let (held, ()) = tokio::join!(holding, cancelling);

    let held = expect_outcome(held)?;
    ensure!(
        held.result.end == SessionEnd::Cancelled,
        "it returns {held:?}"
    );
    let ended = it.events.count(ENDED);
    ensure!(ended == 1, "it returns before its agent has ended");
    let second = it.run_session(1, 1).await?;
    ensure!(second.result == held.result, "later it returns {second:?}");
    it.check_started_and_ended(1).await
}

pub(super) async fn cancelled_before_start(it: Fixture) -> CheckOutcome {
    let cancelled = CancellationToken::new();
    cancelled.cancel();

    let attached = it.attach_until(1, 1, does::GIVE, cancelled).await;

    ensure!(
        attached == Err(SessionHostError::Cancelled(key(1))),
        "it returns {attached:?}"
    );
    it.run_session(1, 1).await?;
    it.check_started_and_ended(1).await
}

pub(super) async fn dropped_session_is_rerun(it: Fixture) -> CheckOutcome {
    tokio::select! {
        held = it.attach(1, 1, does::HOLD) => {
            return Err(Flaw::Failed(format!("it ended before it was released: {held:?}")));
        }
        () = it.events.until(STARTED, 1) => {}
    }
    it.events.until(ENDED, 1).await;

    let second = it.run_session(1, 1).await?;

    ensure!(
        second.result.end.is_completed(),
        "a second request returns {second:?}"
    );
    it.check_started_and_ended(2).await
}
