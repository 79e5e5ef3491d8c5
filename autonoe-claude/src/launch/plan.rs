//! All that is needed to start the program for one session.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use autonoe_core::{AgentError, AgentErrorKind, SessionSpec};
use autonoe_process::{InvalidMarker, Launch, Marker, SessionFolder};
use serde_json::json;

use super::argv::{Files, arguments};
use super::environment::environment;
use super::{ClaudeOptions, ConfigFolder};
use crate::wire::PermissionMode;

/// The variable by which everything that a session starts is found again.
const MARKER: &str = "AUTONOE_AGENT_SESSION";

/// What the names of the folders of sessions begin with.
const FOLDER: &str = "autonoe-claude-";

/// How long it may take at most to end what a killed host left running.
const SWEEP: Duration = Duration::from_secs(5);

/// All that is needed to start the program for one session.
pub(crate) struct LaunchPlan;

impl LaunchPlan {
    /// Tells whether the session can be started at all.
    ///
    /// # Errors
    ///
    /// The session asks for something that these options cannot give.
    pub(crate) fn check(options: &ClaudeOptions, spec: &SessionSpec) -> Result<(), AgentError> {
        if spec.resume.is_some() && options.config == ConfigFolder::PerSession {
            return Err(AgentError::new(
                AgentErrorKind::Unsupported,
                "a conversation cannot be resumed when its folder goes with the session; \
                 keep the configuration folder",
            ));
        }
        let mode = options.permission_mode;
        if ![PermissionMode::DontAsk, PermissionMode::Plan].contains(&mode) {
            let mode = mode.as_str();
            return Err(AgentError::new(
                AgentErrorKind::Configuration,
                format!(
                    "in the mode {mode} Claude Code allows by itself, and the gate must decide"
                ),
            ));
        }
        if spec.tools.definitions().next().is_some()
            && spec.mcp_servers.contains_key(autonoe_core::Toolbox::SERVER)
        {
            return Err(AgentError::new(
                AgentErrorKind::Configuration,
                "the name autonoe is taken by our own tools; give the MCP server another one",
            ));
        }
        arguments(options, spec, &Files::default()).map(drop)
    }

    /// Makes the launch, and the folder that goes with it.
    ///
    /// # Errors
    ///
    /// The folder cannot be made, or the session cannot be started at all.
    pub(crate) fn launch(
        options: &ClaudeOptions,
        spec: &SessionSpec,
    ) -> Result<Launch, AgentError> {
        let (folder, marker) = furnished_folder(options)?;
        let path = folder.path().to_owned();
        let write = |name: &str, text: &str| {
            let file = path.join(name);
            fs::write(&file, text).map_err(|error| no_folder(options, error))?;
            Ok::<_, AgentError>(file)
        };
        let mut files = Files::default();
        if let Some(text) = &spec.system_prompt {
            files.system_prompt = Some(write("system-prompt.md", text)?);
        }
        if !spec.mcp_servers.is_empty() {
            let servers = json!({"mcpServers": spec.mcp_servers});
            files.mcp_servers = Some(write("mcp-servers.json", &servers.to_string())?);
        }
        let mut launch = Launch::new(&options.program, &spec.cwd, marker)
            .args(arguments(options, spec, &files)?)
            .envs(environment(options, spec, &path))
            .folder(folder);
        if let Some(lock) = &spec.lock {
            launch = launch.inherit(lock.clone());
        }
        Ok(launch)
    }
}

/// Makes a folder with all that the environment of the program speaks of, and its marker.
///
/// # Errors
///
/// It cannot be made.
pub(crate) fn furnished_folder(
    options: &ClaudeOptions,
) -> Result<(SessionFolder, Marker), AgentError> {
    let (folder, marker) = folder_and_marker(options)?;
    for name in ["tmp", "config"] {
        let made = fs::create_dir(folder.path().join(name));
        made.map_err(|error| no_folder(options, error))?;
    }
    Ok((folder, marker))
}

/// Makes a folder, and the marker by which all that belongs to it is found: nobody else has it.
///
/// # Errors
///
/// The folder cannot be made.
fn folder_and_marker(options: &ClaudeOptions) -> Result<(SessionFolder, Marker), AgentError> {
    let folder = SessionFolder::create_in(&options.temporary, FOLDER)
        .map_err(|error| no_folder(options, error))?;
    let marker = marker(&folder).map_err(|error| {
        AgentError::new(AgentErrorKind::Other, "the session cannot be marked").because(error)
    })?;
    Ok((folder, marker))
}

/// Returns the marker of the session that a folder is for: its name.
fn marker(folder: &SessionFolder) -> Result<Marker, InvalidMarker> {
    let name = folder.path().file_name().unwrap_or_default();
    Marker::new(MARKER, name.to_string_lossy())
}

/// Ends what hosts that were killed left running, and removes the folders of their sessions
/// in `temporary`.
///
/// It blocks the thread, but hardly if there is nothing to do.
pub(crate) fn sweep(temporary: &Path) {
    let abandoned = match SessionFolder::abandoned_in(temporary, FOLDER) {
        Ok(abandoned) => abandoned,
        Err(error) => {
            tracing::warn!(%error, "left folders cannot be looked for");
            return;
        }
    };
    for folder in abandoned {
        let path = folder.path().display();
        let Ok(marker) = marker(&folder) else {
            continue;
        };
        let swept = marker.kill_all(SWEEP);
        tracing::info!(%path, killed = swept.killed.len(), "the session of a killed host was removed");
        if !swept.left.is_empty() {
            tracing::error!(left = ?swept.left, "something of a killed host still runs");
        }
    }
}

fn no_folder(options: &ClaudeOptions, error: io::Error) -> AgentError {
    let message = format!(
        "the folder of a session cannot be made in {:?}",
        options.temporary
    );
    AgentError::new(AgentErrorKind::Configuration, message).because(error)
}
