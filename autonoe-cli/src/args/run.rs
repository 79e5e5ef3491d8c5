//! Options of `autonoe run` and `autonoe sync`.

use autonoe_core::Mode;
use autonoe_core::gate::policy::Destructive;
use clap::Args;

use super::agent::{AgentArgs, destructive};
use super::common::{NotifyArgs, OutputArgs, ProjectArgs};

/// Exit codes of a run, for the help.
pub(super) const EXIT_CODES: &str = "Exit codes:
    0  run: every deliverable that is not blocked passed
       sync: every deliverable was checked, whatever the result
    1  failure, or the project cannot be used
    2  wrong usage
    3  no deliverable passed, and all of them are blocked
    4  --max-iterations is reached
    5  the quota is spent, or it resets later than --max-time allows
    6  --max-cost or --max-time is spent
    7  more sessions failed in a row than --max-retries
    8  too many sessions in a row made no progress (--max-stalled-sessions)
  130  cancelled";

/// Options of `autonoe run`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    /// Allow `rm`, `mv` and `git` commands that discard work, such as `push --force`
    #[arg(long, short = 'D', help_heading = "Safety")]
    pub(crate) allow_destructive: bool,
    /// Show the settings, the instruction and the tools; start no agent
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) notify: NotifyArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Options of `autonoe sync`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct SyncArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    // Accepted, so that the command can reject it with a reason.
    #[arg(long, short = 'D', hide = true)]
    pub(crate) allow_destructive: bool,
    /// Show the settings, the instruction and the tools; start no agent
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) notify: NotifyArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Options that `autonoe run` and `autonoe sync` share.
#[derive(Clone, Debug)]
pub(crate) struct RunRequest<'a> {
    pub(crate) mode: Mode,
    pub(crate) project: &'a ProjectArgs,
    pub(crate) agent: &'a AgentArgs,
    pub(crate) destructive: Destructive,
    pub(crate) dry_run: bool,
    pub(crate) notify: &'a NotifyArgs,
    pub(crate) output: &'a OutputArgs,
}

impl RunArgs {
    pub(crate) fn request(&self) -> RunRequest<'_> {
        RunRequest {
            mode: Mode::Run,
            project: &self.project,
            agent: &self.agent,
            destructive: destructive(self.allow_destructive),
            dry_run: self.dry_run,
            notify: &self.notify,
            output: &self.output,
        }
    }
}

impl SyncArgs {
    pub(crate) fn request(&self) -> RunRequest<'_> {
        RunRequest {
            mode: Mode::Sync,
            project: &self.project,
            agent: &self.agent,
            destructive: Destructive::Forbidden,
            dry_run: self.dry_run,
            notify: &self.notify,
            output: &self.output,
        }
    }
}
