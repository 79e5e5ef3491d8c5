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
pub(crate) fn flow(args: &FlowArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    match &args.command {
        FlowCommand::Run(args) => run::run(args, env),
        FlowCommand::List(args) => list::list(args, env),
        FlowCommand::Validate(args) => validate::validate(args, env),
        FlowCommand::Graph(args) => graph::graph(args, env),
        FlowCommand::Import(args) => import::import(args, env),
    }
}
