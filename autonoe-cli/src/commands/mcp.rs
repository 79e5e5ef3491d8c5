//! `autonoe mcp`.

use std::process::ExitCode;

use autonoe_mcp::{BridgeError, TOKEN_VARIABLE, bridge_stdio};

use crate::args::McpArgs;
use crate::error::CliError;
use crate::surroundings::Surroundings;

/// Hands on what an agent says to the tools of the run that started it.
pub(crate) fn mcp(args: &McpArgs, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    let token = surroundings.variable(TOKEN_VARIABLE).ok_or_else(|| {
        CliError::usage(format!("{TOKEN_VARIABLE} is not set"))
            .with_hint("this command is started by agents, with what a run told them")
    })?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::failure(format!("it cannot be started: {error}")))?;
    let crossed = runtime.block_on(bridge_stdio(
        &args.url,
        token,
        tokio::io::stdin(),
        tokio::io::stdout(),
    ));
    // A thread that still waits for standard input is not waited for.
    runtime.shutdown_background();
    crossed.map_err(|error| match &error {
        BridgeError::Address | BridgeError::Token => CliError::usage(error.to_string()),
        BridgeError::Pipe(cause) => CliError::failure(format!("{error}: {cause}")),
        _ => CliError::failure(error.to_string()),
    })?;
    Ok(ExitCode::SUCCESS)
}
