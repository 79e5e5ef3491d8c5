//! Commands that submit, watch and control runs.

mod command_hint;
mod control;
mod fetch_error;
mod fleet;
mod follow;
mod journal_cursor;
mod journal_formatter;
mod list;
mod logs;
mod remote_journal;
mod status;
mod submit;
#[cfg(test)]
mod tests;
mod view_changes;

use std::pin::pin;

use autonoe_app::{AppError, exit_code};
use autonoe_core::engine::RunInstruction;
use autonoe_core::event::TraceContext;
use autonoe_temporal::Cluster;

use crate::args::{Cli, Command, ServerArgs};
use crate::output::Output;

/// The cluster, the output and the options that every command needs.
struct CommandContext<'a> {
    cluster: &'a dyn Cluster,
    /// The options that located the cluster, for hints.
    server: &'a ServerArgs,
    output: &'a Output,
}

impl CommandContext<'_> {
    /// Prints a result.
    fn print(&self, text: &str) -> Result<(), AppError> {
        self.output.result(text).map(drop)
    }
}

/// Runs a command on the cluster that `connect` connects to, and returns its exit code. `trace` is
/// the trace of the caller.
pub(crate) async fn run<C: Cluster>(
    cli: &Cli,
    trace: Option<TraceContext>,
    connect: impl Future<Output = Result<C, AppError>>,
    output: &Output,
    interrupted: impl Future<Output = ()>,
) -> Result<u8, AppError> {
    // Mistakes in its options are reported without a server.
    let submission = match &cli.command {
        Command::Submit(args) => Some((args, submit::spec(args, trace)?)),
        _ => None,
    };
    let mut interrupted = pin!(interrupted);
    let cluster = tokio::select! {
        biased;
        cluster = connect => cluster?,
        () = &mut interrupted => return Ok(exit_code::INTERRUPTED),
    };
    let context = CommandContext {
        cluster: &cluster,
        server: &cli.server,
        output,
    };
    if let Some((args, spec)) = submission {
        return context.submit(args, spec, interrupted).await;
    }
    let done = async {
        match &cli.command {
            Command::Status { run, output } => context.status(&run.id, *output).await,
            Command::Logs(args) => context.logs(args).await,
            Command::Pause(run) => context.instruct(&run.id, RunInstruction::Pause).await,
            Command::Resume(run) => context.instruct(&run.id, RunInstruction::Resume).await,
            Command::Send { run, text } => {
                let message = RunInstruction::Message(text.clone());
                context.instruct(&run.id, message).await
            }
            Command::Cancel { run, reason } => context.cancel(&run.id, reason).await,
            Command::List { limit, output } => context.list(*limit, *output).await,
            Command::Worker(_) | Command::Submit(_) | Command::Mcp { .. } => Ok(()),
        }
    };
    tokio::select! {
        biased;
        done = done => done.map(|()| 0),
        () = interrupted => Ok(exit_code::INTERRUPTED),
    }
}
