//! Options of `autonoe harness run`.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use autonoe_core::{Budget, CostUsd, Destructive, ThinkingBudget};
use autonoe_harness::Allowance;
use clap::Args;

use super::agent::model;
use super::money_and_time::{cost, thinking, time};
use super::{FleetBackend, FleetStrategy, ProjectArgs};

/// What a fleet ends with, for scripts.
const EXIT_CODES: &str = "\
A fleet that was interrupted or killed goes on when the same command is given again.

Exit codes:
    0  done: the fleet has succeeded
    1  the fleet failed or was stopped, or it could not begin
    2  wrong usage
    6  --max-cost, --max-tokens, --max-sessions or --max-time is spent
  130  interrupted";

/// Options of `autonoe harness run`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct HarnessRunArgs {
    /// The roadmap: a markdown file with an objective and tasks
    #[arg(value_name = "ROADMAP")]
    pub(crate) roadmap: PathBuf,
    /// What the fleet is called [default: the name of the file]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// How members work together: `graph` (each task after those it depends on), `parallel`,
    /// `pipeline`, `race` (the first success wins) or `voting[:CRITERION]` (the best of them wins)
    #[arg(long, value_name = "STRATEGY", default_value = "graph")]
    pub(crate) strategy: FleetStrategy,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// What runs agents, as for `autonoe run`; again for more of them. The first is for tasks that
    /// name none with `cli:`; in a race or a vote each is a contender. `NAME=` before it names it,
    /// and `@MODEL` behind a plain name sets its model
    #[arg(long, value_name = "BACKEND", help_heading = "Agents")]
    pub(crate) backend: Vec<FleetBackend>,
    /// The model of tasks that name none [default: the backend's own]
    #[arg(long, short = 'm', value_name = "MODEL", value_parser = model)]
    #[arg(help_heading = "Agents")]
    pub(crate) model: Option<String>,
    /// Who goes on with a task that is stuck, the least able first: as for --backend
    #[arg(long, value_name = "BACKEND", help_heading = "Agents")]
    pub(crate) escalate_to: Vec<FleetBackend>,
    /// Wait for a person where an agent is stuck and nothing else helps: `autonoe harness status` shows
    /// the question, and `autonoe harness send` answers it
    #[arg(long, help_heading = "Agents")]
    pub(crate) attended: bool,
    /// Let agents think, with 1024 tokens or more [default: off; without a number: 8192]
    #[arg(long, value_name = "TOKENS", num_args = 0..=1, default_missing_value = "8192")]
    #[arg(require_equals = true, value_parser = thinking, help_heading = "Agents")]
    pub(crate) thinking: Option<ThinkingBudget>,
    /// How many members work at once
    #[arg(long, value_name = "N", default_value = "10", help_heading = "Limits")]
    pub(crate) max_concurrent: NonZeroUsize,
    /// How many turns each task has
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..), help_heading = "Limits")]
    pub(crate) max_iterations: u32,
    /// How many successes a vote takes
    #[arg(long, value_name = "N", default_value = "2", help_heading = "Limits")]
    pub(crate) min_votes: NonZeroUsize,
    /// Wait for all contenders of a vote, although --min-votes have succeeded
    #[arg(long, help_heading = "Limits")]
    pub(crate) wait_for_all: bool,
    /// How much money may be spent by all together, in dollars
    #[arg(long, value_name = "USD", value_parser = cost, help_heading = "Limits")]
    pub(crate) max_cost: Option<CostUsd>,
    /// How many tokens may be used by all together
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_tokens: Option<NonZeroU64>,
    /// How many sessions there may be of all together
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_sessions: Option<NonZeroU64>,
    /// When it must be over, from its start: 90m, 2h30m
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Limits")]
    pub(crate) max_time: Option<Duration>,
    /// Let all members work in the project itself instead of a git worktree for each
    #[arg(long, help_heading = "Safety")]
    pub(crate) no_worktrees: bool,
    /// Switch the sandbox of agents and checks off; only AUTONOE_NO_SANDBOX=1 does the same
    #[arg(long, help_heading = "Safety")]
    pub(crate) no_sandbox: bool,
    /// Let agents use `rm` and `mv` inside their folder, `git clean` and forced pushes
    #[arg(long, short = 'D', help_heading = "Safety")]
    allow_destructive: bool,
    /// Hold a member whose alert is critical until it is resumed
    #[arg(long, help_heading = "Alerts")]
    pub(crate) pause_on_critical: bool,
    /// A service that is told of alerts
    #[arg(long, value_name = "URL", help_heading = "Alerts")]
    pub(crate) webhook: Option<String>,
    /// The key that signs what it is told: AUTONOE_SIGNING_KEY_NAME
    #[arg(
        long,
        value_name = "NAME",
        requires = "webhook",
        help_heading = "Alerts"
    )]
    pub(crate) webhook_key: Option<String>,
    /// Show the live view, also where standard error is no terminal
    #[arg(long, conflicts_with_all = ["no_view", "quiet"], help_heading = "Output")]
    pub(crate) view: bool,
    /// Show lines instead of the live view
    #[arg(long, help_heading = "Output")]
    pub(crate) no_view: bool,
    /// Show only errors, warnings of the command itself and the result
    #[arg(long, short = 'q', help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Print the result as JSON at the end, for other programs
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

impl HarnessRunArgs {
    pub(crate) fn destructive(&self) -> Destructive {
        match self.allow_destructive {
            true => Destructive::Allowed,
            false => Destructive::Forbidden,
        }
    }

    /// Returns what all members together may spend.
    pub(crate) fn allowance(&self) -> Allowance {
        let allowance = Allowance::new(Budget {
            cost_usd: self.max_cost,
            tokens: self.max_tokens.map(NonZeroU64::get),
            time: None,
        });
        match self.max_sessions {
            Some(sessions) => allowance.with_sessions(sessions.get()),
            None => allowance,
        }
    }
}
