//! `autonoe mcp`: bridges an agent to the tools of its run.

use std::process::ExitCode;

use autonoe_app::bridge_tools;

use crate::args::McpArgs;
use crate::cli_env::CliEnv;
use crate::error::CliError;

/// Forwards MCP messages of an agent to the tools of the run that started it.
pub(crate) fn mcp(args: &McpArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    bridge_tools(&args.url, env)?;
    Ok(ExitCode::SUCCESS)
}
