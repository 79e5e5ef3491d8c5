//! Options of `autonoe mcp`.

use clap::Args;

/// Options of `autonoe mcp`.
#[derive(Debug, Args)]
#[command(
    after_help = "A run passes this command to agents that can only start MCP servers as programs, \
    with the address of its tools and, in AUTONOE_MCP_TOKEN, the secret of the session. \
    Do not run it by hand.\n\n\
    Exit codes: 0 the agent closed its end, 1 failure, 2 wrong usage."
)]
pub(crate) struct McpArgs {
    /// The address of the tools of the run, on this machine
    #[arg(long, value_name = "URL")]
    pub(crate) url: String,
}
