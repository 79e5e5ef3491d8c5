//! How a suite reaches the tools that are served.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{McpServer, ToolServer};
use serde_json::Value;

/// A server of tools, and how an agent reaches what it serves.
#[async_trait]
pub trait ToolServerHarness: Send + Sync {
    /// Returns the server under test: always the same.
    fn server(&self) -> Arc<dyn ToolServer>;

    /// Reaches the server that `at` names, as an agent would.
    ///
    /// # Errors
    ///
    /// It is not there, or does not let us in; said for people.
    async fn connect(&self, at: &McpServer) -> Result<Arc<dyn ToolsClient>, String>;
}

/// A client of one served toolbox.
#[async_trait]
pub trait ToolsClient: Send + Sync {
    /// Returns the tools, as the server tells them: objects with `name` and `inputSchema`.
    ///
    /// # Errors
    ///
    /// There is no answer.
    async fn tools(&self) -> Result<Vec<Value>, String>;

    /// Calls a tool.
    ///
    /// # Errors
    ///
    /// There is no answer.
    async fn call(&self, tool: &str, input: Value) -> Result<CallAnswer, String>;
}

/// What a server answered to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallAnswer {
    /// The tool did what it was asked, and gave this text.
    Done(String),
    /// It did not, for this reason.
    Refused(String),
}
