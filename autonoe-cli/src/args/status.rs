//! Options of `autonoe status`.

use clap::Args;

use super::ProjectArgs;

/// Options of `autonoe status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
