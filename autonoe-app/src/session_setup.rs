//! [`SessionSetup`]: shared setup of the sessions of runs, flows and fleet members.

use std::path::PathBuf;
use std::sync::Arc;

use autonoe_core::agent::{OuterSandbox, ThinkingBudget};
use autonoe_core::run::SessionRunnerBuilder;
use autonoe_core::tool::ToolServer;
use autonoe_mcp::HttpToolServer;

use crate::env::{Env, this_program};

/// Shared setup of sessions.
#[derive(Clone)]
pub struct SessionSetup {
    outer_sandbox: Option<OuterSandbox>,
    thinking: Option<ThinkingBudget>,
    tool_server: Arc<dyn ToolServer>,
    browser_variables: Vec<(String, String)>,
    missing_server: Option<String>,
    home: Option<PathBuf>,
}

impl SessionSetup {
    pub fn new(
        outer_sandbox: Option<OuterSandbox>,
        thinking: Option<ThinkingBudget>,
        env: &Env,
    ) -> Self {
        // Only for backends that cannot host our tools themselves. No port is opened before such a
        // backend starts.
        let tool_server = match this_program() {
            Some(path) => HttpToolServer::new().or_by_command(path),
            None => HttpToolServer::new(),
        };
        Self {
            outer_sandbox,
            thinking,
            tool_server: Arc::new(tool_server),
            browser_variables: env.variables_with_prefix("PLAYWRIGHT_"),
            missing_server: None,
            home: env.home(),
        }
    }

    /// Omits an MCP server that cannot be started.
    pub fn without_server(mut self, server: Option<String>) -> Self {
        self.missing_server = server;
        self
    }

    /// Applies the setup to sessions.
    pub fn apply(&self, mut runner: SessionRunnerBuilder) -> SessionRunnerBuilder {
        // Codex does not pass its environment to the servers of a session.
        runner = runner.mcp_server_environment("playwright", self.browser_variables.clone());
        if let Some(server) = &self.missing_server {
            runner = runner.without_mcp_server(server);
        }
        runner = runner.tool_server(self.tool_server.clone());
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
