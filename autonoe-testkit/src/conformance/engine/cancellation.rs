//! Checks that a cancelled run ends.

use autonoe_core::engine::{RunEnding, RunOutcome};

use super::fixture::{Fixture, does};
use crate::conformance::checks::CheckOutcome;

pub(super) async fn ends_with_all(it: Fixture) -> CheckOutcome {
    let (run, seen) = it.start_holding().await?;

    it.cancel(&run.id, "enough of it").await?;
    let outcome = it.wait(&run.id).await?;

    ensure!(
        *seen.cleared.borrow(),
        "its end was reported before its work had ended"
    );
    is_cancelled(&outcome, "enough of it")
}

pub(super) async fn at_once(it: Fixture) -> CheckOutcome {
    let run = it.start(does::hold()).await?;

    it.cancel(&run.id, "a mistake").await?;
    let outcome = it.wait(&run.id).await?;

    let seen = it.seen(&run.id);
    let (starts, cleared) = (*seen.starts.borrow(), *seen.cleared.borrow());
    ensure!(
        starts == 0 || cleared,
        "its end was reported before its work had ended"
    );
    is_cancelled(&outcome, "a mistake")
}

pub(super) async fn too_late(it: Fixture) -> CheckOutcome {
    let run = it.start(does::give("an answer")).await?;
    let before = it.wait(&run.id).await?;

    it.cancel(&run.id, "too late").await?;

    let after = it.wait(&run.id).await?;
    ensure!(after == before, "its outcome has become {after:?}");
    let view = it.status(&run.id).await?;
    ensure!(
        view.outcome.as_ref() == Some(&before),
        "it is shown as {view:?}"
    );
    Ok(())
}

pub(super) async fn twice(it: Fixture) -> CheckOutcome {
    let (run, _) = it.start_holding().await?;

    it.cancel(&run.id, "enough of it").await?;
    it.cancel(&run.id, "I mean it").await?;
    let outcome = it.wait(&run.id).await?;

    ensure!(
        matches!(outcome.ending, RunEnding::Cancelled { .. }),
        "its outcome is {outcome:?}"
    );
    Ok(())
}

pub(super) async fn others_go_on(it: Fixture) -> CheckOutcome {
    let (one, _) = it.start_holding().await?;
    let (other, seen) = it.start_holding().await?;

    it.cancel(&one.id, "enough of it").await?;
    it.wait(&one.id).await?;

    seen.release();
    let outcome = it.wait(&other.id).await?;
    ensure!(
        outcome.is_success(),
        "the outcome of the other run is {outcome:?}"
    );
    Ok(())
}

fn is_cancelled(outcome: &RunOutcome, expected: &str) -> CheckOutcome {
    let RunEnding::Cancelled { reason } = &outcome.ending else {
        return Err(format!("its outcome is {outcome:?}").into());
    };
    ensure!(reason == expected, "the reason is {reason:?}");
    Ok(())
}
