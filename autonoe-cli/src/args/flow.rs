//! Options of `autonoe flow`.

use std::path::PathBuf;

use std::time::Duration;

use autonoe_app::BackendChoice;
use autonoe_app::value_parsers::{cost, thinking, time};
use autonoe_core::CostUsd;
use autonoe_core::agent::ThinkingBudget;
use autonoe_core::gate::policy::Destructive;
use autonoe_flow::FlowName;
use clap::{Args, Subcommand, ValueEnum};

use super::agent::model;
use super::{AgentArgs, LimitArgs, NotifyArgs, OutputArgs, ProjectArgs};

/// Options of `autonoe flow`.
#[derive(Debug, Args)]
pub(crate) struct FlowArgs {
    #[command(subcommand)]
    pub(crate) command: FlowCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FlowCommand {
    /// Run a flow until it is complete, or resume an interrupted one
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

Exit codes:
    0  done: the flow is complete
    1  the flow failed, has errors, or the project cannot be used
    2  wrong usage, parameters included
    5  the quota is exceeded
    6  --max-cost or --max-time is reached
  130  interrupted";

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
    /// The backend: `claude`, `codex`, `gemini`, `acp:COMMAND`, `model:PROVIDER/MODEL`,
    /// `scripted:FILE`, or JSON [default: the one in .autonoe/agent.json, else claude]
    #[arg(long, value_name = "BACKEND")]
    #[arg(help_heading = "Agent")]
    backend: Option<BackendChoice>,
    /// The model [default: chosen by the backend]
    #[arg(long, short = 'm', value_name = "MODEL", value_parser = model)]
    #[arg(help_heading = "Agent")]
    model: Option<String>,
    /// Enable extended thinking with a budget of at least 1024 tokens [default: off; without a
    /// number: 8192]
    // The value must be attached, so that the option does not consume a word of the flow.
    #[arg(long, value_name = "TOKENS", num_args = 0..=1, default_missing_value = "8192")]
    #[arg(require_equals = true, value_parser = thinking)]
    #[arg(help_heading = "Agent")]
    thinking: Option<ThinkingBudget>,
    /// Maximum total cost, in US dollars
    #[arg(long, value_name = "USD", value_parser = cost)]
    #[arg(help_heading = "Limits")]
    max_cost: Option<CostUsd>,
    /// Maximum time since the first start, for example 90m, 2h30m or 45s
    #[arg(long, value_name = "TIME", value_parser = time)]
    #[arg(help_heading = "Limits")]
    max_time: Option<Duration>,
    /// Wait for the quota to reset instead of stopping
    #[arg(long)]
    #[arg(help_heading = "Limits")]
    wait_for_quota: bool,
    /// Turn off the sandbox of the agent and of checks, like AUTONOE_NO_SANDBOX=1
    #[arg(long)]
    #[arg(help_heading = "Safety")]
    no_sandbox: bool,
    /// Allow `rm` and `mv` inside the project, `git clean` and `git push --force`
    #[arg(long, short = 'D', help_heading = "Safety")]
    allow_destructive: bool,
    /// Start a new run instead of resuming an interrupted one
    #[arg(long)]
    pub(crate) anew: bool,
    /// Show the parameters, the settings and the first step; start no agent
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) notify: NotifyArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Print the result as JSON at the end
    #[arg(long, conflicts_with = "output", help_heading = "Output")]
    pub(crate) json: bool,
}

impl FlowRunArgs {
    /// Returns the agent options in the form that a run uses.
    pub(crate) fn agent(&self) -> AgentArgs {
        AgentArgs {
            backend: self.backend.clone(),
            model: self.model.clone(),
            plan_model: None,
            thinking: self.thinking,
            limits: LimitArgs {
                max_cost: self.max_cost,
                max_time: self.max_time,
                wait_for_quota: self.wait_for_quota,
                ..LimitArgs::default()
            },
            no_sandbox: self.no_sandbox,
        }
    }

    pub(crate) fn destructive(&self) -> Destructive {
        if self.allow_destructive {
            Destructive::Allowed
        } else {
            Destructive::Forbidden
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

/// How a flow is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// Text for Mermaid, which many Markdown viewers render
    Mermaid,
    /// Text for Graphviz
    Dot,
}
