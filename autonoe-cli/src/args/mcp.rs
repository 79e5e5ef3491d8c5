//! Options of `autonoe mcp`.

use clap::Args;

/// Options of `autonoe mcp`.
#[derive(Debug, Args)]
#[command(
    after_help = "A run names this command to agents that know MCP servers by commands only, \
    with the address of its tools and, in AUTONOE_MCP_TOKEN, the secret that lets the agent in. \
    There is no reason to call it by hand.\n\n\
    Exit codes: 0 the agent closed its end, 1 failure, 2 wrong usage."
)]
pub(crate) struct McpArgs {
    /// Where the run serves its tools, on this machine
    #[arg(long, value_name = "URL")]
    pub(crate) url: String,
}
