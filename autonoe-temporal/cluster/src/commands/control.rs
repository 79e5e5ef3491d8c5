//! The commands `autonoe-cluster pause`, `resume`, `send` and `cancel`.

use autonoe_app::AppError;
use autonoe_core::RunId;
use autonoe_core::engine::{EngineError, RunInstruction, RunPhase};

use super::Cluster;
use super::command_hint::command_hint;
use crate::args::{CancelArgs, RunArgs, SendArgs, ServerArgs};
use crate::output::Output;

/// Pauses a run: no further session starts.
pub(super) async fn pause(
    args: &RunArgs,
    server: &ServerArgs,
    cluster: &dyn Cluster,
    output: &Output,
) -> Result<(), AppError> {
    let run = &args.run;
    instruct(run, RunInstruction::Pause, server, cluster).await?;
    let resume = command_hint(&format!("resume {run}"), server);
    let text = format!("The run {run} starts no further session; {resume} resumes it.\n");
    output.result(&text).map(drop)
}

/// Resumes a paused run.
pub(super) async fn resume(
    args: &RunArgs,
    server: &ServerArgs,
    cluster: &dyn Cluster,
    output: &Output,
) -> Result<(), AppError> {
    instruct(&args.run, RunInstruction::Resume, server, cluster).await?;
    let text = format!("The run {} is resumed.\n", args.run);
    output.result(&text).map(drop)
}

/// Sends a message to the agent of a run.
pub(super) async fn send_message(
    args: &SendArgs,
    server: &ServerArgs,
    cluster: &dyn Cluster,
    output: &Output,
) -> Result<(), AppError> {
    if args.text.trim().is_empty() {
        return Err(AppError::usage("the message is empty"));
    }
    let run = &args.which.run;
    let message = RunInstruction::Message(args.text.clone());
    instruct(run, message, server, cluster).await?;
    let text = format!(
        "The agent of the run {run} gets the message in its next session, if it has one.\n"
    );
    output.result(&text).map(drop)
}

/// Cancels a run.
pub(super) async fn cancel(
    args: &CancelArgs,
    server: &ServerArgs,
    cluster: &dyn Cluster,
    output: &Output,
) -> Result<(), AppError> {
    let run = &args.which.run;
    // Cancelling an ended run is no error for an engine, but the operator expects an effect.
    if cluster.status(run).await?.phase == RunPhase::Ended {
        return Err(ended(EngineError::Ended(run.clone()), run, server));
    }
    cluster.cancel(run, &args.reason).await?;
    let status = command_hint(&format!("status {run}"), server);
    let text = format!("The run {run} is being cancelled; {status} shows when it has ended.\n");
    output.result(&text).map(drop)
}

async fn instruct(
    run: &RunId,
    instruction: RunInstruction,
    server: &ServerArgs,
    cluster: &dyn Cluster,
) -> Result<(), AppError> {
    let instructed = cluster.instruct(run, instruction).await;
    instructed.map_err(|error| ended(error, run, server))
}

/// Adds a hint to the outcome of an ended run.
fn ended(error: EngineError, run: &RunId, server: &ServerArgs) -> AppError {
    match error {
        EngineError::Ended(_) => {
            let status = command_hint(&format!("status {run}"), server);
            AppError::from(error).with_hint(format!("{status} shows its outcome"))
        }
        error => error.into(),
    }
}
