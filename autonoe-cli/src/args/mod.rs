//! Command-line definition of `autonoe`: its commands, and the options of those that start no
//! agent. The options of the others have a file each.

mod agent;
mod ask;
mod common;
mod flow;
mod harness;
mod run;
mod strategy_arg;
#[cfg(test)]
mod tests;

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use autonoe_app::BackendChoice;
use autonoe_core::Mode;
use autonoe_core::gate::policy::Profile;
use clap::{Args, Parser, Subcommand, ValueEnum};

use self::agent::model;
pub(crate) use self::ask::AskArgs;
pub(crate) use self::common::{NotifyArgs, OutputArgs, OutputFormat, ProjectArgs};
pub(crate) use self::flow::{
    FlowArgs, FlowCommand, FlowGraphArgs, FlowImportArgs, FlowListArgs, FlowRunArgs,
    FlowValidateArgs, GraphFormat,
};
pub(crate) use self::harness::{
    FleetSelectionArgs, HarnessArgs, HarnessCommand, HarnessKillArgs, HarnessLogsArgs,
    HarnessMemberArgs, HarnessRunArgs, HarnessSendArgs, HarnessServeArgs, HarnessStatusArgs,
    HarnessStopArgs, HarnessWorkArgs,
};
pub(crate) use self::run::RunArgs;
pub(crate) use self::strategy_arg::{FleetBackend, FleetStrategy};

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
    // Accepted, so that the command can reject it with a reason.
    #[command(mut_arg("allow_destructive", |arg| arg.hide(true)))]
    Sync(RunArgs),
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

/// Options of `autonoe status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `autonoe log`.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Show this run instead of the last one; a prefix of its ID is enough
    #[arg(long, value_name = "ID", conflicts_with_all = ["all", "follow"])]
    pub(crate) run: Option<String>,
    /// Show all runs, including those in archived journals
    #[arg(long, short = 'a')]
    pub(crate) all: bool,
    /// Print new entries until the run ends or you press Ctrl-C
    #[arg(long, short = 'f', conflicts_with = "all")]
    pub(crate) follow: bool,
    /// Print the entries of the journal as JSON, one per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Describes the input and the exit codes, for the help.
const INPUT_AND_EXIT_CODES: &str = "\
Without a COMMAND, or with `-`, commands are read from standard input: one JSON
string or {\"command\": ..} per line. The answer to each is one line of JSON.

Exit codes:
  0  allowed; for standard input, all commands
  1  denied; for standard input, at least one command
  2  not checked: wrong usage, a project that cannot be used, an invalid line,
     or no command";

/// Options of `autonoe check`.
#[derive(Debug, Args)]
#[command(after_help = INPUT_AND_EXIT_CODES)]
pub(crate) struct CheckArgs {
    /// The Bash command to check
    #[arg(value_name = "COMMAND", allow_hyphen_values = true)]
    pub(crate) command: Option<String>,
    /// The mode of the run
    #[arg(long, value_enum, default_value_t, value_name = "MODE")]
    pub(crate) mode: ModeChoice,
    /// A language profile to use instead of those in agent.json; repeatable
    #[arg(long = "profile", value_name = "PROFILE", value_parser = profile)]
    pub(crate) profiles: Vec<Profile>,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Check as for `autonoe run --allow-destructive`
    #[arg(long, short = 'D')]
    pub(crate) allow_destructive: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn profile(name: &str) -> Result<Profile, String> {
    let mut all = Profile::ALL.into_iter();
    all.find(|profile| profile.name() == name).ok_or_else(|| {
        let names = Profile::ALL.map(Profile::name).join(", ");
        format!("expected one of {names}")
    })
}

/// Mode of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeChoice {
    /// Agents work on the deliverables
    #[default]
    Run,
    /// Agents verify the code without changing it
    Sync,
}

impl From<ModeChoice> for Mode {
    fn from(choice: ModeChoice) -> Self {
        match choice {
            ModeChoice::Run => Self::Run,
            ModeChoice::Sync => Self::Sync,
        }
    }
}

/// Options of `autonoe doctor`.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 a run can start, 1 a problem prevents it, 2 wrong usage.")]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Check this backend, written as for `autonoe run` [default: the one in .autonoe/agent.json,
    /// else claude]
    #[arg(long, value_name = "BACKEND")]
    pub(crate) backend: Option<BackendChoice>,
    /// The model, as for `autonoe run` [default: chosen by the backend]
    #[arg(long, short = 'm', value_name = "MODEL", value_parser = model)]
    pub(crate) model: Option<String>,
    /// Check for a run without a sandbox, like AUTONOE_NO_SANDBOX=1
    #[arg(long)]
    pub(crate) no_sandbox: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `autonoe init`.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

/// Options of `autonoe schema`.
#[derive(Debug, Args)]
#[command(
    after_help = "The lines of `autonoe run --output json` have the schema run-event, and those of \
    `autonoe log --json` have journal-entry. The schemas of other commands with `--json` begin \
    with `output.`."
)]
pub(crate) struct SchemaArgs {
    /// The name of the schema [default: list all names]
    pub(crate) name: Option<String>,
}

/// Options of `autonoe report`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// The ID of the run, or a prefix of it [default: the newest]
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// The output file, relative to the working directory; `-` is standard output
    #[arg(
        long,
        short = 'o',
        value_name = "FILE",
        default_value = "autonoe-report.html"
    )]
    pub(crate) output: PathBuf,
}

/// Options of `autonoe serve`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// The port; 0 chooses a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,
    /// The fleet [default: the running one, else the last]
    #[arg(long, short = 'f', value_name = "FLEET")]
    pub(crate) fleet: Option<String>,
    /// The address to listen on. The connection is not encrypted: beyond this machine, anyone with
    /// access to the network can read the token and control the run
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub(crate) listen: IpAddr,
    /// A host name under which browsers may open the page, besides IP addresses; repeatable
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
}

/// Options of `autonoe mcp`.
#[derive(Debug, Args)]
#[command(
    after_help = "A run passes this command to agents that can only start MCP servers as programs, \
    with the address of its tools and, in AUTONOE_MCP_TOKEN, the secret of the session. \
    Do not run it by hand.\n\n\
    Exit codes: 0 the agent closed its end, 1 failure, 2 wrong usage."
)]
pub(crate) struct McpArgs {
    /// The address of the tools of the run, on this machine
    #[arg(long, value_name = "URL")]
    pub(crate) url: String,
}
