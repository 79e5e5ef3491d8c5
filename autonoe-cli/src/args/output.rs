//! How a run is shown.

use clap::{Args, ValueEnum};

/// How a run is shown.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Show all that happens, with whole payloads
    #[arg(long, short = 'd')]
    pub(crate) debug: bool,
    /// Show only errors, warnings of the command itself and the result
    #[arg(long, short = 'q', conflicts_with = "debug")]
    pub(crate) quiet: bool,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) output: OutputFormat,
}

/// What goes to standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// A summary for people, at the end
    #[default]
    Text,
    /// One event per line, as it happens, for other programs
    Json,
}
