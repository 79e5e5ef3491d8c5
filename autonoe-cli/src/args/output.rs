//! Command-line options for the output of a run.

use clap::{Args, ValueEnum};

/// Options for the output of a run.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Print every event with its full payload
    #[arg(long, short = 'd')]
    pub(crate) debug: bool,
    /// Print only errors, warnings of the command (such as a sandbox that is off), and the result
    #[arg(long, short = 'q', conflicts_with = "debug")]
    pub(crate) quiet: bool,
    /// The format of standard output
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) output: OutputFormat,
}

/// Format of standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// A summary at the end
    #[default]
    Text,
    /// One JSON event per line, as it happens
    Json,
}
