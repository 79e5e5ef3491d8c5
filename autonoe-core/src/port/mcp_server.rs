//! How an agent reaches an MCP server.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an agent reaches an MCP server. The JSON is what agents' own configurations use.
///
/// ```
/// use autonoe_core::McpServer;
///
/// let server: McpServer = serde_json::from_str(r#"{"command": "npx", "args": ["my-server"]}"#)?;
/// assert!(matches!(server, McpServer::Stdio { .. }));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
#[non_exhaustive]
pub enum McpServer {
    /// A program that speaks MCP on its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        args: Vec<String>,
        /// Its environment, in addition to the agent's.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        env: BTreeMap<String, String>,
        /// Always `stdio`, or left out.
        #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
        transport: Option<StdioTransport>,
    },
    /// A server reached over the network.
    Remote {
        /// How it speaks.
        #[serde(rename = "type")]
        transport: RemoteTransport,
        /// Its address.
        url: String,
        /// Headers to send, for example for authentication.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<String, String>,
    },
}

/// The only way a local program speaks MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StdioTransport {
    /// Over standard input and output.
    Stdio,
}

/// How a remote server speaks MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RemoteTransport {
    /// Streamable HTTP.
    Http,
    /// The older server-sent events.
    Sse,
}
