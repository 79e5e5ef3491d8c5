//! Options of `autonoe log`.

use clap::Args;

use super::ProjectArgs;

/// Options of `autonoe log`.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Tell this run instead of the last one; the beginning of its id is enough
    #[arg(long, value_name = "ID", conflicts_with_all = ["all", "follow"])]
    pub(crate) run: Option<String>,
    /// Tell all runs, also those of journals that were put aside
    #[arg(long, short = 'a')]
    pub(crate) all: bool,
    /// Go on with what comes, until the run ends or you press Ctrl-C
    #[arg(long, short = 'f', conflicts_with = "all")]
    pub(crate) follow: bool,
    /// Print the lines of the journal as they are, one JSON object each
    #[arg(long)]
    pub(crate) json: bool,
}
