//! The command line.

mod agent;
mod ask;
mod check;
mod doctor;
mod engine;
mod fleet_words;
mod flow;
mod harness;
mod harness_run;
mod init;
mod limits;
mod log;
mod mcp;
mod mode;
mod money_and_time;
mod output;
mod project;
mod report;
mod run;
mod session_host;
mod status;
mod submit;

pub(crate) use agent::AgentArgs;
pub(crate) use ask::AskArgs;
pub(crate) use check::CheckArgs;
pub(crate) use doctor::DoctorArgs;
pub(crate) use engine::{
    EngineArgs, EngineCancelArgs, EngineCommand, EngineLogsArgs, EnginePlaceArgs, EngineRunArgs,
    EngineSayArgs, EngineStatusArgs,
};
pub(crate) use fleet_words::{FleetBackend, FleetStrategy};
pub(crate) use flow::{
    FlowArgs, FlowCommand, FlowGraphArgs, FlowImportArgs, FlowListArgs, FlowRunArgs,
    FlowValidateArgs, GraphFormat,
};
pub(crate) use harness::{
    HarnessArgs, HarnessCommand, HarnessKillArgs, HarnessLogsArgs, HarnessMemberArgs,
    HarnessSendArgs, HarnessServeArgs, HarnessStatusArgs, HarnessStopArgs, HarnessWorkArgs,
    WhichFleetArgs,
};
pub(crate) use harness_run::HarnessRunArgs;
pub(crate) use init::{InitArgs, SchemaArgs};
pub(crate) use limits::LimitArgs;
pub(crate) use log::LogArgs;
pub(crate) use mcp::McpArgs;
pub(crate) use mode::ModeChoice;
pub(crate) use output::{OutputArgs, OutputFormat};
pub(crate) use project::ProjectArgs;
pub(crate) use report::ReportArgs;
pub(crate) use run::{RunArgs, SyncArgs, Work};
pub(crate) use session_host::SessionHostArgs;
pub(crate) use status::StatusArgs;
pub(crate) use submit::SubmitArgs;

use clap::{Args, Parser, Subcommand};

/// Runs coding agents unattended until the work is done.
///
/// Write what you want into SPEC.md and say `autonoe run`. Autonoe turns it into deliverables with
/// acceptance criteria, runs one agent session after another, and stops when all of them pass, or
/// when it must. No agent runs a command or writes a file that the policy forbids.
#[derive(Debug, Parser)]
#[command(
    name = "autonoe",
    version,
    arg_required_else_help = true,
    max_term_width = 100
)]
#[command(
    after_help = "Exit codes: 0 done, 1 failure, 2 wrong usage, 3 all blocked, \
    4 maximum of iterations, 5 quota, 6 budget, 7 too many retries, 8 no progress, \
    130 interrupted."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Work on the deliverables of SPEC.md until all of them pass
    Run(RunArgs),
    /// Bring the deliverables in line with SPEC.md and verify the code, without changing it
    Sync(SyncArgs),
    /// Ask an agent about the project, give it a task, or chat with it
    Ask(Box<AskArgs>),
    /// Show the deliverables and how far they are
    Status(StatusArgs),
    /// Tell what happened in a run: sessions, costs, blocked calls, why it stopped
    Log(LogArgs),
    /// Say whether an agent may run a shell command, and why not
    Check(CheckArgs),
    /// Look whether a run could start, and say what is in its way
    Doctor(DoctorArgs),
    /// Write a first SPEC.md and .autonoe/agent.json; what is there is left alone
    Init(InitArgs),
    /// Print the JSON Schema of a file or event, or list those that there are
    Schema(SchemaArgs),
    /// Write a page about a run, to look at in a browser and to show to others
    Report(ReportArgs),
    /// Hand on what an agent says to the tools of its run; agents start this themselves
    Mcp(McpArgs),
    /// Carry out one session for an engine elsewhere; workers start this themselves
    SessionHost(SessionHostArgs),
    /// Run, list, validate and draw flows: agents made of steps
    Flow(FlowArgs),
    /// Have many agents work on one goal, and watch and lead them
    Harness(HarnessArgs),
    /// Have a cluster carry out a run on one of its projects
    Submit(Box<SubmitArgs>),
    /// Watch and lead runs of a cluster
    Engine(EngineArgs),
    /// Print a script that completes commands in a shell
    Completions(CompletionsArgs),
    /// Print the manual page
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
    /// The command, with the names of its parts; without one, the page of the whole
    pub(crate) command: Vec<String>,
}
