//! Options of `autonoe flow`.

use std::path::PathBuf;

use std::time::Duration;

use autonoe_core::{CostUsd, Destructive, ThinkingBudget};
use autonoe_flow::FlowName;
use clap::{Args, Subcommand, ValueEnum};

use super::agent::model;
use super::money_and_time::{cost, thinking, time};
use super::{AgentArgs, LimitArgs, OutputArgs, ProjectArgs};
use crate::compose::BackendChoice;

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
    /// List the flows of the project and say whether they could start
    List(FlowListArgs),
    /// Find what is wrong with flows before they cost anything
    Validate(FlowValidateArgs),
    /// Draw the steps of a flow
    Graph(FlowGraphArgs),
    /// Translate an agent of climpt into a flow, and list what was changed and dropped
    Import(FlowImportArgs),
}

/// How parameters are given, and what a flow ends with, for scripts.
const PARAMETERS_AND_EXIT_CODES: &str = "\
The parameters of a flow are flags that its definition names. They stand behind all other options,
and behind `--` if one of those has the same name: `autonoe flow run fix-bug --bug 'it crashes'`.
`--dry-run` shows those that there are.

Exit codes:
    0  done: the flow is complete
    1  the flow failed, has errors, or the project cannot be used
    2  wrong usage, parameters included
    5  the quota is spent
    6  --max-cost or --max-time is spent
  130  interrupted";

/// Options of `autonoe flow run`.
#[derive(Clone, Debug, Args)]
#[command(after_help = PARAMETERS_AND_EXIT_CODES)]
pub(crate) struct FlowRunArgs {
    /// The flow: its name in .autonoe/flows, or a folder with a / in it
    #[arg(value_name = "FLOW")]
    pub(crate) flow: String,
    /// The parameters of the flow, each behind its flag
    #[arg(
        value_name = "PARAMETERS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) parameters: Vec<String>,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// What runs the agent: `claude`, `codex`, `gemini`, `acp:COMMAND`, `model:PROVIDER/MODEL`,
    /// `scripted:FILE`, or JSON [default: that of .autonoe/agent.json, else claude]
    #[arg(long, value_name = "BACKEND")]
    #[arg(help_heading = "Agent")]
    backend: Option<BackendChoice>,
    /// The model [default: the backend's own]
    #[arg(long, short = 'm', value_name = "MODEL", value_parser = model)]
    #[arg(help_heading = "Agent")]
    model: Option<String>,
    /// Let the agent think, with 1024 tokens or more [default: off; without a number: 8192]
    // With its value attached, so that it takes no word that belongs to the flow.
    #[arg(long, value_name = "TOKENS", num_args = 0..=1, default_missing_value = "8192")]
    #[arg(require_equals = true, value_parser = thinking)]
    #[arg(help_heading = "Agent")]
    thinking: Option<ThinkingBudget>,
    /// How much money may be spent in total, in dollars
    #[arg(long, value_name = "USD", value_parser = cost)]
    #[arg(help_heading = "Limits")]
    max_cost: Option<CostUsd>,
    /// How long it may take from its first start, in hours (h), minutes (m) and seconds (s)
    #[arg(long, value_name = "TIME", value_parser = time)]
    #[arg(help_heading = "Limits")]
    max_time: Option<Duration>,
    /// Wait until the quota comes back instead of stopping
    #[arg(long)]
    #[arg(help_heading = "Limits")]
    wait_for_quota: bool,
    /// Switch the sandbox of the agent and of checks off; only AUTONOE_NO_SANDBOX=1 does the same
    #[arg(long)]
    #[arg(help_heading = "Safety")]
    no_sandbox: bool,
    /// Let the agent use `rm` and `mv` inside the project, `git clean` and `git push --force`
    #[arg(long, short = 'D', help_heading = "Safety")]
    allow_destructive: bool,
    /// Leave an interrupted run of this flow as it is, and start anew
    #[arg(long)]
    pub(crate) anew: bool,
    /// Show the parameters, the settings and the first step, and start no agent
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Print the result as JSON at the end, for other programs
    #[arg(long, conflicts_with = "output", help_heading = "Output")]
    pub(crate) json: bool,
}

impl FlowRunArgs {
    /// Returns what is said of agents, as a run takes it.
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
        match self.allow_destructive {
            true => Destructive::Allowed,
            false => Destructive::Forbidden,
        }
    }
}

/// Options of `autonoe flow list`.
#[derive(Debug, Args)]
pub(crate) struct FlowListArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Print JSON, for other programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `autonoe flow validate`.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes:
  0  there are no errors; warnings do not count
  1  there is an error
  2  nothing was validated: wrong usage, a project that cannot be used, no such flow, no flows")]
pub(crate) struct FlowValidateArgs {
    /// The flow: its name in .autonoe/flows, or a folder with a / in it [default: all of the project]
    #[arg(value_name = "FLOW")]
    pub(crate) flow: Option<String>,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Print JSON, for other programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `autonoe flow graph`.
#[derive(Debug, Args)]
pub(crate) struct FlowGraphArgs {
    /// The flow: its name in .autonoe/flows, or a folder with a / in it
    #[arg(value_name = "FLOW")]
    pub(crate) flow: String,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// How it is drawn [default: as the ending of FILE says, else mermaid]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<GraphFormat>,
    /// Where the drawing is written; `-` is standard output
    #[arg(long, short = 'o', value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
}

/// Options of `autonoe flow import`.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes:
  0  the flow is there and has no errors
  1  the flow is there and has errors, or there is nothing to import
  2  wrong usage, or a flow of this name is there")]
pub(crate) struct FlowImportArgs {
    /// The folder of the agent, with agent.json and steps_registry.json
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// The name of the flow [default: that of the agent]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<FlowName>,
    /// Replace a flow of this name
    #[arg(long)]
    pub(crate) force: bool,
}

/// How a flow is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// Text that Markdown pages show as a picture
    Mermaid,
    /// Text for Graphviz
    Dot,
}
