//! `autonoe harness`.

mod alert_reader;
mod asked;
mod git;
mod intents;
mod lead;
mod logs;
mod run;
mod serve;
mod settings;
mod snapshot;
mod status;
mod which;
mod work;
mod workshop;

use std::process::ExitCode;

pub(super) use self::asked::HarnessAsked;
pub(super) use self::logs::HarnessLogLine;
pub(super) use self::run::HarnessOutcome;
pub(super) use self::status::HarnessFleets;
use crate::args::{HarnessArgs, HarnessCommand};
use crate::error::{CliError, whole};
use crate::surroundings::Surroundings;

/// Has many agents work on one goal, and watches and leads them.
pub(crate) fn harness(
    args: &HarnessArgs,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    match &args.command {
        HarnessCommand::Run(args) => run::run(args, surroundings),
        HarnessCommand::Status(args) => status::status(args, surroundings),
        HarnessCommand::Logs(args) => logs::logs(args, surroundings),
        HarnessCommand::Send(args) => lead::send(args, surroundings),
        HarnessCommand::Pause(args) => lead::pause(args, surroundings),
        HarnessCommand::Resume(args) => lead::resume(args, surroundings),
        HarnessCommand::Stop(args) => lead::stop(args, surroundings),
        HarnessCommand::Kill(args) => lead::kill(args, surroundings),
        HarnessCommand::Serve(args) => serve::serve(args, surroundings),
        HarnessCommand::Work(args) => work::work(args, surroundings),
    }
}

/// Does something that waits.
fn waiting<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    runtime()?.block_on(work)
}

fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::failure(format!("the program cannot start: {error}")))
}

/// Says what is wrong with what fleets keep. The errors name the file, and it is left as it is.
fn broken(error: &dyn std::error::Error) -> CliError {
    CliError::failure(whole(error))
}
