//! Options of `autonoe flow`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::ProjectArgs;

/// Options of `autonoe flow`.
#[derive(Debug, Args)]
pub(crate) struct FlowArgs {
    #[command(subcommand)]
    pub(crate) command: FlowCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FlowCommand {
    /// List the flows of the project and say whether they could start
    List(FlowListArgs),
    /// Find what is wrong with flows before they cost anything
    Validate(FlowValidateArgs),
    /// Draw the steps of a flow
    Graph(FlowGraphArgs),
}

/// Options of `autonoe flow list`.
#[derive(Debug, Args)]
pub(crate) struct FlowListArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Print JSON, for other programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `autonoe flow validate`.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes:
  0  there are no errors; warnings do not count
  1  there is an error
  2  nothing was validated: wrong usage, a project that cannot be used, no such flow, no flows")]
pub(crate) struct FlowValidateArgs {
    /// The flow: its name in .autonoe/flows, or a folder with a / in it [default: all of the project]
    #[arg(value_name = "FLOW")]
    pub(crate) flow: Option<String>,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Print JSON, for other programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `autonoe flow graph`.
#[derive(Debug, Args)]
pub(crate) struct FlowGraphArgs {
    /// The flow: its name in .autonoe/flows, or a folder with a / in it
    #[arg(value_name = "FLOW")]
    pub(crate) flow: String,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// How it is drawn [default: as the ending of FILE says, else mermaid]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<GraphFormat>,
    /// Where the drawing is written; `-` is standard output
    #[arg(long, short = 'o', value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
}

/// How a flow is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// Text that Markdown pages show as a picture
    Mermaid,
    /// Text for Graphviz
    Dot,
    /// A picture for browsers
    Svg,
}
