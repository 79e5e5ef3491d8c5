//! Options of `autonoe report`.

use std::path::PathBuf;

use clap::Args;

use super::ProjectArgs;

/// Options of `autonoe report`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// The ID of the run, or a prefix of it [default: the newest]
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// The output file, relative to the working directory; `-` is standard output
    #[arg(
        long,
        short = 'o',
        value_name = "FILE",
        default_value = "autonoe-report.html"
    )]
    pub(crate) output: PathBuf,
}
