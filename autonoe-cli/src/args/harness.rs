//! Options of `autonoe harness`.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use autonoe_app::AgentOptions;
use autonoe_app::value_parsers::{cost, pause as duration, thinking, time};
use autonoe_core::agent::ThinkingBudget;
use autonoe_core::{Budget, CostUsd};
use autonoe_harness::{Allowance, MemberHandle};
use clap::{Args, Subcommand};

use super::agent::model;
use super::common::{NotifyArgs, ProjectArgs};
use super::strategy_arg::{FleetBackend, FleetStrategy};

/// Options of `autonoe harness`.
#[derive(Debug, Args)]
pub(crate) struct HarnessArgs {
    #[command(subcommand)]
    pub(crate) command: HarnessCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HarnessCommand {
    /// Run a fleet on the tasks of a roadmap, or resume it
    Run(Box<HarnessRunArgs>),
    /// Show the fleets of the project and the state of their members
    Status(HarnessStatusArgs),
    /// Show the logs of members of a fleet and of its coordinator
    Logs(HarnessLogsArgs),
    /// Send a message to the agent of a member, for its next turn
    Send(HarnessSendArgs),
    /// Pause a member or the whole fleet: turns in progress finish, and no other turn starts
    Pause(HarnessMemberArgs),
    /// Resume a paused member or the whole fleet
    Resume(HarnessMemberArgs),
    /// Stop a member or the whole fleet gracefully; it cannot be resumed
    Stop(HarnessStopArgs),
    /// Kill a member or the whole fleet, with all its processes; it cannot be resumed
    Kill(HarnessKillArgs),
    /// Show a fleet in a browser on this machine
    Serve(HarnessServeArgs),
    /// Run the process of a member; fleets start this themselves
    #[command(hide = true)]
    Work(HarnessWorkArgs),
}

/// Options that select a fleet.
#[derive(Clone, Debug, Args)]
pub(crate) struct FleetSelectionArgs {
    /// The fleet [default: the running one, else the last]
    #[arg(long, short = 'f', value_name = "FLEET")]
    pub(crate) fleet: Option<String>,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

/// Options of `autonoe harness status`.
#[derive(Debug, Args)]
pub(crate) struct HarnessStatusArgs {
    /// The fleet [default: all fleets of the project]
    #[arg(value_name = "FLEET")]
    pub(crate) fleet: Option<String>,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `autonoe harness logs`.
#[derive(Debug, Args)]
pub(crate) struct HarnessLogsArgs {
    /// The member [default: the coordinator and all members]
    #[arg(value_name = "MEMBER")]
    pub(crate) member: Option<String>,
    #[command(flatten)]
    pub(crate) selection: FleetSelectionArgs,
    /// Number of last lines to show of each log
    #[arg(long, short = 'n', value_name = "N", default_value_t = MemberHandle::LOG_LINES)]
    pub(crate) tail: usize,
    /// Print new lines until the member or the fleet has ended
    #[arg(long)]
    pub(crate) follow: bool,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `autonoe harness send`.
#[derive(Debug, Args)]
pub(crate) struct HarnessSendArgs {
    /// The member
    #[arg(value_name = "MEMBER")]
    pub(crate) member: String,
    /// The message
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
    #[command(flatten)]
    pub(crate) selection: FleetSelectionArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of commands about a member or the whole fleet.
#[derive(Debug, Args)]
pub(crate) struct HarnessMemberArgs {
    /// The member [default: the whole fleet]
    #[arg(value_name = "MEMBER")]
    pub(crate) member: Option<String>,
    #[command(flatten)]
    pub(crate) selection: FleetSelectionArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `autonoe harness stop`.
#[derive(Debug, Args)]
pub(crate) struct HarnessStopArgs {
    #[command(flatten)]
    pub(crate) target: HarnessMemberArgs,
    /// The reason, which is recorded in the result
    #[arg(long, value_name = "TEXT", default_value = "requested by a user")]
    pub(crate) reason: String,
}

/// Options of `autonoe harness kill`.
#[derive(Debug, Args)]
pub(crate) struct HarnessKillArgs {
    #[command(flatten)]
    pub(crate) target: HarnessMemberArgs,
    /// Time to wait for a graceful end first, for example 2m or 45s
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "30s")]
    pub(crate) after: Duration,
}

/// Options of `autonoe harness serve`.
#[derive(Debug, Args)]
pub(crate) struct HarnessServeArgs {
    #[command(flatten)]
    pub(crate) selection: FleetSelectionArgs,
    /// The port on this machine; 0 chooses a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,
}

/// Options of `autonoe harness work`.
#[derive(Debug, Args)]
pub(crate) struct HarnessWorkArgs {
    /// The folder of the member
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
}

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
    thinking: Option<ThinkingBudget>,
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
    no_sandbox: bool,
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
    /// Returns the options of all agents. Each backend has its own model.
    pub(crate) fn agent(&self) -> AgentOptions {
        AgentOptions {
            thinking: self.thinking,
            is_destructive: self.allow_destructive,
            no_sandbox: self.no_sandbox,
            ..AgentOptions::default()
        }
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
