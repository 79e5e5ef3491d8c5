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
    after_help = "The lines of `autonoe run --output json` have the schema run-event, and those of \
    `autonoe log --json` have journal-entry. The schemas of other commands with `--json` begin \
    with `output.`."
)]
pub(crate) struct SchemaArgs {
    /// The name of the schema [default: list all names]
    pub(crate) name: Option<String>,
}
