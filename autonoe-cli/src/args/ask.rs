//! Options of `autonoe ask`.

use std::time::Duration;

use autonoe_app::BackendChoice;
use autonoe_app::value_parsers::{cost, thinking, time};
use autonoe_core::CostUsd;
use autonoe_core::agent::ThinkingBudget;
use autonoe_core::gate::policy::Destructive;
use autonoe_core::run::SessionAccess;
use clap::Args;

use super::agent::model;
use super::{AgentArgs, LimitArgs, OutputArgs, OutputFormat, ProjectArgs};

/// Describes the chat and the exit codes, for the help.
const CHAT_AND_EXIT_CODES: &str = "\
The answer goes to standard output, everything else to standard error. Without
a prompt, the command reads it from standard input. On a terminal it starts a
chat instead: /new starts a new conversation, /cost prints the cost of the chat,
/exit or Ctrl-D ends it, and Ctrl-C stops the agent.

Exit codes:
    0  the agent answered, or the chat ended
    1  the agent failed or did not answer, or the project cannot be used
    2  wrong usage
    4  --max-turns is reached
    5  the quota is exceeded
    6  --max-cost or --max-time is reached
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
    // The value is attached, so that the option does not consume the first word of the prompt.
    #[arg(long, value_name = "TOKENS", num_args = 0..=1, default_missing_value = "8192")]
    #[arg(require_equals = true, value_parser = thinking)]
    #[arg(help_heading = "Agent")]
    thinking: Option<ThinkingBudget>,
    /// Maximum cost of the command, in US dollars
    #[arg(long, value_name = "USD", value_parser = cost)]
    #[arg(help_heading = "Limits")]
    max_cost: Option<CostUsd>,
    /// Maximum working time of the agent, for example 90m, 2h30m or 45s
    #[arg(long, value_name = "TIME", value_parser = time)]
    #[arg(help_heading = "Limits")]
    max_time: Option<Duration>,
    /// Maximum number of model calls for one prompt
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(help_heading = "Limits")]
    pub(crate) max_turns: Option<u32>,
    /// Read-only mode: the agent changes no file and runs no command
    #[arg(long, help_heading = "Safety")]
    read_only: bool,
    /// Turn off the sandbox of the agent, like AUTONOE_NO_SANDBOX=1
    #[arg(long, help_heading = "Safety")]
    no_sandbox: bool,
    /// Allow `rm` and `mv` inside the project, `git clean` and `git push --force`
    #[arg(long, short = 'D', help_heading = "Safety")]
    allow_destructive: bool,
    /// Print every event with its full payload
    #[arg(long, short = 'd', help_heading = "Output")]
    debug: bool,
    /// Print only the answer, errors and warnings of the command
    #[arg(long, short = 'q', conflicts_with = "debug", help_heading = "Output")]
    quiet: bool,
    /// The format of standard output: `text` for the answer, `json` for one event per line
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
        if self.read_only {
            SessionAccess::read_only()
        } else {
            SessionAccess::default()
        }
    }

    pub(crate) fn destructive(&self) -> Destructive {
        if self.allow_destructive {
            Destructive::Allowed
        } else {
            Destructive::Forbidden
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
