//! Options of `autonoe harness run`.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use autonoe_app::value_parsers::{cost, thinking, time};
use autonoe_core::agent::ThinkingBudget;
use autonoe_core::gate::policy::Destructive;
use autonoe_core::{Budget, CostUsd};
use autonoe_harness::Allowance;
use clap::Args;

use super::agent::model;
use super::{FleetBackend, FleetStrategy, NotifyArgs, ProjectArgs, destructive};

/// Describes the exit codes of a fleet, for the help.
const EXIT_CODES: &str = "\
To resume a fleet that was cancelled or killed, run the same command again.

Exit codes:
    0  done: the fleet has succeeded
    1  the fleet failed or was stopped, or it could not start
    2  wrong usage
    6  --max-cost, --max-tokens, --max-sessions or --max-time is spent
  130  cancelled";

/// Options of `autonoe harness run`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct HarnessRunArgs {
    /// The roadmap: a Markdown file with an objective and tasks
    #[arg(value_name = "ROADMAP")]
    pub(crate) roadmap: PathBuf,
    /// The name of the fleet [default: the file name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Strategy of the members: `graph` (each task after its dependencies), `parallel`,
    /// `pipeline`, `race` (the first success wins) or `voting[:RANKING]` (the best success wins)
    #[arg(long, value_name = "STRATEGY", default_value = "graph")]
    pub(crate) strategy: FleetStrategy,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// A backend, written as for `autonoe run`; repeatable. Tasks without `cli:` use the first one.
    /// In a race or a vote, each one is a candidate. A prefix `NAME=` sets its name, and `@MODEL`
    /// after a plain name sets its model
    #[arg(long, value_name = "BACKEND", help_heading = "Agents")]
    pub(crate) backend: Vec<FleetBackend>,
    /// The model for tasks without their own [default: chosen by the backend]
    #[arg(long, short = 'm', value_name = "MODEL", value_parser = model)]
    #[arg(help_heading = "Agents")]
    pub(crate) model: Option<String>,
    /// A backend that continues stuck tasks, written as for --backend; repeatable, the least
    /// capable first
    #[arg(long, value_name = "BACKEND", help_heading = "Agents")]
    pub(crate) escalate_to: Vec<FleetBackend>,
    /// Let stuck agents ask you as a last resort: `autonoe harness status` shows the question, and
    /// `autonoe harness send` answers it
    #[arg(long, help_heading = "Agents")]
    pub(crate) attended: bool,
    /// Enable extended thinking with a budget of at least 1024 tokens [default: off; without a
    /// number: 8192]
    #[arg(long, value_name = "TOKENS", num_args = 0..=1, default_missing_value = "8192")]
    #[arg(require_equals = true, value_parser = thinking, help_heading = "Agents")]
    pub(crate) thinking: Option<ThinkingBudget>,
    /// Maximum number of members that work at once
    #[arg(long, value_name = "N", default_value = "10", help_heading = "Limits")]
    pub(crate) max_concurrent: NonZeroUsize,
    /// Maximum number of turns for each task
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..), help_heading = "Limits")]
    pub(crate) max_iterations: u32,
    /// Number of successes that a vote needs
    #[arg(long, value_name = "N", default_value = "2", help_heading = "Limits")]
    pub(crate) min_votes: NonZeroUsize,
    /// Wait for all candidates of a vote, even after --min-votes successes
    #[arg(long, help_heading = "Limits")]
    pub(crate) wait_for_all: bool,
    /// Maximum cost of the whole fleet, in US dollars
    #[arg(long, value_name = "USD", value_parser = cost, help_heading = "Limits")]
    pub(crate) max_cost: Option<CostUsd>,
    /// Maximum number of tokens of the whole fleet
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_tokens: Option<NonZeroU64>,
    /// Maximum number of sessions of the whole fleet
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_sessions: Option<NonZeroU64>,
    /// Maximum time of the fleet, without pauses, for example 90m or 2h30m
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Limits")]
    pub(crate) max_time: Option<Duration>,
    /// Run all members in the project itself, without Git worktrees
    #[arg(long, help_heading = "Safety")]
    pub(crate) no_worktrees: bool,
    /// Turn off the sandbox of agents and checks, like AUTONOE_NO_SANDBOX=1
    #[arg(long, help_heading = "Safety")]
    pub(crate) no_sandbox: bool,
    /// Allow members `rm`, `mv` and `git` commands that discard work, such as forced pushes
    #[arg(long, short = 'D', help_heading = "Safety")]
    allow_destructive: bool,
    /// Pause a member after a critical alert, until it is resumed
    #[arg(long, help_heading = "Safety")]
    pub(crate) pause_on_critical: bool,
    #[command(flatten)]
    pub(crate) notify: NotifyArgs,
    /// Show the live view even if standard error is not a terminal
    #[arg(long, conflicts_with_all = ["no_view", "quiet"], help_heading = "Output")]
    pub(crate) view: bool,
    /// Print lines instead of the live view
    #[arg(long, help_heading = "Output")]
    pub(crate) no_view: bool,
    /// Print only errors, warnings of the command (such as a sandbox that is off), and the result
    #[arg(long, short = 'q', help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Print the result as JSON at the end
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

impl HarnessRunArgs {
    pub(crate) fn destructive(&self) -> Destructive {
        destructive(self.allow_destructive)
    }

    /// Returns the shared budget of all members.
    pub(crate) fn allowance(&self) -> Allowance {
        let allowance = Allowance::new(Budget {
            cost_usd: self.max_cost,
            tokens: self.max_tokens.map(NonZeroU64::get),
            time: None,
        });
        match self.max_sessions {
            Some(sessions) => allowance.sessions(sessions.get()),
            None => allowance,
        }
    }
}
