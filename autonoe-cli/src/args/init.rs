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
pub(crate) struct SchemaArgs {
    /// What to describe; without it, the names are listed
    pub(crate) name: Option<String>,
}
