//! Options of `autonoe run` and `autonoe sync`.

use clap::Args;

use super::agent::AgentArgs;
use super::common::{NotifyArgs, OutputArgs, ProjectArgs};

/// Exit codes of a run, for the help.
const EXIT_CODES: &str = "Exit codes:
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

/// Options of `autonoe run` and `autonoe sync`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Show the settings, the instruction and the tools; start no agent
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    #[command(flatten)]
    pub(crate) notify: NotifyArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
