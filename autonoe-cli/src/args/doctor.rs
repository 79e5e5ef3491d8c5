//! Options of `autonoe doctor`.

use autonoe_app::BackendChoice;
use clap::Args;

use super::ProjectArgs;
use super::agent::model;

/// Options of `autonoe doctor`.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 a run can start, 1 a problem prevents it, 2 wrong usage.")]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Check this backend, written as for `autonoe run` [default: the one in .autonoe/agent.json,
    /// else claude]
    #[arg(long, value_name = "BACKEND")]
    pub(crate) backend: Option<BackendChoice>,
    /// The model, as for `autonoe run` [default: chosen by the backend]
    #[arg(long, short = 'm', value_name = "MODEL", value_parser = model)]
    pub(crate) model: Option<String>,
    /// Check for a run without a sandbox, like AUTONOE_NO_SANDBOX=1
    #[arg(long)]
    pub(crate) no_sandbox: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
