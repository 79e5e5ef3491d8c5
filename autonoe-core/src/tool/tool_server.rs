//! [`ToolServer`] trait, which serves tools over MCP, and the connection settings ([`McpServer`]) of a server.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::{Failure, Retry};
use crate::time::SessionKey;
use crate::tool::Toolbox;

/// Serves a toolbox to agents that cannot host Autonoe's tools in-process.
///
/// Requirements for implementations:
/// - Each call of `serve` starts one server. It is reachable only from this machine and only with
///   the [`McpServer`] settings, which contain a secret in the address or headers.
/// - Every tool call goes through the toolbox.
/// - Dropping [`ServedTools`] stops the server.
///
/// ```
/// use async_trait::async_trait;
/// use autonoe_core::time::SessionKey;
/// use autonoe_core::tool::{McpServer, ServedTools, ToolServer, ToolServerError, Toolbox};
///
/// struct MyServer;
///
/// #[async_trait]
/// impl ToolServer for MyServer {
///     async fn serve(&self, _: &SessionKey, _: Toolbox) -> Result<ServedTools, ToolServerError> {
///         let listener = (); // what stops the server when it is dropped
///         let at: McpServer = serde_json::from_str(r#"{"type": "http", "url": "http://[::1]:1/"}"#)
///             .map_err(|error| ToolServerError::new("no address").with_source(error))?;
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

/// A served toolbox; dropping it stops the server.
pub struct ServedTools {
    /// Connection settings of the server for the agent.
    pub server: McpServer,
    /// Connection settings for an agent that only supports servers started by a command; `None` if
    /// there are none.
    pub command: Option<McpServer>,
    visited: Option<Arc<AtomicBool>>,
    _alive: Box<dyn std::any::Any + Send>,
}

impl ServedTools {
    /// Combines the address of a server with a guard that keeps the server alive.
    pub fn new(server: McpServer, alive: impl std::any::Any + Send) -> Self {
        Self {
            server,
            command: None,
            visited: None,
            _alive: Box::new(alive),
        }
    }

    /// Adds connection settings that use a command.
    #[must_use]
    pub fn with_command(mut self, command: McpServer) -> Self {
        self.command = Some(command);
        self
    }

    /// Sets the flag that becomes `true` once a client with the session's secret has connected. If
    /// a planning session ends before that, its failure reports that the agent never reached the
    /// tools.
    #[must_use]
    pub fn with_connected_flag(mut self, visited: Arc<AtomicBool>) -> Self {
        self.visited = Some(visited);
        self
    }

    /// Returns whether it is certain that no client has connected.
    pub(crate) fn never_connected(&self) -> bool {
        let visited = self.visited.as_ref();
        visited.is_some_and(|visited| !visited.load(Ordering::Acquire))
    }

    /// Returns the connection settings for a backend that supports `reach`, if there are any.
    pub(crate) fn settings_for(&self, reach: ServerReach) -> Option<&McpServer> {
        match (reach, &self.server) {
            (ServerReach::Command, McpServer::Remote { .. }) => self.command.as_ref(),
            _ => Some(&self.server),
        }
    }
}

impl fmt::Debug for ServedTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Addresses and headers may contain the secret of the session.
        f.debug_struct("ServedTools").finish_non_exhaustive()
    }
}

/// Error: the tools cannot be served.
#[derive(Debug, thiserror::Error)]
#[error("the tools cannot be served: {message}")]
pub struct ToolServerError {
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ToolServerError {
    /// Creates an error.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            source: None,
        }
    }

    /// Sets the cause of the error.
    #[must_use]
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }
}

impl From<&ToolServerError> for Failure {
    fn from(error: &ToolServerError) -> Self {
        Failure::from_error("tool_server", error, Retry::Retryable)
    }
}

/// Connection settings of an MCP server, in the JSON format of the agents' own configuration files.
///
/// ```
/// use autonoe_core::tool::McpServer;
///
/// let server: McpServer = serde_json::from_str(r#"{"command": "npx", "args": ["my-server"]}"#)?;
/// assert!(matches!(server, McpServer::Stdio { .. }));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
#[non_exhaustive]
pub enum McpServer {
    /// A local program that serves MCP on its standard input and output.
    Stdio {
        /// Program.
        command: String,
        /// Arguments of the program.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        args: Vec<String>,
        /// Environment variables, in addition to those of the agent.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        env: BTreeMap<String, String>,
        /// Always `stdio`, or omitted.
        #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
        transport: Option<StdioTransport>,
    },
    /// A server reached over the network.
    Remote {
        /// Transport protocol.
        #[serde(rename = "type")]
        transport: RemoteTransport,
        /// URL of the server.
        url: String,
        /// Headers to send, for example for authentication.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<String, String>,
    },
}

// Header and variable values are often secrets, so `Debug` prints only their names.
impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio {
                command, args, env, ..
            } => f
                .debug_struct("Stdio")
                .field("command", command)
                .field("args", args)
                .field("env", &Names(env))
                .finish_non_exhaustive(),
            Self::Remote {
                transport,
                url,
                headers,
            } => f
                .debug_struct("Remote")
                .field("transport", transport)
                .field("url", url)
                .field("headers", &Names(headers))
                .finish(),
        }
    }
}

/// Prints the keys of a map without the values.
struct Names<'a>(&'a BTreeMap<String, String>);

impl fmt::Debug for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Transport of a local MCP server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StdioTransport {
    /// Over standard input and output.
    Stdio,
}

/// Transport of a remote MCP server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RemoteTransport {
    /// Streamable HTTP.
    Http,
    /// Server-sent events, the older transport.
    Sse,
}

/// Connection of a backend to the MCP server of Autonoe's tools, if it cannot host them in-process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerReach {
    /// Through its address on this machine.
    #[default]
    Address,
    /// Only through a command that its agents start and that serves MCP on standard input and
    /// output.
    Command,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_settings_match_the_reach_of_the_backend() {
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
            assert_eq!(served.settings_for(reach).cloned(), expected, "{reach:?}");
        }
    }

    #[test]
    fn debug_output_hides_values_of_headers_and_variables() {
        for json in [
            r#"{"command": "serve", "args": ["--fast"], "env": {"KEY": "hidden"}}"#,
            r#"{"type": "http", "url": "http://[::1]:1/", "headers": {"KEY": "hidden"}}"#,
        ] {
            let server: McpServer = serde_json::from_str(json).expect("it is a server");

            let debug = format!("{server:?}");

            assert!(debug.contains("KEY"), "{debug}");
            assert!(!debug.contains("hidden"), "{debug}");
        }
    }
}
