//! Access of the suite to the served tools.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::tool::{McpServer, ToolServer};
use serde_json::Value;

/// A tool server, and the client of an agent for it.
#[async_trait]
pub trait ToolServerHarness: Send + Sync {
    /// Returns the server under test, always the same one.
    fn server(&self) -> Arc<dyn ToolServer>;

    /// Connects to the server that `at` describes, as an agent would.
    ///
    /// # Errors
    ///
    /// A human-readable reason if the server is unreachable or denies access.
    async fn connect(&self, at: &McpServer) -> Result<Arc<dyn ToolsClient>, String>;
}

/// A client of one served toolbox.
#[async_trait]
pub trait ToolsClient: Send + Sync {
    /// Returns the tools as the server lists them: objects with `name` and `inputSchema`.
    ///
    /// # Errors
    ///
    /// If there is no answer.
    async fn tools(&self) -> Result<Vec<Value>, String>;

    /// Calls a tool.
    ///
    /// # Errors
    ///
    /// If there is no answer.
    async fn call(&self, tool: &str, input: Value) -> Result<CallAnswer, String>;
}

/// The answer of a server to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallAnswer {
    /// The tool succeeded with this text.
    Done(String),
    /// The call failed for this reason.
    Refused(String),
}
