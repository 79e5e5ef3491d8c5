//! How a run ends.

use autonoe_core::{
    Epoch, ExitReason, Mode, Retry, RunLimits, RunMachine, RunReport, SessionHostError,
};
use jiff::Timestamp;

use super::agents::does;
use super::ground::BEGUN;
use super::ground::{Stand, run};
use super::overtaking::is_fenced;
use super::running::told_as_before;
use crate::conformance::checks::{Finding, Flaw};

pub(super) async fn end_is_told_twice(it: Stand) -> Finding {
    it.give(1, 1).await?;

    concluded(&it, 1).await?;
    concluded(&it, 1).await?;
    // From another place, by who has claimed the run anew.
    concluded(&it, 2).await
}

pub(super) async fn recorded_is_told_after_the_end(it: Stand) -> Finding {
    let first = it.give(1, 1).await?;
    concluded(&it, 1).await?;

    told_as_before(&it, &first).await
}

pub(super) async fn nothing_begins_after_the_end(it: Stand) -> Finding {
    it.give(1, 1).await?;
    concluded(&it, 1).await?;

    let attached = it.attach(2, 1, does::GIVE).await;

    let is_refused = match &attached {
        Err(SessionHostError::Failed { failure, .. }) => failure.retry == Retry::Useless,
        _ => false,
    };
    ensure!(
        is_refused,
        "a session after the end is told as {attached:?}"
    );
    it.begun_and_gone(1).await
}

pub(super) async fn overtaken_does_not_conclude(it: Stand) -> Finding {
    it.give(1, 2).await?;

    let late = it.host().conclude(Epoch(1), &report()).await;

    is_fenced(&late, Epoch(1), Epoch(2))?;
    // The run of who took over goes on.
    it.give(2, 2).await?;
    it.begun_and_gone(2).await
}

pub(super) async fn nothing_needs_no_end(it: Stand) -> Finding {
    concluded(&it, 1).await?;

    let claimed = it.host().claim(&run()).await;
    ensure!(
        claimed == Ok(Epoch(1)),
        "where nothing was, a claim is told as {claimed:?} then"
    );
    it.give(1, 1).await?;
    it.begun_and_gone(1).await
}

pub(super) async fn end_waits_for_a_session(it: Stand) -> Finding {
    let concluding = async {
        it.signs.until(BEGUN, 1).await;
        let releasing = async { it.signs.release() };
        let (concluded, ()) = tokio::join!(concluded(&it, 1), releasing);
        concluded
    };

    let (held, concluded) = tokio::join!(it.attach(1, 1, does::HOLD), concluding);

    concluded?;
    let held = super::ground::told(held)?;
    ensure!(held.result.end.is_completed(), "it is told as {held:?}");
    let again = it.give(1, 1).await?;
    ensure!(again.result == held.result, "later it is told as {again:?}");
    it.begun_and_gone(1).await
}

/// Tells another host that the run has ended, which it must write down.
async fn concluded(it: &Stand, epoch: u64) -> Finding {
    let concluded = it.host().conclude(Epoch(epoch), &report()).await;
    concluded.map_err(|error| Flaw::Failed(format!("the end is not written down: {error}")))
}

fn report() -> RunReport {
    let machine = RunMachine::new(RunLimits::new(Mode::Run));
    machine.report(&run(), ExitReason::AllPassed, Timestamp::UNIX_EPOCH)
}
