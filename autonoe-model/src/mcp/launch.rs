//! Launch of MCP servers as child processes.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_core::agent::AgentErrorKind;
use autonoe_core::event::TraceContext;
use autonoe_core::tool::{McpServer, RemoteTransport, Toolbox};
use autonoe_core::{AgentError, SessionSpec};
use autonoe_process::{
    InvalidMarker, Launch, Marker, SessionFolder, ShutdownAction, ShutdownPolicy, Signal,
    find_program,
};

use super::options::McpOptions;

/// Returns the shutdown sequence of an idle server, as the protocol recommends.
pub(super) fn shutdown_policy() -> ShutdownPolicy {
    ShutdownPolicy::kill_at_once()
        .then(ShutdownAction::CloseStdin, Duration::from_secs(3))
        .then(
            ShutdownAction::Signal(Signal::Terminate),
            Duration::from_secs(2),
        )
}

/// Validates the names and transports of a session's servers.
///
/// # Errors
///
/// A name does not fit into the names of tools, or the transport is not supported.
pub(crate) fn check_servers(servers: &BTreeMap<String, McpServer>) -> Result<(), AgentError> {
    servers
        .iter()
        .try_for_each(|(name, server)| check_server(name, server))
}

impl McpOptions {
    /// Checks whether a server could be started or connected, without doing so.
    ///
    /// ```
    /// use autonoe_core::tool::McpServer;
    /// use autonoe_model::mcp::McpOptions;
    ///
    /// let server: McpServer = serde_json::from_str(r#"{"command": "no-such-program"}"#)?;
    ///
    /// let error = McpOptions::default().check("web", &server).expect_err("it is not there");
    /// assert!(error.to_string().contains("there is no program \"no-such-program\""));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The name does not fit into the names of tools, the program does not exist, or the transport
    /// is not supported by in-process agents.
    pub fn check(&self, name: &str, server: &McpServer) -> Result<(), AgentError> {
        check_server(name, server)?;
        check_program(name, server, self)
    }
}

/// Validates the name and the transport of a server.
fn check_server(name: &str, server: &McpServer) -> Result<(), AgentError> {
    if let Some(problem) = name_problem(name) {
        let message = format!("the MCP server {name:?} cannot be used: {problem}");
        return Err(AgentError::new(AgentErrorKind::Configuration, message)
            .with_remedy("give it another name"));
    }
    let transport_name = match server {
        McpServer::Stdio { .. } => return Ok(()),
        McpServer::Remote { transport, .. } => match transport {
            RemoteTransport::Http => return Ok(()),
            RemoteTransport::Sse => "over the older server-sent events",
        },
        _ => "over an unknown transport",
    };
    let message = format!("agents on models cannot reach the MCP server {name:?} {transport_name}");
    let remedy = "use a server with a command or with streamable HTTP";
    Err(AgentError::new(AgentErrorKind::Unsupported, message).with_remedy(remedy))
}

/// Checks that the program of a server exists, if it has one.
fn check_program(name: &str, server: &McpServer, options: &McpOptions) -> Result<(), AgentError> {
    let McpServer::Stdio { command, env, .. } = server else {
        return Ok(());
    };
    let own = env.get("PATH").map(OsString::from);
    let path = own.as_ref().or(options.env.get(OsStr::new("PATH")));
    let problem = match program(command, path) {
        Ok(program) if program.is_file() => return Ok(()),
        Ok(program) => format!("there is no program {program:?}"),
        Err(problem) => problem,
    };
    let message = format!("the MCP server {name:?} cannot be started: {problem}");
    Err(AgentError::new(AgentErrorKind::Configuration, message)
        .with_remedy("install its program, or leave the server out of mcpServers"))
}

/// Returns the reason that `name` cannot be a part of tool names.
fn name_problem(name: &str) -> Option<&'static str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name == Toolbox::SERVER {
        Some("the name is taken by the tools of the session")
    } else if name.is_empty() || !name.chars().all(fits) {
        Some("names of tools may only have letters, digits, _ and -")
    } else if name.contains("__") || name.starts_with('_') || name.ends_with('_') {
        // `mcp__a___b` could be the tool `b` of `a_`, or `_b` of `a`.
        Some("double, leading and trailing underscores make the names of its tools ambiguous")
    } else {
        None
    }
}

/// Builds the launch of a server, outside of any sandbox.
///
/// # Errors
///
/// The program does not exist, or the folder or the marker of the process cannot be created.
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
        .on_drop(shutdown_policy());
    if let Some(lock) = &spec.lock {
        launch = launch.inherit(lock.clone());
    }
    Ok(launch)
}

