//! Deserializers of the MCP servers of a configuration.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Map, Value};

use super::field_values::present;
use super::strict::{below, inside, read_part};
use crate::gate::PermissionRule;
use crate::tool::{McpServer, RemoteTransport, StdioTransport, Toolbox};

const HINT: &str = "a server has a `command`, or a `type` and a `url`";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StdioServer {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default, rename = "type", deserialize_with = "present")]
    transport: Option<StdioTransport>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RemoteServer {
    #[serde(rename = "type")]
    transport: RemoteTransport,
    url: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

/// Reads MCP servers by name.
pub(super) fn servers<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<BTreeMap<String, McpServer>>, D::Error> {
    let entries = Map::<String, Value>::deserialize(from)?;
    let servers = entries
        .into_iter()
        .map(|(name, entry)| match server(&entry) {
            Ok(server) => Ok((name, server)),
            Err(error) => Err(D::Error::custom(inside(&below("", &name), &error))),
        });
    servers.collect::<Result<_, _>>().map(Some)
}

fn server(entry: &Value) -> Result<McpServer, String> {
    let is_remote =
        entry.get("url").is_some() || matches!(entry["type"].as_str(), Some("http" | "sse"));
    let (read, field) = if is_remote {
        let read = read_part(entry).map(|server: RemoteServer| McpServer::Remote {
            transport: server.transport,
            url: server.url,
            headers: server.headers,
        });
        (read, "url")
    } else {
        let read = read_part(entry).map(|server: StdioServer| McpServer::Stdio {
            command: server.command,
            args: server.args,
            env: server.env,
            transport: server.transport,
        });
        (read, "command")
    };
    match read {
        Ok(_)
            if entry[field]
                .as_str()
                .is_some_and(|text| text.trim().is_empty()) =>
        {
            Err(format!("/{field}: it is blank; {HINT}"))
        }
        Err(error) if error.starts_with("/type: unknown ") => Err(
            "/type: a server with a `command` has the type `stdio`, and one with a `url` `http` \
             or `sse`"
                .to_owned(),
        ),
        Err(error) if error.ends_with(" is missing") => Err(format!("{error}; {HINT}")),
        read => read,
    }
}

/// Returns the reason why `name` cannot be the name of an MCP server.
pub(super) fn server_name_problem(name: &str) -> Option<String> {
    if name == Toolbox::SERVER {
        return Some(format!(
            "the server name `{name}` is taken by the deliverable tools; choose another one"
        ));
    }
    let fits = name.len() <= 64
        && !name.contains("__")
        && format!("mcp__{name}__*").parse::<PermissionRule>().is_ok();
    (!fits).then(|| {
        format!(
            "{name:?} is not a valid server name: use up to 64 letters, digits and the \
             characters _ - . : (no __)"
        )
    })
}
