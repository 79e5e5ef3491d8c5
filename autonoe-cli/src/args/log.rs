//! Options of `autonoe log`.

use clap::Args;

use super::ProjectArgs;

/// Options of `autonoe log`.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Show this run instead of the last one; a prefix of its ID is enough
    #[arg(long, value_name = "ID", conflicts_with_all = ["all", "follow"])]
    pub(crate) run: Option<String>,
    /// Show all runs, including those in archived journals
    #[arg(long, short = 'a')]
    pub(crate) all: bool,
    /// Print new entries until the run ends or you press Ctrl-C
    #[arg(long, short = 'f', conflicts_with = "all")]
    pub(crate) follow: bool,
    /// Print the entries of the journal as JSON, one per line
    #[arg(long)]
    pub(crate) json: bool,
}
