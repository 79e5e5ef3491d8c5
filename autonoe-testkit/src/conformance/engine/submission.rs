//! Checks that a run id starts exactly one run.

use autonoe_core::engine::{EngineError, Placement, RunSpec};
use futures::future::join_all;
use futures::poll;
use serde_json::json;

use super::ENGINE_JOB;
use super::fixture::{Fixture, does, new_id, unexpected, until};
use crate::conformance::checks::CheckOutcome;

pub(super) async fn same_is_the_same(it: Fixture) -> CheckOutcome {
    let (run, seen) = it.start_holding().await?;

    it.submit(&run).await?;
    seen.release();
    it.wait(&run.id).await?;
    it.submit(&run).await?;
    it.wait(&run.id).await?;

    started_once(&it, &run)
}

pub(super) async fn many_at_once(it: Fixture) -> CheckOutcome {
    let run = RunSpec::new(new_id(), ENGINE_JOB, does::hold());

    for submitted in join_all((0..16).map(|_| it.submit(&run))).await {
        submitted?;
    }

    let seen = it.seen(&run.id);
    until(&seen.starts, |starts| *starts > 0).await?;
    seen.release();
    it.wait(&run.id).await?;
    started_once(&it, &run)
}

pub(super) async fn another_is_refused(it: Fixture) -> CheckOutcome {
    let (run, seen) = it.start_holding().await?;
    let other_input = RunSpec::new(run.id.clone(), ENGINE_JOB, does::give("another"));

    is_refused(&it, other_input).await?;

    seen.release();
    let outcome = it.wait(&run.id).await?;
    ensure!(
        outcome.output == json!({"told": []}),
        "the outcome of the existing run is {outcome:?}"
    );
    started_once(&it, &run)
}

pub(super) async fn ids_are_not_reused(it: Fixture) -> CheckOutcome {
    let run = it.start(does::give("the first")).await?;
    let before = it.wait(&run.id).await?;
    let other = RunSpec::new(run.id.clone(), ENGINE_JOB, does::give("another"));

    is_refused(&it, other).await?;

    let after = it.wait(&run.id).await?;
    ensure!(after == before, "its outcome has become {after:?}");
    started_once(&it, &run)
}

pub(super) async fn dropped_submission(it: Fixture) -> CheckOutcome {
    let run = RunSpec::new(new_id(), ENGINE_JOB, does::give("an answer"));
    {
        let mut submitting = it.engine.submit(run.clone(), Placement::anywhere());
        let _ = poll!(&mut submitting);
    }

    it.submit(&run).await?;
    let outcome = it.wait(&run.id).await?;

    ensure!(
        outcome.is_success(),
        "after a second submission its outcome is {outcome:?}"
    );
    started_once(&it, &run)
}

async fn is_refused(it: &Fixture, other: RunSpec) -> CheckOutcome {
    match it.engine.submit(other, Placement::anywhere()).await {
        Ok(id) => Err(format!("another run was accepted under the id {id}").into()),
        Err(EngineError::Conflict(_)) => Ok(()),
        Err(error) => Err(unexpected("another run", &error)),
    }
}

fn started_once(it: &Fixture, run: &RunSpec) -> CheckOutcome {
    let starts = *it.seen(&run.id).starts.borrow();
    ensure!(starts == 1, "the run was started {starts} times");
    Ok(())
}
