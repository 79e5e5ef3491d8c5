//! Checks of the MCP servers of a run, before it starts.

use std::collections::BTreeMap;

use autonoe_core::project::{ConfigFile, EffectiveConfig};
use autonoe_core::tool::McpServer;
use autonoe_core::{AgentError, Project};
use autonoe_model::mcp::McpOptions;

use crate::error::{AppError, error_chain};

/// Selects the servers of a run that are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckedServers {
    /// All servers: the agents are in this process.
    All,
    /// Servers that are programs. The agent's program connects to the others by itself.
    Programs,
    /// The same, with relative paths that start at the project.
    ProgramsInProject,
}

/// The built-in server, if it cannot be started.
pub(crate) struct MissingServer {
    pub(crate) name: String,
    pub(crate) warning: String,
}

/// Checks that the servers of a run can be started, without starting them. Returns the built-in
/// server if it cannot be started: a run works without it.
///
/// `backend_servers` are the servers that the backend itself adds.
///
/// # Errors
///
/// Another server cannot be started. Every session would fail.
pub(crate) fn check_servers(
    project: &Project,
    config: &EffectiveConfig,
    backend_servers: &BTreeMap<String, McpServer>,
    options: &McpOptions,
    checked_servers: CheckedServers,
) -> Result<Option<MissingServer>, AppError> {
    let mut missing = None;
    for (name, server) in config.mcp_servers().iter().chain(backend_servers) {
        let is_program = matches!(server, McpServer::Stdio { .. });
        if checked_servers != CheckedServers::All && !is_program {
            continue;
        }
        let checked = match checked_servers {
            CheckedServers::All | CheckedServers::Programs => options.check(name, server),
            CheckedServers::ProgramsInProject => options.check(name, &in_project(server, project)),
        };
        let Err(error) = checked else {
            continue;
        };
        let remedy = remedy_of(server, &error);
        if config.is_optional_server(name) && !backend_servers.contains_key(name) {
            let error = error_chain(&error);
            missing = Some(MissingServer {
                name: name.clone(),
                warning: format!("agents work without a browser: {error}; {remedy}"),
            });
            continue;
        }
        // An error in a file is reported with its location.
        let named = config.agent_config().file().filter(|file| {
            let names = file.names("/mcpServers").unwrap_or_default();
            names.contains(&name.as_str())
        });
        return Err(match named {
            Some(file) => {
                let pointer = ConfigFile::below("/mcpServers", name);
                file.problem(&pointer, error_chain(&error), remedy).into()
            }
            None => AppError::failure(error_chain(&error)).with_hint(remedy),
        });
    }
    Ok(missing)
}

/// Returns a server whose program has an absolute path, if it has a path.
fn in_project(server: &McpServer, project: &Project) -> McpServer {
    let mut server = server.clone();
    if let McpServer::Stdio { command, .. } = &mut server
        && command.contains('/')
    {
        *command = project.root().join(&*command).to_string_lossy().into();
    }
    server
}

/// Returns a remedy for a server that cannot be used.
pub fn remedy_of(server: &McpServer, error: &AgentError) -> String {
    match server {
        McpServer::Stdio { command, .. } if matches!(&**command, "npx" | "node") => {
            NO_NODE.to_owned()
        }
        _ => error.remedy().unwrap_or(NO_PROGRAM).to_owned(),
    }
}

/// The remedy for a server that needs Node.js, if it is missing.
pub const NO_NODE: &str = "install Node.js 18 or newer, or turn the browser off with \
                           \"mcpServers\": {} in .autonoe/agent.json";

/// The remedy for a server whose program is missing.
pub const NO_PROGRAM: &str = "install it, or remove the server from .autonoe/agent.json";
