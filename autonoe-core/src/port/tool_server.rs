//! How tools reach agents that cannot host them in-process.

use std::fmt;

use async_trait::async_trait;

use super::{McpServer, Toolbox};
use crate::domain::{Failure, Retry, SessionKey};

/// Offers a toolbox to agents that cannot take our tools in-process.
///
/// An implementer owes:
/// - one server per call of `serve`, reachable only from this machine and only
///   by who was given the [`McpServer`] (a secret in its address or headers);
/// - every call answered through the toolbox, never around it;
/// - the server gone when [`ServedTools`] is dropped.
///
/// ```
/// use async_trait::async_trait;
/// use autonoe_core::{McpServer, ServedTools, SessionKey, ToolServer, ToolServerError, Toolbox};
///
/// struct MyServer;
///
/// #[async_trait]
/// impl ToolServer for MyServer {
///     async fn serve(&self, _: &SessionKey, _: Toolbox) -> Result<ServedTools, ToolServerError> {
///         let listener = (); // what stops the server when it is dropped
///         let at: McpServer = serde_json::from_str(r#"{"type": "http", "url": "http://[::1]:1/"}"#)
///             .map_err(|error| ToolServerError::new("no address").because(error))?;
///         Ok(ServedTools::new(at, listener))
///     }
/// }
/// ```
#[async_trait]
pub trait ToolServer: Send + Sync {
    /// Starts to serve `tools` for one session.
    async fn serve(
        &self,
        session: &SessionKey,
        tools: Toolbox,
    ) -> Result<ServedTools, ToolServerError>;
}

/// A toolbox that is being served; dropping it stops the server.
pub struct ServedTools {
    /// How the agent reaches the server.
    pub server: McpServer,
    _alive: Box<dyn std::any::Any + Send>,
}

impl ServedTools {
    /// Ties the address of a server to what keeps it alive.
    pub fn new(server: McpServer, alive: impl std::any::Any + Send) -> Self {
        Self {
            server,
            _alive: Box::new(alive),
        }
    }
}

impl fmt::Debug for ServedTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Addresses and headers may carry the secret that lets agents in.
        f.debug_struct("ServedTools").finish_non_exhaustive()
    }
}

/// Why tools could not be served.
#[derive(Debug, thiserror::Error)]
#[error("the tools cannot be served: {message}")]
pub struct ToolServerError {
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ToolServerError {
    /// Makes an error.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            source: None,
        }
    }

    /// Adds what caused it.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

impl From<&ToolServerError> for Failure {
    fn from(error: &ToolServerError) -> Self {
        Failure::from_error("tool_server", error, Retry::MayHelp)
    }
}
