//! Bridge between standard input and output and the tools of a run, for agents that need a program.

use autonoe_mcp::{BridgeError, TOKEN_VARIABLE, bridge_stdio};

use crate::{AppError, Env};

/// Connects standard input and output to the tools that a run serves at `url`, until the agent
/// closes its end. Both programs provide it as their command `mcp`.
///
/// # Errors
///
/// The variable with the secret of the session is missing, or the run cannot be reached.
pub fn bridge_tools(url: &str, env: &Env) -> Result<(), AppError> {
    let token = env.variable(TOKEN_VARIABLE).ok_or_else(|| {
        AppError::usage(format!("{TOKEN_VARIABLE} is not set"))
            .with_hint("agents start this command themselves; do not run it by hand")
    })?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| AppError::failure(format!("the program cannot start: {error}")))?;
    let bridged = runtime.block_on(bridge_stdio(
        url,
        token,
        tokio::io::stdin(),
        tokio::io::stdout(),
    ));
    // Do not wait for a thread that is blocked on standard input.
    runtime.shutdown_background();
    bridged.map_err(|error| match &error {
        BridgeError::Address | BridgeError::Token => AppError::usage(error.to_string()),
        BridgeError::Pipe(cause) => AppError::failure(format!("{error}: {cause}")),
        _ => AppError::failure(error.to_string()),
    })
}