/// Returns the environment of a server. Later sources override earlier ones. Only the variables of
/// this server alone may contain a secret.
fn environment(
    own: &BTreeMap<String, String>,
    spec: &SessionSpec,
    options: &McpOptions,
) -> BTreeMap<OsString, OsString> {
    let mut env = options.env.clone();
    for (name, value) in spec.trace.iter().flat_map(TraceContext::environment) {
        env.insert(name.into(), value.into());
    }
    for (name, value) in &spec.environment {
        env.insert(name.into(), value.into());
    }
    env.retain(|_, value| !options.secrets.occur_in(value));
    for (name, value) in own {
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

/// Environment variable that marks the processes of servers.
const MARKER: &str = "AUTONOE_MCP_SERVER";

/// Prefix of folder names.
const FOLDER: &str = "autonoe-mcp-";

/// Maximum time to end the remaining processes of one server.
const SWEEP: Duration = Duration::from_secs(2);

/// Creates a folder in `temporary` and the marker that identifies the processes of a server.
///
/// The folder is empty. It has the name of the marker and is locked while this program lives, so a
/// later program can detect leftovers.
///
/// # Errors
///
/// The folder cannot be created.
pub(super) fn folder_and_marker(temporary: &Path) -> Result<(SessionFolder, Marker), String> {
    let folder = SessionFolder::create_in(temporary, FOLDER)
        .map_err(|error| format!("its folder cannot be created in {temporary:?}: {error}"))?;
    let marker = marker(&folder).map_err(|error| error.to_string())?;
    Ok((folder, marker))
}

fn marker(folder: &SessionFolder) -> Result<Marker, InvalidMarker> {
    let name = folder.path().file_name().unwrap_or_default();
    Marker::new(MARKER, name.to_string_lossy())
}

/// Ends server processes that killed hosts left behind. Failures are logged and do not prevent the
/// start.
///
/// Blocks the thread, but hardly if there is nothing to do.
pub(super) fn sweep(temporary: &Path) {
    let abandoned = match SessionFolder::abandoned_in(temporary, FOLDER) {
        Ok(abandoned) => abandoned,
        Err(error) => {
            tracing::warn!(%error, "the search for leftover folders of MCP servers failed");
            return;
        }
    };
    for folder in abandoned {
        let Ok(marker) = marker(&folder) else {
            continue;
        };
        let swept = marker.kill_all(SWEEP);
        let (killed, left) = (swept.killed.len(), swept.left.len());
        tracing::info!(
            killed,
            left,
            "killed an MCP server that a killed host left behind"
        );
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::RunId;
    use autonoe_core::gate::{Gate, Grants, ProjectPaths};
    use autonoe_core::time::SessionKey;

    use super::*;

    #[test]
    fn server_names_are_validated() {
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
    fn only_own_environment_may_contain_secrets() {
        let key = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let gate = Gate::new(ProjectPaths::new("/srv"), Grants::none());
        let mut spec = SessionSpec::new(key, "/srv", gate, Toolbox::new([]));
        let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        spec.environment = [set("OF_SESSION", "1"), set("COPY", "Bearer sk-1")].into();
        let mut options = McpOptions::default();
        options.env.insert("PROXY".into(), "http://sk-1@x".into());
        options.secrets.add("sk-1");
        let own = [set("OWN", "sk-1"), set("LANG", "de")].into();

        let env = environment(&own, &spec, &options);

        let expected = [
            ("LANG", "de"),
            ("OF_SESSION", "1"),
            ("OWN", "sk-1"),
            ("PATH", McpOptions::PATH),
        ]
        .map(|(name, value)| (OsString::from(name), value.into()));
        assert_eq!(env, expected.into());
    }

    #[test]
    fn unstartable_server_is_refused_by_check() {
        for (name, server, problem) in [
            ("web", r#"{"command": "sh"}"#, None),
            ("web", r#"{"command": "/bin/sh"}"#, None),
            (
                "web",
                r#"{"type": "http", "url": "http://127.0.0.1:1"}"#,
                None,
            ),
            (
                "web",
                r#"{"command": "no-such"}"#,
                Some("there is no program \"no-such\""),
            ),
            (
                "web",
                r#"{"command": "/no/such"}"#,
                Some("there is no program \"/no/such\""),
            ),
            ("web", r#"{"command": "bin/x"}"#, Some("an absolute path")),
            (
                "web",
                r#"{"command": "sh", "env": {"PATH": "/no/such"}}"#,
                Some("in the PATH that it gets"),
            ),
            ("a.b", r#"{"command": "sh"}"#, Some("letters, digits")),
            (
                "web",
                r#"{"type": "sse", "url": "http://x"}"#,
                Some("server-sent events"),
            ),
        ] {
            let server = serde_json::from_str(server).expect("a server");

            let checked = McpOptions::default().check(name, &server);

            let message = checked.err().map(|error| error.to_string());
            assert_eq!(
                message.is_some(),
                problem.is_some(),
                "{server:?}: {message:?}"
            );
            let message = message.unwrap_or_default();
            assert!(
                message.contains(problem.unwrap_or_default()),
                "{server:?}: {message}"
            );
        }
    }

    #[test]
    fn a_program_is_never_resolved_in_the_working_directory_of_the_agent() {
        let path = OsString::from(".:bin:/usr/bin:/bin");

        assert!(program("sh", Some(&path)).is_ok_and(|found| found.is_absolute()));
        assert_eq!(program("/x/y", None), Ok(PathBuf::from("/x/y")));
        for command in ["./server", "bin/server", "no-such-program-anywhere", ""] {
            assert!(program(command, Some(&path)).is_err(), "{command:?}");
        }
        assert!(program("sh", None).is_err());
    }
}
