//! `autonoe harness` and its subcommands.

mod alert_reader;
mod control;
mod control_output;
mod executor_factory;
mod fleet_selection;
mod git;
mod intents;
mod logs;
mod run;
mod serve;
mod settings;
mod snapshot;
mod status;
mod work;

use std::process::ExitCode;

pub(super) use self::control_output::HarnessRequest;
pub(super) use self::intents::QUEUE_LEN;
pub(super) use self::logs::HarnessLogLine;
pub(super) use self::run::HarnessOutcome;
pub(super) use self::serve::show_fleet;
pub(super) use self::status::HarnessFleets;
use crate::args::{HarnessArgs, HarnessCommand};
use crate::cli_env::CliEnv;
use crate::error::{CliError, error_chain};

/// Runs, observes and controls fleets of agents.
pub(crate) fn harness(args: &HarnessArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    match &args.command {
        HarnessCommand::Run(args) => run::run(args, env),
        HarnessCommand::Status(args) => status::status(args, env),
        HarnessCommand::Logs(args) => logs::logs(args, env),
        HarnessCommand::Send(args) => control::send(args, env),
        HarnessCommand::Pause(args) => control::pause(args, env),
        HarnessCommand::Resume(args) => control::resume(args, env),
        HarnessCommand::Stop(args) => control::stop(args, env),
        HarnessCommand::Kill(args) => control::kill(args, env),
        HarnessCommand::Serve(args) => serve::serve(args, env),
        HarnessCommand::Work(args) => work::work(args, env),
    }
}

/// Runs a future to completion on a new runtime.
pub(super) fn block_on<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    runtime()?.block_on(work)
}

fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::failure(format!("the program cannot start: {error}")))
}

/// Converts an error about the state of a fleet. The error names the file, which is left unchanged.
fn state_error(error: &dyn std::error::Error) -> CliError {
    CliError::failure(error_chain(error))
}
