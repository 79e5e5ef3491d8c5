//! [`SessionSetup`]: shared setup of the sessions of runs, flows and fleet members, and the bridge
//! to the tools of a run for agents that need a program.

use std::path::PathBuf;
use std::sync::Arc;

use autonoe_core::agent::{OuterSandbox, ThinkingBudget};
use autonoe_core::run::{Models, SessionRunnerBuilder};
use autonoe_core::tool::ToolServer;
use autonoe_mcp::{BridgeError, HttpToolServer, TOKEN_VARIABLE, bridge_stdio};

use crate::build_backend::BuiltBackend;
use crate::env::{Env, this_program};
use crate::{AgentOptions, AppError};

/// Shared setup of sessions.
#[derive(Clone)]
pub struct SessionSetup {
    outer_sandbox: Option<OuterSandbox>,
    models: Models,
    thinking: Option<ThinkingBudget>,
    tool_server: Arc<dyn ToolServer>,
    browser_variables: Vec<(String, String)>,
    missing_server: Option<String>,
    home: Option<PathBuf>,
}

impl SessionSetup {
    pub fn new(options: &AgentOptions, env: &Env) -> Self {
        // Only for backends that cannot host our tools themselves. No port is opened before such a
        // backend starts.
        let tool_server = match this_program() {
            Some(path) => HttpToolServer::new().or_by_command(path),
            None => HttpToolServer::new(),
        };
        Self {
            outer_sandbox: None,
            models: options.models(),
            thinking: options.thinking,
            tool_server: Arc::new(tool_server),
            browser_variables: env.variables_with_prefix("PLAYWRIGHT_"),
            missing_server: None,
            home: env.home(),
        }
    }

    /// Adds the outer sandbox of a backend, and omits its MCP server that cannot be started.
    pub fn backend(mut self, built: &BuiltBackend) -> Self {
        self.outer_sandbox.clone_from(&built.outer_sandbox);
        self.missing_server.clone_from(&built.missing_server);
        self
    }

    /// Applies the setup to sessions.
    pub fn apply(&self, mut runner: SessionRunnerBuilder) -> SessionRunnerBuilder {
        // Codex does not pass its environment to the servers of a session.
        runner = runner.mcp_server_environment("playwright", self.browser_variables.clone());
        if let Some(server) = &self.missing_server {
            runner = runner.without_mcp_server(server);
        }
        runner = runner
            .models(self.models.clone())
            .tool_server(self.tool_server.clone());
        if let Some(sandbox) = &self.outer_sandbox {
            runner = runner.outer_sandbox(sandbox.clone());
        }
        if let Some(thinking) = self.thinking {
            runner = runner.thinking(thinking);
        }
        if let Some(home) = &self.home {
            runner = runner.home(home);
        }
        runner
    }
}

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
