//! Converts MCP servers to the types of the protocol.

use std::collections::BTreeMap;

use agent_client_protocol::v1::schema::{
    EnvVariable, HttpHeader, McpServer as ServerEntry, McpServerHttp, McpServerSse, McpServerStdio,
};
use autonoe_core::tool::{McpServer, RemoteTransport};

/// Error of a server that the agent cannot reach.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the agent cannot reach the MCP server {name:?}: it does not support {transport}")]
pub(crate) struct NotReachable {
    name: String,
    transport: &'static str,
}

/// Converts `servers` to the types of the protocol, for an agent that answered `initialize` with
/// `initialized`. Every agent can start a server by a command; only agents that announce it can
/// reach one over the network.
pub(crate) fn mcp_servers(
    servers: &BTreeMap<String, McpServer>,
    initialized: &serde_json::Value,
) -> Result<Vec<ServerEntry>, NotReachable> {
    let supports = |transport: &str| supports(initialized, transport);
    let server = |(name, server): (&String, &McpServer)| {
        let refuse = |transport| NotReachable {
            name: name.clone(),
            transport,
        };
        match server {
            McpServer::Stdio {
                command, args, env, ..
            } => {
                let env = env
                    .iter()
                    .map(|(name, value)| EnvVariable::new(name, value));
                let stdio = McpServerStdio::new(name, command)
                    .args(args.clone())
                    .env(env.collect());
                Ok(ServerEntry::Stdio(stdio))
            }
            McpServer::Remote {
                transport,
                url,
                headers,
            } => {
                let headers = headers
                    .iter()
                    .map(|(name, value)| HttpHeader::new(name, value))
                    .collect();
                match transport {
                    RemoteTransport::Http if supports("http") => Ok(ServerEntry::Http(
                        McpServerHttp::new(name, url).headers(headers),
                    )),
                    RemoteTransport::Sse if supports("sse") => Ok(ServerEntry::Sse(
                        McpServerSse::new(name, url).headers(headers),
                    )),
                    RemoteTransport::Http => Err(refuse("HTTP")),
                    RemoteTransport::Sse => Err(refuse("server-sent events")),
                }
            }
            _ => Err(refuse("its transport")),
        }
    };
    servers.iter().map(server).collect()
}

/// Returns whether the agent with this answer to `initialize` reaches servers over HTTP.
pub(crate) fn supports_http(initialized: &serde_json::Value) -> bool {
    supports(initialized, "http")
}

fn supports(initialized: &serde_json::Value, transport: &str) -> bool {
    initialized["agentCapabilities"]["mcpCapabilities"][transport] == true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn servers() -> BTreeMap<String, McpServer> {
        let servers = json!({
            "files": {"command": "serve", "args": ["--all"], "env": {"KEY": "value"}},
            "tools": {"type": "http", "url": "http://127.0.0.1:1/mcp", "headers": {"K": "v"}},
        });
        serde_json::from_value(servers).expect("servers")
    }

    #[test]
    fn servers_are_converted_to_the_tested_formats() {
        let able = json!({"agentCapabilities": {"mcpCapabilities": {"http": true, "sse": true}}});

        let converted = mcp_servers(&servers(), &able).expect("it can reach them");

        let expected = json!([
            {"name": "files", "command": "serve", "args": ["--all"],
             "env": [{"name": "KEY", "value": "value"}]},
            {"type": "http", "name": "tools", "url": "http://127.0.0.1:1/mcp",
             "headers": [{"name": "K", "value": "v"}]},
        ]);
        assert_eq!(serde_json::to_value(converted).expect("JSON"), expected);
    }

    #[test]
    fn a_server_that_the_agent_cannot_reach_is_an_error_and_not_left_out() {
        for initialized in [
            json!({}),
            json!({"agentCapabilities": {"mcpCapabilities": {"http": false}}}),
        ] {
            let error = mcp_servers(&servers(), &initialized).expect_err("it cannot");

            assert!(error.to_string().contains("\"tools\""), "{error}");
        }
    }
}
