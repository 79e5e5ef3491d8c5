//! What a run is told.

use autonoe_core::{EngineError, RunInstruction, RunPhase};

use super::probe::{does, given};
use super::stand::{Stand, unexpected, until};
use crate::conformance::checks::Finding;

pub(super) async fn in_order(it: Stand) -> Finding {
    const COUNT: usize = 20;
    let (run, seen) = it.begin().await?;
    let lines: Vec<String> = (0..COUNT).map(|number| format!("line {number}")).collect();

    for line in &lines {
        it.tell(&run.id, RunInstruction::Say(line.clone())).await?;
    }

    until(&seen.told, |told| told.len() >= COUNT).await?;
    seen.release();
    let outcome = it.wait(&run.id).await?;
    ensure!(
        outcome.output == given(&lines),
        "it was told {}",
        outcome.output
    );
    Ok(())
}

pub(super) async fn pause_shows(it: Stand) -> Finding {
    let (run, seen) = it.begin().await?;
    it.look_until(&run.id, |view| view.phase == RunPhase::Running)
        .await?;

    it.tell(&run.id, RunInstruction::Pause).await?;
    it.look_until(&run.id, |view| view.phase == RunPhase::Paused)
        .await?;
    it.tell(&run.id, RunInstruction::Resume).await?;
    it.look_until(&run.id, |view| view.phase == RunPhase::Running)
        .await?;

    until(&seen.told, |told| told.len() >= 2).await?;
    seen.release();
    let outcome = it.wait(&run.id).await?;
    let expected = ["pause", "resume"].map(str::to_owned);
    ensure!(
        outcome.output == given(&expected),
        "it was told {}",
        outcome.output
    );
    Ok(())
}

pub(super) async fn too_late(it: Stand) -> Finding {
    let run = it.start(does::give("an answer")).await?;
    it.wait(&run.id).await?;

    for instruction in [
        RunInstruction::Say("hello".to_owned()),
        RunInstruction::Pause,
        RunInstruction::Resume,
    ] {
        let told = it.engine.instruct(&run.id, instruction.clone()).await;
        match told {
            Ok(()) => return Err(format!("{instruction:?} was taken after the end").into()),
            Err(EngineError::Ended(_)) => {}
            Err(error) => return Err(unexpected("it", &error)),
        }
    }
    Ok(())
}
