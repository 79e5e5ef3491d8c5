//! Options of `autonoe init` and `autonoe schema`.

use clap::Args;

use super::ProjectArgs;

/// Options of `autonoe init`.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

/// Options of `autonoe schema`.
#[derive(Debug, Args)]
#[command(
    after_help = "What `autonoe run --output json` prints is run-event, what `autonoe log --json` \
    prints is journal-entry, one per line; what `--json` of other commands prints begins with \
    `output.`."
)]
pub(crate) struct SchemaArgs {
    /// What to describe; without it, the names are listed
    pub(crate) name: Option<String>,
}
