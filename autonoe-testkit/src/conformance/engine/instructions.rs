//! Checks of the instructions sent to a run.

use autonoe_core::engine::{EngineError, RunInstruction, RunPhase};

use super::fixture::{Fixture, does, expected_result, unexpected, until};
use crate::conformance::checks::CheckOutcome;

pub(super) async fn in_order(it: Fixture) -> CheckOutcome {
    const COUNT: usize = 20;
    let (run, seen) = it.start_holding().await?;
    let lines: Vec<String> = (0..COUNT).map(|number| format!("line {number}")).collect();

    for line in &lines {
        it.instruct(&run.id, RunInstruction::Message(line.clone()))
            .await?;
    }

    until(&seen.instructions, |received| received.len() >= COUNT).await?;
    seen.release();
    let outcome = it.wait(&run.id).await?;
    ensure!(
        outcome.output == expected_result(&lines),
        "it received {}",
        outcome.output
    );
    Ok(())
}

pub(super) async fn pause_shows(it: Fixture) -> CheckOutcome {
    let (run, seen) = it.start_holding().await?;
    it.wait_for_status(&run.id, |view| view.phase == RunPhase::Running)
        .await?;

    it.instruct(&run.id, RunInstruction::Pause).await?;
    it.wait_for_status(&run.id, |view| view.phase == RunPhase::Paused)
        .await?;
    it.instruct(&run.id, RunInstruction::Resume).await?;
    it.wait_for_status(&run.id, |view| view.phase == RunPhase::Running)
        .await?;

    until(&seen.instructions, |received| received.len() >= 2).await?;
    seen.release();
    let outcome = it.wait(&run.id).await?;
    let expected = ["pause", "resume"].map(str::to_owned);
    ensure!(
        outcome.output == expected_result(&expected),
        "it received {}",
        outcome.output
    );
    Ok(())
}

pub(super) async fn too_late(it: Fixture) -> CheckOutcome {
    let run = it.start(does::give("an answer")).await?;
    it.wait(&run.id).await?;

    for instruction in [
        RunInstruction::Message("hello".to_owned()),
        RunInstruction::Pause,
        RunInstruction::Resume,
    ] {
        let result = it.engine.instruct(&run.id, instruction.clone()).await;
        match result {
            Ok(()) => return Err(format!("{instruction:?} was accepted after the end").into()),
            Err(EngineError::Ended(_)) => {}
            Err(error) => return Err(unexpected("it", &error)),
        }
    }
    Ok(())
}
