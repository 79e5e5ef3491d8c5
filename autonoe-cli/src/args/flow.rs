//! Options of `autonoe flow`.

use std::path::PathBuf;

use autonoe_core::OnQuota;
use autonoe_core::run::LimitOverrides;
use autonoe_flow::FlowName;
use clap::{Args, Subcommand, ValueEnum};

use super::agent::PromptAgentArgs;
use super::common::{NotifyArgs, OutputArgs, ProjectArgs};

/// Options of `autonoe flow`.
#[derive(Debug, Args)]
pub(crate) struct FlowArgs {
    #[command(subcommand)]
    pub(crate) command: FlowCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FlowCommand {
    /// Run a flow until it is complete, or resume it
    Run(Box<FlowRunArgs>),
    /// List the flows of the project and whether they are valid
    List(FlowListArgs),
    /// Check flows for errors without running them
    Validate(FlowValidateArgs),
    /// Draw the steps of a flow
    Graph(FlowGraphArgs),
    /// Convert a climpt agent into a flow, and list changed and dropped parts
    Import(FlowImportArgs),
}

/// Describes the parameters and the exit codes of a flow, for the help.
const PARAMETERS_AND_EXIT_CODES: &str = "\
The definition of a flow declares its parameters. Write them as flags after all
other options: `autonoe flow run fix-bug --bug 'it crashes'`. If a parameter has
the name of an option, write `--` before the parameters. `--dry-run` lists them.

To resume a flow that was cancelled, was killed or hit a limit, run the same
command again.

Exit codes:
    0  done: the flow is complete
    1  the flow failed, has errors, or the project cannot be used
    2  wrong usage, parameters included
    5  the quota is spent
    6  --max-cost or --max-time is spent
  130  cancelled";

/// Options of `autonoe flow run`.
#[derive(Clone, Debug, Args)]
#[command(after_help = PARAMETERS_AND_EXIT_CODES)]
pub(crate) struct FlowRunArgs {
    /// The flow: its name in .autonoe/flows, or a path that contains a /
    #[arg(value_name = "FLOW")]
    pub(crate) flow: String,
    /// The parameters of the flow, as flags
    #[arg(
        value_name = "PARAMETERS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) parameters: Vec<String>,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    #[command(flatten)]
    pub(crate) agent: PromptAgentArgs,
    /// Wait for the quota to reset instead of stopping
    #[arg(long)]
    #[arg(help_heading = "Limits")]
    wait_for_quota: bool,
    /// Start the flow from the beginning, even if it could be resumed
    #[arg(long)]
    pub(crate) restart: bool,
    /// Show the parameters, the settings and the first step; start no agent
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) notify: NotifyArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Print only the result as JSON, at the end; `--output json` prints the events
    #[arg(long, conflicts_with = "output", help_heading = "Output")]
    pub(crate) json: bool,
}

impl FlowRunArgs {
    /// Returns the limits from the command line. Limits without an option stay `None`.
    pub(crate) fn limits(&self) -> LimitOverrides {
        LimitOverrides {
            on_quota: self.wait_for_quota.then_some(OnQuota::Wait),
            budget: self.agent.budget(),
            ..LimitOverrides::default()
        }
    }
}

/// Options of `autonoe flow list`.
#[derive(Debug, Args)]
pub(crate) struct FlowListArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `autonoe flow validate`.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes:
  0  no flow has errors; warnings do not count
  1  a flow has errors
  2  nothing was validated: wrong usage, a project that cannot be used,
     an unknown flow, or no flows")]
pub(crate) struct FlowValidateArgs {
    /// The flow: its name in .autonoe/flows, or a path that contains a / [default: all flows
    /// of the project]
    #[arg(value_name = "FLOW")]
    pub(crate) flow: Option<String>,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `autonoe flow graph`.
#[derive(Debug, Args)]
pub(crate) struct FlowGraphArgs {
    /// The flow: its name in .autonoe/flows, or a path that contains a /
    #[arg(value_name = "FLOW")]
    pub(crate) flow: String,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// The format [default: by the extension of FILE, else mermaid]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<GraphFormat>,
    /// The output file; `-` is standard output
    #[arg(long, short = 'o', value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
}

/// Options of `autonoe flow import`.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes:
  0  the flow was imported and has no errors
  1  the flow was imported and has errors, or the agent cannot be imported
  2  wrong usage, or a flow of this name already exists")]
pub(crate) struct FlowImportArgs {
    /// The folder of the agent, with agent.json and steps_registry.json
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// The name of the flow [default: the name of the agent]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<FlowName>,
    /// Replace an existing flow of this name
    #[arg(long)]
    pub(crate) force: bool,
}

/// Output format of a drawn flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// Text for Mermaid, which many Markdown viewers render
    Mermaid,
    /// Text for Graphviz
    Dot,
}
