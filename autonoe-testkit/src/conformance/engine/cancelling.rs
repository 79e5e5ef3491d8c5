//! A cancelled run ends.

use autonoe_core::{RunEnding, RunOutcome};

use super::probe::does;
use super::stand::Stand;
use crate::conformance::checks::Finding;

pub(super) async fn ends_with_all(it: Stand) -> Finding {
    let (run, seen) = it.begin().await?;

    it.cancel(&run.id, "enough of it").await?;
    let outcome = it.wait(&run.id).await?;

    ensure!(
        *seen.cleared.borrow(),
        "its end was told before it had ended what it started"
    );
    is_cancelled(&outcome, "enough of it")
}

pub(super) async fn at_once(it: Stand) -> Finding {
    let run = it.start(does::hold()).await?;

    it.cancel(&run.id, "a mistake").await?;
    let outcome = it.wait(&run.id).await?;

    let seen = it.seen(&run.id);
    let (begun, cleared) = (*seen.begun.borrow(), *seen.cleared.borrow());
    ensure!(
        begun == 0 || cleared,
        "its end was told before it had ended what it started"
    );
    is_cancelled(&outcome, "a mistake")
}

pub(super) async fn too_late(it: Stand) -> Finding {
    let run = it.start(does::give("an answer")).await?;
    let before = it.wait(&run.id).await?;

    it.cancel(&run.id, "too late").await?;

    let after = it.wait(&run.id).await?;
    ensure!(after == before, "its outcome has become {after:?}");
    let view = it.look(&run.id).await?;
    ensure!(
        view.outcome.as_ref() == Some(&before),
        "it is shown as {view:?}"
    );
    Ok(())
}

pub(super) async fn twice(it: Stand) -> Finding {
    let (run, _) = it.begin().await?;

    it.cancel(&run.id, "enough of it").await?;
    it.cancel(&run.id, "I mean it").await?;
    let outcome = it.wait(&run.id).await?;

    ensure!(
        matches!(outcome.ending, RunEnding::Cancelled { .. }),
        "it is told as {outcome:?}"
    );
    Ok(())
}

pub(super) async fn others_go_on(it: Stand) -> Finding {
    let (one, _) = it.begin().await?;
    let (other, seen) = it.begin().await?;

    it.cancel(&one.id, "enough of it").await?;
    it.wait(&one.id).await?;

    seen.release();
    let outcome = it.wait(&other.id).await?;
    ensure!(outcome.is_success(), "the other is told as {outcome:?}");
    Ok(())
}

fn is_cancelled(outcome: &RunOutcome, why: &str) -> Finding {
    let RunEnding::Cancelled { reason } = &outcome.ending else {
        return Err(format!("it is told as {outcome:?}").into());
    };
    ensure!(reason == why, "why is told as {reason:?}");
    Ok(())
}
