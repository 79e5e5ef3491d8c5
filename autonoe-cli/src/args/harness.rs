//! Options of `autonoe harness`.

use std::path::PathBuf;
use std::time::Duration;

use autonoe_harness::DEFAULT_LOG_LINES;
use clap::{Args, Subcommand};

use super::money_and_time::pause as duration;
use super::{HarnessRunArgs, ProjectArgs};

/// Options of `autonoe harness`.
#[derive(Debug, Args)]
pub(crate) struct HarnessArgs {
    #[command(subcommand)]
    pub(crate) command: HarnessCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HarnessCommand {
    /// Have many agents do the tasks of a roadmap, or resume an interrupted fleet
    Run(Box<HarnessRunArgs>),
    /// Show the fleets of the project and how their members stand
    Status(HarnessStatusArgs),
    /// Show what members of a fleet, or its coordinator, have written down
    Logs(HarnessLogsArgs),
    /// Tell the agent of a member something; it hears it once, in its next turn
    Send(HarnessSendArgs),
    /// Have a member, or the whole fleet, begin nothing more until it is resumed
    Pause(HarnessMemberArgs),
    /// Let a member, or the whole fleet, go on
    Resume(HarnessMemberArgs),
    /// End a member, or the whole fleet, in order and for good
    Stop(HarnessStopArgs),
    /// End a member, or the whole fleet, with all that it has started
    Kill(HarnessKillArgs),
    /// Show a fleet in a browser, on this machine, to whoever has the address
    Serve(HarnessServeArgs),
    /// Serve the folder of a sub-harness; fleets start this themselves
    #[command(hide = true)]
    Work(HarnessWorkArgs),
}

/// Which fleet a command is about.
#[derive(Clone, Debug, Args)]
pub(crate) struct WhichFleetArgs {
    /// The fleet [default: the one that is at work, else the last]
    #[arg(long, short = 'f', value_name = "FLEET")]
    pub(crate) fleet: Option<String>,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

/// Options of `autonoe harness status`.
#[derive(Debug, Args)]
pub(crate) struct HarnessStatusArgs {
    /// The fleet [default: all of the project]
    #[arg(value_name = "FLEET")]
    pub(crate) fleet: Option<String>,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Print JSON, for other programs
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
    pub(crate) which: WhichFleetArgs,
    /// How many of the last lines of each are shown
    #[arg(long, short = 'n', value_name = "N", default_value_t = DEFAULT_LOG_LINES)]
    pub(crate) tail: usize,
    /// Go on with what comes, until it has ended
    #[arg(long)]
    pub(crate) follow: bool,
    /// Print one JSON object per line, for other programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `autonoe harness send`.
#[derive(Debug, Args)]
pub(crate) struct HarnessSendArgs {
    /// The member
    #[arg(value_name = "MEMBER")]
    pub(crate) member: String,
    /// What its agent is told
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
    #[command(flatten)]
    pub(crate) which: WhichFleetArgs,
    /// Print JSON, for other programs
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
    pub(crate) which: WhichFleetArgs,
    /// Print JSON, for other programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `autonoe harness stop`.
#[derive(Debug, Args)]
pub(crate) struct HarnessStopArgs {
    #[command(flatten)]
    pub(crate) asked: HarnessMemberArgs,
    /// Why, for whoever reads its result
    #[arg(long, value_name = "TEXT", default_value = "a person stopped it")]
    pub(crate) reason: String,
}

/// Options of `autonoe harness kill`.
#[derive(Debug, Args)]
pub(crate) struct HarnessKillArgs {
    #[command(flatten)]
    pub(crate) asked: HarnessMemberArgs,
    /// How long it has to end by itself first, in minutes (m) and seconds (s)
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "30s")]
    pub(crate) after: Duration,
}

/// Options of `autonoe harness serve`.
#[derive(Debug, Args)]
pub(crate) struct HarnessServeArgs {
    #[command(flatten)]
    pub(crate) which: WhichFleetArgs,
    /// The port on this machine [default: a free one]
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub(crate) port: u16,
}

/// Options of `autonoe harness work`.
#[derive(Debug, Args)]
pub(crate) struct HarnessWorkArgs {
    /// The folder of the sub-harness
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
}
