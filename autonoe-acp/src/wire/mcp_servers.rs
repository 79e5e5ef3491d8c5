//! MCP servers in the words of the protocol.

use std::collections::BTreeMap;

use agent_client_protocol::v1::schema::{
    EnvVariable, HttpHeader, McpServer as Told, McpServerHttp, McpServerSse, McpServerStdio,
};
use autonoe_core::{McpServer, RemoteTransport};

/// Why a server cannot be told to an agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the agent cannot reach the MCP server {name:?}: it does not speak {transport}")]
pub(crate) struct NotReachable {
    name: String,
    transport: &'static str,
}

/// Says `servers` in the words of the protocol, for an agent whose `initialize` was answered with
/// `told`. Programs are spoken to by every agent; the network only by those that say so.
pub(crate) fn mcp_servers(
    servers: &BTreeMap<String, McpServer>,
    told: &serde_json::Value,
) -> Result<Vec<Told>, NotReachable> {
    let says = |transport: &str| says(told, transport);
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
                Ok(Told::Stdio(stdio))
            }
            McpServer::Remote {
                transport,
                url,
                headers,
            } => {
                let headers = headers.iter();
                let headers = headers.map(|(name, value)| HttpHeader::new(name, value));
                let headers = headers.collect();
                match transport {
                    RemoteTransport::Http if says("http") => {
                        Ok(Told::Http(McpServerHttp::new(name, url).headers(headers)))
                    }
                    RemoteTransport::Sse if says("sse") => {
                        Ok(Told::Sse(McpServerSse::new(name, url).headers(headers)))
                    }
                    RemoteTransport::Http => Err(refuse("HTTP")),
                    RemoteTransport::Sse => Err(refuse("server-sent events")),
                }
            }
            _ => Err(refuse("its transport")),
        }
    };
    servers.iter().map(server).collect()
}

/// Tells whether an agent that told `told` of itself reaches servers over HTTP.
pub(crate) fn speaks_http(told: &serde_json::Value) -> bool {
    says(told, "http")
}

fn says(told: &serde_json::Value, transport: &str) -> bool {
    told["agentCapabilities"]["mcpCapabilities"][transport] == true
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
    fn servers_are_told_in_the_proven_shapes() {
        let able = json!({"agentCapabilities": {"mcpCapabilities": {"http": true, "sse": true}}});

        let told = mcp_servers(&servers(), &able).expect("it can reach them");

        let expected = json!([
            {"name": "files", "command": "serve", "args": ["--all"],
             "env": [{"name": "KEY", "value": "value"}]},
            {"type": "http", "name": "tools", "url": "http://127.0.0.1:1/mcp",
             "headers": [{"name": "K", "value": "v"}]},
        ]);
        assert_eq!(serde_json::to_value(told).expect("JSON"), expected);
    }

    #[test]
    fn a_server_that_the_agent_cannot_reach_is_an_error_and_not_left_out() {
        for told in [
            json!({}),
            json!({"agentCapabilities": {"mcpCapabilities": {"http": false}}}),
        ] {
            let error = mcp_servers(&servers(), &told).expect_err("it cannot");

            assert!(error.to_string().contains("\"tools\""), "{error}");
        }
    }
}
