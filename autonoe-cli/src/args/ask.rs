//! Options of `autonoe ask`.

use autonoe_core::run::SessionAccess;
use clap::Args;

use super::agent::PromptAgentArgs;
use super::common::{OutputArgs, ProjectArgs};

/// Describes the chat and the exit codes, for the help.
const CHAT_AND_EXIT_CODES: &str = "\
The answer goes to standard output, everything else to standard error. If you
pass no prompt, standard input is the prompt. On a terminal, a chat starts
instead: /new starts a new conversation, /cost prints the cost of the chat,
/exit or Ctrl-D ends it, and Ctrl-C stops the agent.

Exit codes:
    0  the agent answered, or the chat ended
    1  the agent failed or did not answer, or the project cannot be used
    2  wrong usage
    4  --max-turns is reached
    5  the quota is spent
    6  --max-cost or --max-time is spent
  130  cancelled";

/// Options of `autonoe ask`.
#[derive(Clone, Debug, Args)]
#[command(after_help = CHAT_AND_EXIT_CODES)]
// A changed option moves to the end, so all options from the first changed one on are listed.
#[command(mut_arg("max_cost", |arg| arg.help("Maximum cost of the command, in US dollars")))]
#[command(mut_arg("max_time", |arg| arg.help(MAX_TIME_HELP)))]
#[command(mut_arg("max_turns", |arg| arg))]
#[command(mut_arg("no_sandbox", |arg| arg.help(NO_SANDBOX_HELP)))]
#[command(mut_arg("allow_destructive", |arg| arg))]
#[command(mut_arg("read_only", |arg| arg))]
#[command(mut_arg("debug", |arg| arg))]
#[command(mut_arg("quiet", |arg| arg.help(QUIET_HELP)))]
#[command(mut_arg("output", |arg| arg.help(OUTPUT_HELP).hide_possible_values(true)))]
pub(crate) struct AskArgs {
    /// The question or the task; `-` reads it from standard input
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
    /// Continue the last conversation in this project
    #[arg(long = "continue", short = 'c')]
    pub(crate) resume: bool,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    #[command(flatten)]
    pub(crate) agent: PromptAgentArgs,
    /// Maximum number of model calls for one prompt
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(help_heading = "Limits")]
    pub(crate) max_turns: Option<u32>,
    /// Read-only mode: the agent changes no file and runs no command
    #[arg(long, help_heading = "Safety")]
    pub(crate) read_only: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

const MAX_TIME_HELP: &str = "Maximum working time of the agent, for example 90m, 2h30m or 45s";
const NO_SANDBOX_HELP: &str = "Turn off the sandbox of the agent, like AUTONOE_NO_SANDBOX=1";
const QUIET_HELP: &str =
    "Print only the answer, errors, and warnings of the command (such as a sandbox that is off)";
const OUTPUT_HELP: &str =
    "The format of standard output: `text` (the answer) or `json` (one event per line)";

impl AskArgs {
    pub(crate) fn access(&self) -> SessionAccess {
        if self.read_only {
            SessionAccess::read_only()
        } else {
            SessionAccess::default()
        }
    }
}
