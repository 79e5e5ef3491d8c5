//! How a run shows.

use autonoe_core::{EngineError, RunInstruction, RunPhase};

use super::probe::{does, halfway};
use super::stand::{Stand, new_id};
use crate::conformance::checks::Finding;

pub(super) async fn progress_shows(it: Stand) -> Finding {
    let (run, seen) = it.begin().await?;

    it.look_until(&run.id, |view| view.at == Some(halfway()))
        .await?;

    seen.release();
    it.wait(&run.id).await?;
    Ok(())
}

pub(super) async fn outcome_at_the_end(it: Stand) -> Finding {
    let (run, seen) = it.begin().await?;
    let before = it.look(&run.id).await?;
    ensure!(
        before.id == run.id && before.outcome.is_none() && before.phase != RunPhase::Ended,
        "a run that goes on is shown as {before:?}"
    );

    seen.release();
    let outcome = it.wait(&run.id).await?;

    let after = it.look(&run.id).await?;
    ensure!(
        after.phase == RunPhase::Ended && after.outcome == Some(outcome),
        "a run that has ended is shown as {after:?}"
    );
    Ok(())
}

pub(super) async fn strangers_are_unknown(it: Stand) -> Finding {
    // An engine that knows nothing at all is no proof.
    let known = it.start(does::give("an answer")).await?;
    it.wait(&known.id).await?;
    let run = new_id();

    let say = RunInstruction::Say("hello".to_owned());
    for (asked, said) in [
        ("cancel", it.engine.cancel(&run, "why").await.err()),
        ("instruct", it.engine.instruct(&run, say).await.err()),
        ("status", it.engine.status(&run).await.err()),
        ("wait", it.engine.wait(&run).await.err()),
    ] {
        ensure!(
            matches!(said, Some(EngineError::Unknown(_))),
            "{asked} of it is answered by {said:?}"
        );
    }
    Ok(())
}
