//! How tools reach agents that cannot host them in-process.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;

use super::{McpServer, ServerReach, Toolbox};
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

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<S: ToolServer + ?Sized> ToolServer for Arc<S> {
    async fn serve(
        &self,
        session: &SessionKey,
        tools: Toolbox,
    ) -> Result<ServedTools, ToolServerError> {
        (**self).serve(session, tools).await
    }
}

/// A toolbox that is being served; dropping it stops the server.
pub struct ServedTools {
    /// How the agent reaches the server.
    pub server: McpServer,
    /// How an agent reaches it that knows servers by commands only; `None` if it does not.
    pub command: Option<McpServer>,
    visited: Option<Arc<AtomicBool>>,
    _alive: Box<dyn std::any::Any + Send>,
}

impl ServedTools {
    /// Ties the address of a server to what keeps it alive.
    pub fn new(server: McpServer, alive: impl std::any::Any + Send) -> Self {
        Self {
            server,
            command: None,
            visited: None,
            _alive: Box::new(alive),
        }
    }

    /// Names the server by a command as well.
    #[must_use]
    pub fn with_command(mut self, command: McpServer) -> Self {
        self.command = Some(command);
        self
    }

    /// Says what becomes `true` when somebody with the secret of the session has come. A planning
    /// session that nobody came from is told as one whose agent never reached the tools.
    #[must_use]
    pub fn with_visits(mut self, visited: Arc<AtomicBool>) -> Self {
        self.visited = Some(visited);
        self
    }

    /// Tells whether it is known that nobody came.
    pub(crate) fn is_unvisited(&self) -> bool {
        let visited = self.visited.as_ref();
        visited.is_some_and(|visited| !visited.load(Ordering::Acquire))
    }

    /// Returns how a backend reaches the server that reaches servers in this way, if it does.
    pub(crate) fn reached(&self, reach: ServerReach) -> Option<&McpServer> {
        match (reach, &self.server) {
            (ServerReach::Command, McpServer::Remote { .. }) => self.command.as_ref(),
            _ => Some(&self.server),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_reached_only_in_a_way_that_the_agent_knows() {
        let server = |json| serde_json::from_str::<McpServer>(json).expect("a server");
        let address = || server(r#"{"type": "http", "url": "http://127.0.0.1:1/"}"#);
        let command = || server(r#"{"command": "autonoe", "args": ["mcp"]}"#);
        for (served, reach, expected) in [
            (
                ServedTools::new(address(), ()),
                ServerReach::Address,
                Some(address()),
            ),
            (ServedTools::new(address(), ()), ServerReach::Command, None),
            (
                ServedTools::new(command(), ()),
                ServerReach::Address,
                Some(command()),
            ),
            (
                ServedTools::new(command(), ()),
                ServerReach::Command,
                Some(command()),
            ),
            (
                ServedTools::new(address(), ()).with_command(command()),
                ServerReach::Address,
                Some(address()),
            ),
            (
                ServedTools::new(address(), ()).with_command(command()),
                ServerReach::Command,
                Some(command()),
            ),
        ] {
            assert_eq!(served.reached(reach).cloned(), expected, "{reach:?}");
        }
    }
}
