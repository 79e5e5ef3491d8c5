//! `autonoe harness` and its subcommands.

mod control;
mod executor_factory;
mod fleet_selection;
mod logs;
mod run;
mod serve;
mod snapshot;
mod status;
mod work;

use std::process::ExitCode;

pub(super) use self::control::HarnessRequest;
pub(super) use self::logs::HarnessLogLine;
pub(super) use self::run::HarnessOutcome;
pub(super) use self::serve::{QUEUE_LEN, check_fleet, show_fleet};
pub(super) use self::status::HarnessFleets;
use crate::args::{HarnessArgs, HarnessCommand};
use crate::cli_env::CliEnv;
use crate::error::CliError;

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
