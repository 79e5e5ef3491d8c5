//! How a server is started as a child.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_core::{
    AgentError, AgentErrorKind, McpServer, RemoteTransport, SessionSpec, Toolbox, TraceContext,
};
use autonoe_process::{Action, Ladder, Launch, Signal, find_program};

use super::McpOptions;
use super::leftovers::folder_and_marker;

/// How a server that has nothing to do any more is ended: as the protocol asks for.
pub(super) fn ladder() -> Ladder {
    Ladder::kill_at_once()
        .then(Action::CloseStdin, Duration::from_secs(3))
        .then(Action::Signal(Signal::Terminate), Duration::from_secs(2))
}

/// Looks whether the servers of a session are such that they can be tried.
///
/// # Errors
///
/// One has a name that its tools could not be told by, or cannot be reached by this agent.
pub(crate) fn check_servers(servers: &BTreeMap<String, McpServer>) -> Result<(), AgentError> {
    for (name, server) in servers {
        if let Some(problem) = name_problem(name) {
            let message = format!("the MCP server {name:?} cannot be used: {problem}");
            return Err(AgentError::new(AgentErrorKind::Configuration, message));
        }
        let how = match server {
            McpServer::Stdio { .. } => continue,
            McpServer::Remote { transport, .. } => match transport {
                RemoteTransport::Http => continue,
                RemoteTransport::Sse => "by the older server-sent events",
            },
            _ => "in a way that is not known here",
        };
        let message =
            format!("an agent in this process cannot do this: reach the MCP server {name:?} {how}");
        let remedy = "use a server that is started by a command or speaks streamable HTTP";
        return Err(AgentError::new(AgentErrorKind::Unsupported, message).with_remedy(remedy));
    }
    Ok(())
}

/// Says why `name` cannot be a part of the names of tools.
fn name_problem(name: &str) -> Option<&'static str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name == Toolbox::SERVER {
        Some("the name is taken by the tools of the session")
    } else if name.is_empty() || !name.chars().all(fits) {
        Some("models know tools by letters, digits, _ and - only")
    } else if name.contains("__") || name.starts_with('_') || name.ends_with('_') {
        // `mcp__a___b` could be the tool `b` of `a_`, or `_b` of `a`.
        Some("with such underscores it is not certain whose tool a name means")
    } else {
        None
    }
}

/// Makes the launch of a server, outside any sandbox.
///
/// # Errors
///
/// The program is not found, or the process could not be found again.
pub(super) fn launch(
    command: &str,
    args: &[String],
    env: &BTreeMap<String, String>,
    spec: &SessionSpec,
    options: &McpOptions,
) -> Result<Launch, String> {
    let env = environment(env, spec, options);
    let program = program(command, env.get(OsStr::new("PATH")))?;
    let (folder, marker) = folder_and_marker(&options.temporary)?;
    let mut launch = Launch::new(program, &spec.cwd, marker)
        .args(args)
        .envs(env)
        .folder(folder)
        .when_dropped(ladder());
    if let Some(lock) = &spec.lock {
        launch = launch.inherit(lock.clone());
    }
    Ok(launch)
}

/// Returns the environment of a server: what is said later counts.
fn environment(
    own: &BTreeMap<String, String>,
    spec: &SessionSpec,
    options: &McpOptions,
) -> BTreeMap<OsString, OsString> {
    let mut env = options.env.clone();
    for (name, value) in spec.trace.iter().flat_map(TraceContext::environment) {
        env.insert(name.into(), value.into());
    }
    for (name, value) in spec.environment.iter().chain(own) {
        env.insert(name.into(), value.into());
    }
    env
}

fn program(command: &str, path: Option<&OsString>) -> Result<PathBuf, String> {
    let absolute = Path::new(command);
    if absolute.is_absolute() {
        return Ok(absolute.to_owned());
    }
    if command.contains('/') {
        return Err(format!(
            "its command {command:?} must be a name or an absolute path"
        ));
    }
    let path = path.map(OsString::as_os_str).unwrap_or_default();
    find_program(command, path)
        .ok_or_else(|| format!("there is no program {command:?} in the PATH that it gets"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_a_name_that_its_tools_can_be_told_by() {
        for (name, fits) in [
            ("playwright", true),
            ("my-server_2", true),
            ("autonoe", false),
            ("", false),
            ("a__b", false),
            ("a_", false),
            ("_a", false),
            ("a.b", false),
            ("a b", false),
            ("ä", false),
        ] {
            assert_eq!(name_problem(name).is_none(), fits, "{name:?}");
        }
    }

    #[test]
    fn a_program_is_never_taken_from_where_the_agent_works() {
        let path = OsString::from(".:bin:/usr/bin:/bin");

        assert!(program("sh", Some(&path)).is_ok_and(|found| found.is_absolute()));
        assert_eq!(program("/x/y", None), Ok(PathBuf::from("/x/y")));
        for command in ["./server", "bin/server", "no-such-program-anywhere", ""] {
            assert!(program(command, Some(&path)).is_err(), "{command:?}");
        }
        assert!(program("sh", None).is_err());
    }
}
