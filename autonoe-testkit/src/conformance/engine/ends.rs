//! Every run comes to an end that stays.

use std::time::Duration;

use autonoe_core::{RunEnding, RunOutcome};
use futures::future::join_all;
use futures::poll;
use serde_json::json;

use super::probe::{does, given, spent};
use super::stand::Stand;
use crate::conformance::checks::Finding;

pub(super) async fn success_is_told(it: Stand) -> Finding {
    let run = it.start(does::give("an answer")).await?;

    let outcome = it.wait(&run.id).await?;

    let expected = RunOutcome::succeeded(json!("an answer")).with_spent(spent());
    ensure!(outcome == expected, "it is told as {outcome:?}");
    Ok(())
}

pub(super) async fn failure_is_told(it: Stand) -> Finding {
    let run = it.start(does::fail()).await?;

    let outcome = it.wait(&run.id).await?;

    let RunEnding::Failed { failure } = &outcome.ending else {
        return Err(format!("a failure is told as {outcome:?}").into());
    };
    ensure!(failure.code == "no_luck", "it is told as {failure:?}");
    ensure!(
        outcome.spent == spent(),
        "what it spent is told as {outcome:?}"
    );
    Ok(())
}

pub(super) async fn panic_is_a_failure(it: Stand) -> Finding {
    let run = it.start(does::panic()).await?;

    let outcome = it.wait(&run.id).await?;

    ensure!(
        matches!(outcome.ending, RunEnding::Failed { .. }),
        "it is told as {outcome:?}"
    );
    // Whoever panicked took no other run with it.
    let next = it.start(does::give("an answer")).await?;
    let outcome = it.wait(&next.id).await?;
    ensure!(outcome.is_success(), "the next run is told as {outcome:?}");
    Ok(())
}

pub(super) async fn outcome_stays(it: Stand) -> Finding {
    let run = it.start(does::give("an answer")).await?;
    let first = it.wait(&run.id).await?;

    let second = it.wait(&run.id).await?;
    it.submit(&run).await?;
    let third = it.wait(&run.id).await?;

    ensure!(
        first == second && second == third,
        "it is told as {first:?}, then as {second:?}, then as {third:?}"
    );
    Ok(())
}

pub(super) async fn all_are_told_the_same(it: Stand) -> Finding {
    let (run, seen) = it.begin().await?;
    let mut waiting = join_all((0..16).map(|_| it.wait(&run.id)));
    ensure!(
        poll!(&mut waiting).is_pending(),
        "a run that goes on has ended for somebody"
    );

    seen.release();

    for outcome in waiting.await {
        let outcome = outcome?;
        ensure!(
            outcome.is_success() && outcome.output == given(&[]),
            "one is told {outcome:?}"
        );
    }
    Ok(())
}

pub(super) async fn dropped_wait_changes_nothing(it: Stand) -> Finding {
    let (run, seen) = it.begin().await?;
    {
        let mut waiting = Box::pin(it.wait(&run.id));
        ensure!(
            poll!(&mut waiting).is_pending(),
            "a run that goes on has ended"
        );
    }
    // Long enough for an engine that makes something of it.
    tokio::time::sleep(Duration::from_millis(500)).await;

    seen.release();

    let outcome = it.wait(&run.id).await?;
    ensure!(
        outcome.is_success(),
        "after somebody stopped waiting it is told as {outcome:?}"
    );
    Ok(())
}
