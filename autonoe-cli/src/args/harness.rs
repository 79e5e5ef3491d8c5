//! Options of `autonoe harness`.

use std::path::PathBuf;
use std::time::Duration;

use autonoe_app::value_parsers::pause as duration;
use autonoe_harness::MemberHandle;
use clap::{Args, Subcommand};

use super::{HarnessRunArgs, ProjectArgs};

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
    pub(crate) which: FleetSelectionArgs,
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
    pub(crate) which: FleetSelectionArgs,
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
    pub(crate) which: FleetSelectionArgs,
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
    pub(crate) which: FleetSelectionArgs,
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
