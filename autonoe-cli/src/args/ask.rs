//! Options of `autonoe ask`.

use std::time::Duration;

use autonoe_core::{CostUsd, Destructive, SessionAccess, ThinkingBudget};
use clap::Args;

use super::agent::model;
use super::money_and_time::{cost, thinking, time};
use super::{AgentArgs, LimitArgs, OutputArgs, OutputFormat, ProjectArgs};
use crate::compose::BackendChoice;

/// Describes the chat and the exit codes, for the help.
const CHAT_AND_EXIT_CODES: &str = "\
The answer goes to standard output, everything else to standard error. Without a prompt, the command
reads the prompt from standard input. On a terminal it is a chat instead: /new starts a new
conversation, /cost prints what the chat has cost, /exit or Ctrl-D ends it, and Ctrl-C stops the
agent.

Exit codes:
    0  the agent answered, or the chat ended
    1  the agent failed or did not answer, or the project cannot be used
    2  wrong usage
    4  --max-turns is reached
    5  the quota is spent
    6  --max-cost or --max-time is spent
  130  interrupted";

/// Options of `autonoe ask`.
#[derive(Clone, Debug, Args)]
#[command(after_help = CHAT_AND_EXIT_CODES)]
pub(crate) struct AskArgs {
    /// The question or the task; `-` reads it from standard input
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
    /// Continue the last conversation in this project
    #[arg(long = "continue", short = 'c')]
    pub(crate) resume: bool,
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
    // The value is attached, so that the option does not consume the first word of the prompt.
    #[arg(long, value_name = "TOKENS", num_args = 0..=1, default_missing_value = "8192")]
    #[arg(require_equals = true, value_parser = thinking)]
    #[arg(help_heading = "Agent")]
    thinking: Option<ThinkingBudget>,
    /// How much money the command may spend, in dollars
    #[arg(long, value_name = "USD", value_parser = cost)]
    #[arg(help_heading = "Limits")]
    max_cost: Option<CostUsd>,
    /// How long the agent may work, in hours (h), minutes (m) and seconds (s): 90m, 2h30m, 45s
    #[arg(long, value_name = "TIME", value_parser = time)]
    #[arg(help_heading = "Limits")]
    max_time: Option<Duration>,
    /// How many model calls the agent may make for one prompt
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(help_heading = "Limits")]
    pub(crate) max_turns: Option<u32>,
    /// Let the agent read only: it changes no file and runs no command
    #[arg(long, help_heading = "Safety")]
    read_only: bool,
    /// Switch the sandbox of the agent off; only AUTONOE_NO_SANDBOX=1 does the same
    #[arg(long, help_heading = "Safety")]
    no_sandbox: bool,
    /// Let the agent use `rm` and `mv` inside the project, `git clean` and `git push --force`
    #[arg(long, short = 'D', help_heading = "Safety")]
    allow_destructive: bool,
    /// Print every event with its whole payload
    #[arg(long, short = 'd', help_heading = "Output")]
    debug: bool,
    /// Print the answer, errors and warnings of the command itself, and nothing else
    #[arg(long, short = 'q', conflicts_with = "debug", help_heading = "Output")]
    quiet: bool,
    /// What goes to standard output: `text` is the answer, `json` is one event per line
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        help_heading = "Output"
    )]
    #[arg(hide_possible_values = true)]
    output: OutputFormat,
}

impl AskArgs {
    pub(crate) fn agent(&self) -> AgentArgs {
        AgentArgs {
            backend: self.backend.clone(),
            model: self.model.clone(),
            plan_model: None,
            thinking: self.thinking,
            limits: LimitArgs {
                max_cost: self.max_cost,
                max_time: self.max_time,
                ..LimitArgs::default()
            },
            no_sandbox: self.no_sandbox,
        }
    }

    pub(crate) fn access(&self) -> SessionAccess {
        match self.read_only {
            true => SessionAccess::reading(),
            false => SessionAccess::default(),
        }
    }

    pub(crate) fn destructive(&self) -> Destructive {
        match self.allow_destructive {
            true => Destructive::Allowed,
            false => Destructive::Forbidden,
        }
    }

    pub(crate) fn output(&self) -> OutputArgs {
        OutputArgs {
            debug: self.debug,
            quiet: self.quiet,
            output: self.output,
        }
    }
}
