//! `autonoe flow` and its subcommands.

mod findings;
mod folders;
mod graph;
mod import;
mod list;
mod run;
mod validate;

use std::process::ExitCode;

pub(super) use self::list::Flows;
pub(super) use self::run::{FlowOutcome, FlowPlan};
pub(super) use self::validate::Validation;
use crate::args::{FlowArgs, FlowCommand};
use crate::cli_env::CliEnv;
use crate::error::CliError;

/// Runs, lists, validates, draws and imports flows.
pub(crate) fn flow(args: &FlowArgs, surroundings: &CliEnv) -> Result<ExitCode, CliError> {
    match &args.command {
        FlowCommand::Run(args) => run::run(args, surroundings),
        FlowCommand::List(args) => list::list(args, surroundings),
        FlowCommand::Validate(args) => validate::validate(args, surroundings),
        FlowCommand::Graph(args) => graph::graph(args, surroundings),
        FlowCommand::Import(args) => import::import(args, surroundings),
    }
}
