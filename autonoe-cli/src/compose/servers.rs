//! The MCP servers of a run, before it begins.

use std::collections::BTreeMap;

use autonoe_core::{
    AgentConfig, AgentError, ConfigFile, EffectiveConfig, McpServer, Mode, Project, SandboxSwitch,
};
use autonoe_model::McpOptions;

use crate::error::{CliError, whole};

/// Which servers of a run are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// All of them: the agents are in this process.
    All,
    /// Those that are programs. How others are reached is the business of the program of the agent.
    Programs,
    /// The same, and relative paths start at the project.
    ProgramsInProject,
}

/// The built-in server, if it cannot be started.
pub(super) struct MissingServer {
    pub(super) name: String,
    pub(super) warning: String,
}

/// Checks that the servers of a run can be started, without starting them. Returns the built-in
/// server if it cannot: a run does without it.
///
/// `backend_servers` are the servers that the backend itself adds.
///
/// # Errors
///
/// Another server cannot be started. Every session would fail.
pub(super) fn check_servers(
    project: &Project,
    mode: Mode,
    backend_servers: &BTreeMap<String, McpServer>,
    options: &McpOptions,
    which: Which,
) -> Result<Option<MissingServer>, CliError> {
    let mut missing = None;
    let path = project.config_path();
    let config = AgentConfig::load(&path)?;
    let effective = EffectiveConfig::merge(config, mode, SandboxSwitch::default())?;
    for (name, server) in effective.mcp_servers().iter().chain(backend_servers) {
        let is_program = matches!(server, McpServer::Stdio { .. });
        if which != Which::All && !is_program {
            continue;
        }
        let checked = match which {
            Which::All | Which::Programs => options.check(name, server),
            Which::ProgramsInProject => options.check(name, &in_project(server, project)),
        };
        let Err(error) = checked else {
            continue;
        };
        let remedy = remedy_of(server, &error);
        if effective.is_optional_server(name) && !backend_servers.contains_key(name) {
            let error = whole(&error);
            missing = Some(MissingServer {
                name: name.clone(),
                warning: format!("agents work without a browser: {error}; {remedy}"),
            });
            continue;
        }
        // What stands in a file is told with its place there.
        let file = ConfigFile::load(&path)?;
        let named = file.filter(|file| {
            let names = file.names("/mcpServers").unwrap_or_default();
            names.contains(&name.as_str())
        });
        return Err(match named {
            Some(file) => {
                let pointer = ConfigFile::below("/mcpServers", name);
                file.problem(&pointer, whole(&error), remedy).into()
            }
            None => CliError::failure(whole(&error)).with_hint(remedy),
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

/// Says what to do about a server that cannot be used.
pub(crate) fn remedy_of(server: &McpServer, error: &AgentError) -> String {
    match server {
        McpServer::Stdio { command, .. } if matches!(&**command, "npx" | "node") => {
            NO_NODE.to_owned()
        }
        _ => error.remedy().unwrap_or(NO_PROGRAM).to_owned(),
    }
}

/// What to do about a server that needs Node.js, where there is none.
pub(crate) const NO_NODE: &str = "install Node.js 18 or newer, or do without the browser: \
     \"mcpServers\": {} in .autonoe/agent.json";

/// What to do about a server whose program is not there.
pub(crate) const NO_PROGRAM: &str = "install it, or remove the server from .autonoe/agent.json";
