//! [`McpServer`], the connection settings of an MCP server.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
