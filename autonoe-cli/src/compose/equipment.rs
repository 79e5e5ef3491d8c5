//! What sessions have, whoever asks for them: a run, a flow, or a member of a fleet.

use std::path::PathBuf;
use std::sync::Arc;

use autonoe_core::{OuterSandbox, SessionRunnerBuilder, ThinkingBudget, ToolServer};
use autonoe_mcp::HttpToolServer;

use crate::surroundings::{Surroundings, this_program};

/// What sessions have, whoever asks for them.
#[derive(Clone)]
pub(crate) struct Equipment {
    outer_sandbox: Option<OuterSandbox>,
    thinking: Option<ThinkingBudget>,
    tool_server: Arc<dyn ToolServer>,
    of_browser: Vec<(String, String)>,
    missing_server: Option<String>,
    home: Option<PathBuf>,
}

impl Equipment {
    pub(crate) fn new(
        outer_sandbox: Option<OuterSandbox>,
        thinking: Option<ThinkingBudget>,
        surroundings: &Surroundings,
    ) -> Self {
        // Only for backends that cannot host our tools themselves; no port is open before one does.
        let tool_server = match this_program() {
            Some(path) => HttpToolServer::new().or_by_command(path),
            None => HttpToolServer::new(),
        };
        Self {
            outer_sandbox,
            thinking,
            tool_server: Arc::new(tool_server),
            of_browser: surroundings.texts_beginning_with("PLAYWRIGHT_"),
            missing_server: None,
            home: surroundings.home(),
        }
    }

    /// Leaves out an MCP server that cannot be started.
    pub(crate) fn without_server(mut self, server: Option<String>) -> Self {
        self.missing_server = server;
        self
    }

    /// Puts it into sessions.
    pub(crate) fn put_into(&self, mut runner: SessionRunnerBuilder) -> SessionRunnerBuilder {
        // Codex hands nothing of its environment on to the servers of a session.
        runner = runner.mcp_server_environment("playwright", self.of_browser.clone());
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
