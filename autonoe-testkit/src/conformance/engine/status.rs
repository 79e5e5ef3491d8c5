//! Checks of the reported status of a run.

use autonoe_core::engine::{EngineError, RunInstruction, RunPhase};

use super::fixture::{Fixture, new_id};
use super::probe::{does, halfway};
use crate::conformance::checks::CheckOutcome;

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

    let say = RunInstruction::Message("hello".to_owned());
    for (asked, said) in [
        ("cancel", it.engine.cancel(&run, "why").await.err()),
        ("instruct", it.engine.instruct(&run, say).await.err()),
        ("status", it.engine.status(&run).await.err()),
        ("wait", it.engine.wait(&run).await.err()),
    ] {
        ensure!(
            matches!(said, Some(EngineError::Unknown(_))),
            "{asked} of it returns {said:?}"
        );
    }
    Ok(())
}
