//! Command-line definition of `autonoe`: one file of clap types per command.

mod agent;
mod ask;
mod check;
mod doctor;
mod flow;
mod harness;
mod harness_run;
mod init;
mod limits;
mod log;
mod mcp;
mod mode;
mod notify;
mod output;
mod project;
mod prompt_agent;
mod report;
mod run;
mod serve;
mod status;
mod strategy_arg;
#[cfg(test)]
mod tests;

pub(crate) use agent::AgentArgs;
pub(crate) use ask::AskArgs;
pub(crate) use check::CheckArgs;
pub(crate) use doctor::DoctorArgs;
pub(crate) use flow::{
    FlowArgs, FlowCommand, FlowGraphArgs, FlowImportArgs, FlowListArgs, FlowRunArgs,
    FlowValidateArgs, GraphFormat,
};
pub(crate) use harness::{
    FleetSelectionArgs, HarnessArgs, HarnessCommand, HarnessKillArgs, HarnessLogsArgs,
    HarnessMemberArgs, HarnessSendArgs, HarnessServeArgs, HarnessStatusArgs, HarnessStopArgs,
    HarnessWorkArgs,
};
pub(crate) use harness_run::HarnessRunArgs;
pub(crate) use init::{InitArgs, SchemaArgs};
pub(crate) use limits::LimitArgs;
pub(crate) use log::LogArgs;
pub(crate) use mcp::McpArgs;
pub(crate) use mode::ModeChoice;
pub(crate) use notify::NotifyArgs;
pub(crate) use output::{OutputArgs, OutputFormat};
pub(crate) use project::ProjectArgs;
use prompt_agent::PromptAgentArgs;
pub(crate) use report::ReportArgs;
pub(crate) use run::{RunArgs, RunRequest, SyncArgs};
pub(crate) use serve::ServeArgs;
pub(crate) use status::StatusArgs;
pub(crate) use strategy_arg::{FleetBackend, FleetStrategy};

use autonoe_core::gate::policy::Destructive;
use clap::{Args, Parser, Subcommand};

/// Returns the policy for destructive commands.
pub(crate) fn destructive(is_allowed: bool) -> Destructive {
    if is_allowed {
        Destructive::Allowed
    } else {
        Destructive::Forbidden
    }
}

/// Runs coding agents unattended until the work is done.
///
/// Describe what to build in SPEC.md and start `autonoe run`. Autonoe turns it into deliverables
/// with acceptance criteria, runs one agent session after another, and stops when every achievable
/// deliverable has passed or when a run hits a limit. The gate decides which commands agents may
/// run and which files they may write.
#[derive(Debug, Parser)]
#[command(
    name = "autonoe",
    version,
    arg_required_else_help = true,
    max_term_width = 80
)]
#[command(
    after_help = "Exit codes: 0 done, 1 failure, 2 wrong usage, 3 all blocked, \
    4 iteration limit, 5 quota, 6 budget, 7 too many retries, 8 no progress, \
    130 cancelled.\n\n\
    For runs on several hosts, install autonoe-cluster with \
    `cargo install --locked --path autonoe-temporal/cluster`."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Work on the deliverables of SPEC.md until every achievable one has passed
    Run(RunArgs),
    /// Update the ledger from SPEC.md and verify the code, without changing it
    Sync(SyncArgs),
    /// Ask an agent about the project, give it a task, or chat with it
    Ask(Box<AskArgs>),
    /// Show the deliverables and their progress
    Status(StatusArgs),
    /// Show what happened in a run: sessions, costs, denied calls, why it stopped
    Log(LogArgs),
    /// Check whether an agent may run a shell command, and print why not
    Check(CheckArgs),
    /// Check whether a run can start, and list the problems
    Doctor(DoctorArgs),
    /// Create SPEC.md and .autonoe/agent.json; existing files are kept
    Init(InitArgs),
    /// Print the JSON Schema of a file, an event or an output, or list all
    Schema(SchemaArgs),
    /// Write an HTML page about a run
    Report(ReportArgs),
    /// Watch and control the run and the fleet of a project in a browser
    Serve(ServeArgs),
    /// Connect an agent with the tools of its run; agents start this themselves
    Mcp(McpArgs),
    /// Run, list, validate, draw and import flows: agents made of steps
    Flow(FlowArgs),
    /// Run many agents on one goal, and watch and control them
    Harness(HarnessArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print a manual page
    Man(ManArgs),
}

/// Options of `autonoe completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// Options of `autonoe man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command, for example `harness run` [default: the main page]
    pub(crate) command: Vec<String>,
}
