//! How an agent reaches an MCP server.

use std::collections::BTreeMap;
use std::fmt;

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
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

// Values of headers and of variables are often secrets, so only their names are shown.
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

/// Shows names, and not what they stand for.
struct Names<'a>(&'a BTreeMap<String, String>);

impl fmt::Debug for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_headers_and_variables_are_not_shown() {
        for json in [
            r#"{"command": "serve", "args": ["--fast"], "env": {"KEY": "hidden"}}"#,
            r#"{"type": "http", "url": "http://[::1]:1/", "headers": {"KEY": "hidden"}}"#,
        ] {
            let server: McpServer = serde_json::from_str(json).expect("it is a server");

            let shown = format!("{server:?}");

            assert!(shown.contains("KEY"), "{shown}");
            assert!(!shown.contains("hidden"), "{shown}");
        }
    }
}
