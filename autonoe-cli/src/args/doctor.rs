//! Options of `autonoe doctor`.

use clap::Args;

use super::ProjectArgs;
use super::agent::model;
use crate::compose::BackendChoice;

/// Options of `autonoe doctor`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 a run could start, 1 something is in its way, 2 wrong usage."
)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Look for a run on this backend, as `autonoe run` takes it [default: that of
    /// .autonoe/agent.json, else claude]
    #[arg(long, value_name = "BACKEND")]
    pub(crate) backend: Option<BackendChoice>,
    /// The model, as `autonoe run` takes it [default: that of the backend]
    #[arg(long, short = 'm', value_name = "MODEL", value_parser = model)]
    pub(crate) model: Option<String>,
    /// Look for a run without a sandbox; only AUTONOE_NO_SANDBOX=1 does the same
    #[arg(long)]
    pub(crate) no_sandbox: bool,
    /// Print JSON, for other programs
    #[arg(long)]
    pub(crate) json: bool,
}
