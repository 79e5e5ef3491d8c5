//! `autonoe engine pause`, `resume`, `say` and `cancel`.

use autonoe_core::{Engine, EngineError, RunInstruction, RunPhase};

use super::again::again;
use super::place;
use crate::args::{EngineCancelArgs, EngineRunArgs, EngineSayArgs};
use crate::error::CliError;
use crate::surroundings::Surroundings;

/// Has a run begin nothing more.
pub(super) async fn pause(
    args: &EngineRunArgs,
    surroundings: &Surroundings,
) -> Result<(), CliError> {
    instruct(args, RunInstruction::Pause, surroundings).await?;
    let run = &args.run;
    let resume = again(&format!("resume {run}"), &args.engine);
    surroundings.say(&format!(
        "The run {run} begins no other session; {resume} lets it go on.\n"
    ))
}

/// Lets a run go on.
pub(super) async fn resume(
    args: &EngineRunArgs,
    surroundings: &Surroundings,
) -> Result<(), CliError> {
    instruct(args, RunInstruction::Resume, surroundings).await?;
    surroundings.say(&format!("The run {} goes on.\n", args.run))
}

/// Tells the agent of a run something.
pub(super) async fn say(args: &EngineSayArgs, surroundings: &Surroundings) -> Result<(), CliError> {
    if args.text.trim().is_empty() {
        return Err(CliError::usage("there is nothing to tell"));
    }
    let said = RunInstruction::Say(args.text.clone());
    instruct(&args.which, said, surroundings).await?;
    let run = &args.which.run;
    surroundings.say(&format!(
        "The agent of the run {run} is told in its next session, if it has one.\n"
    ))
}

/// Ends a run.
pub(super) async fn cancel(
    args: &EngineCancelArgs,
    surroundings: &Surroundings,
) -> Result<(), CliError> {
    let run = &args.which.run;
    let engine = place::find(&args.which.engine, surroundings).await?;
    // To cancel what has ended is no error for an engine, but a person expects something of it.
    if engine.status(run).await?.phase == RunPhase::Ended {
        return Err(problem(EngineError::Ended(run.clone()), &args.which));
    }
    engine.cancel(run, &args.reason).await?;
    let status = again(&format!("status {run}"), &args.which.engine);
    surroundings.say(&format!(
        "The run {run} was told to end; {status} says when it has.\n"
    ))
}

async fn instruct(
    args: &EngineRunArgs,
    instruction: RunInstruction,
    surroundings: &Surroundings,
) -> Result<(), CliError> {
    let engine = place::find(&args.engine, surroundings).await?;
    let told = engine.instruct(&args.run, instruction).await;
    told.map_err(|error| problem(error, args))
}

/// Says where to look what a run came to that takes nothing more.
fn problem(error: EngineError, args: &EngineRunArgs) -> CliError {
    match error {
        EngineError::Ended(_) => {
            let status = again(&format!("status {}", args.run), &args.engine);
            CliError::from(error).with_hint(format!("{status} says what it came to"))
        }
        error => error.into(),
    }
}
