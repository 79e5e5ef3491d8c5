//! Checks of the status of a run, and of its outcome, which does not change.

use std::time::Duration;

use autonoe_core::engine::{EngineError, RunEnding, RunInstruction, RunOutcome, RunPhase};
use futures::future::join_all;
use futures::poll;
use serde_json::json;

use super::fixture::{Fixture, consumption, does, expected_result, halfway, new_id};
use crate::conformance::checks::CheckOutcome;

pub(super) async fn success_is_reported(it: Fixture) -> CheckOutcome {
    let run = it.start(does::give("an answer")).await?;

    let outcome = it.wait(&run.id).await?;

    let expected = RunOutcome::succeeded(json!("an answer")).with_spent(consumption());
    ensure!(outcome == expected, "its outcome is {outcome:?}");
    Ok(())
}

pub(super) async fn failure_is_reported(it: Fixture) -> CheckOutcome {
    let run = it.start(does::fail()).await?;

    let outcome = it.wait(&run.id).await?;

    let RunEnding::Failed { failure } = &outcome.ending else {
        return Err(format!("the outcome of a failed run is {outcome:?}").into());
    };
    ensure!(failure.code == "no_luck", "its failure is {failure:?}");
    ensure!(
        outcome.spent == consumption(),
        "its usage is in the outcome {outcome:?}"
    );
    Ok(())
}

pub(super) async fn panic_is_a_failure(it: Fixture) -> CheckOutcome {
    let run = it.start(does::panic()).await?;

    let outcome = it.wait(&run.id).await?;

    ensure!(
        matches!(outcome.ending, RunEnding::Failed { .. }),
        "its outcome is {outcome:?}"
    );
    // The panic has not affected any other run.
    let next = it.start(does::give("an answer")).await?;
    let outcome = it.wait(&next.id).await?;
    ensure!(
        outcome.is_success(),
        "the outcome of the next run is {outcome:?}"
    );
    Ok(())
}

pub(super) async fn outcome_stays(it: Fixture) -> CheckOutcome {
    let run = it.start(does::give("an answer")).await?;
    let first = it.wait(&run.id).await?;

    let second = it.wait(&run.id).await?;
    it.submit(&run).await?;
    let third = it.wait(&run.id).await?;

    ensure!(
        first == second && second == third,
        "its outcome is {first:?}, then {second:?}, then {third:?}"
    );
    Ok(())
}

pub(super) async fn waiters_get_same_outcome(it: Fixture) -> CheckOutcome {
    let (run, seen) = it.start_holding().await?;
    let mut waiting = join_all((0..16).map(|_| it.wait(&run.id)));
    ensure!(
        poll!(&mut waiting).is_pending(),
        "a running run has an outcome for one of the callers"
    );

    seen.release();

    for outcome in waiting.await {
        let outcome = outcome?;
        ensure!(
            outcome.is_success() && outcome.output == expected_result(&[]),
            "one caller receives {outcome:?}"
        );
    }
    Ok(())
}

pub(super) async fn dropped_wait_changes_nothing(it: Fixture) -> CheckOutcome {
    let (run, seen) = it.start_holding().await?;
    {
        let mut waiting = Box::pin(it.wait(&run.id));
        ensure!(
            poll!(&mut waiting).is_pending(),
            "a running run has an outcome"
        );
    }
    // Long enough for an engine that reacts to the dropped wait.
    tokio::time::sleep(Duration::from_millis(500)).await;

    seen.release();

    let outcome = it.wait(&run.id).await?;
    ensure!(
        outcome.is_success(),
        "after a caller stopped waiting, its outcome is {outcome:?}"
    );
    Ok(())
}

pub(super) async fn progress_shows(it: Fixture) -> CheckOutcome {
    let (run, seen) = it.start_holding().await?;

    it.wait_for_status(&run.id, |view| view.progress == Some(halfway()))
        .await?;

    seen.release();
    it.wait(&run.id).await?;
    Ok(())
}

pub(super) async fn outcome_at_the_end(it: Fixture) -> CheckOutcome {
    let (run, seen) = it.start_holding().await?;
    let before = it.status(&run.id).await?;
    ensure!(
        before.id == run.id && before.outcome.is_none() && before.phase != RunPhase::Ended,
        "a running run is shown as {before:?}"
    );

    seen.release();
    let outcome = it.wait(&run.id).await?;

    let after = it.status(&run.id).await?;
    ensure!(
        after.phase == RunPhase::Ended && after.outcome == Some(outcome),
        "a run that has ended is shown as {after:?}"
    );
    Ok(())
}

pub(super) async fn unknown_ids_are_reported(it: Fixture) -> CheckOutcome {
    // An engine that knows no run at all proves nothing.
    let known = it.start(does::give("an answer")).await?;
    it.wait(&known.id).await?;
    let run = new_id();

    let message = RunInstruction::Message("hello".to_owned());
    for (request, error) in [
        ("cancel", it.engine.cancel(&run, "why").await.err()),
        ("instruct", it.engine.instruct(&run, message).await.err()),
        ("status", it.engine.status(&run).await.err()),
        ("wait", it.engine.wait(&run).await.err()),
    ] {
        ensure!(
            matches!(error, Some(EngineError::Unknown(_))),
            "{request} of it returns {error:?}"
        );
    }
    Ok(())
}
