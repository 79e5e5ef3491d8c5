//! All that is needed to start the program for one session.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use autonoe_core::{AgentError, AgentErrorKind, Sandbox, SessionSpec, Toolbox, TraceContext};
use autonoe_process::{Launch, Marker, Network, OsSandbox, SessionFolder};

use super::config_file::config_file;
use super::{CodexHome, CodexOptions, thread_settings};

/// The variable by which everything that a session starts is found again.
const MARKER: &str = "AUTONOE_AGENT_SESSION";

/// What the names of the folders of sessions begin with.
const FOLDER: &str = "autonoe-codex-";

/// How long it may take at most to end what a killed host left running.
const SWEEP: Duration = Duration::from_secs(5);

/// The folder of the project that only Autonoe writes to.
const OURS: &str = ".autonoe";

/// All that is needed to start the program for one session.
pub(crate) struct LaunchPlan;

impl LaunchPlan {
    /// Tells whether the session can be started at all.
    ///
    /// # Errors
    ///
    /// The session asks for something that these options cannot give.
    pub(crate) fn check(options: &CodexOptions, spec: &SessionSpec) -> Result<(), AgentError> {
        let refuse = |kind, message: &str| Err(AgentError::new(kind, message));
        let has_outer = options.outer_sandbox.is_some() || spec.outer_sandbox.is_some();
        if spec.sandbox == Sandbox::Required && !has_outer {
            return refuse(
                AgentErrorKind::Unsupported,
                "a command that is approved may leave the sandbox of Codex, so it is not used; \
                 run Codex in an outer sandbox",
            );
        }
        if spec.resume.is_some() && options.home == CodexHome::PerSession {
            return refuse(
                AgentErrorKind::Unsupported,
                "a conversation cannot be resumed when its folder goes with the session; \
                 keep the home folder",
            );
        }
        if spec.mcp_servers.contains_key(Toolbox::SERVER) {
            return refuse(
                AgentErrorKind::Configuration,
                "the name autonoe is taken by our own tools; give the MCP server another one",
            );
        }
        thread_settings(options, spec).map(drop)
    }

    /// Makes the launch, and the folder that goes with it.
    ///
    /// # Errors
    ///
    /// The folder cannot be made.
    pub(crate) fn launch(options: &CodexOptions, spec: &SessionSpec) -> Result<Launch, AgentError> {
        let (folder, marker) = furnished_folder(options, &spec.cwd)?;
        let mut environment = bare_environment(options, folder.path());
        for (name, value) in spec.trace.iter().flat_map(TraceContext::environment) {
            environment.insert(name.into(), value.into());
        }
        for (name, value) in &spec.environment {
            environment.insert(name.into(), value.into());
        }
        let mut launch = Launch::new(&options.program, &spec.cwd, marker)
            .arg("app-server")
            .envs(environment);
        if let Some(sandbox) = &options.outer_sandbox {
            launch = launch.inside(around(sandbox, options, spec, folder.path()));
        }
        if let Some(lock) = &spec.lock {
            launch = launch.inherit(lock.clone());
        }
        Ok(launch.folder(folder))
    }
}

/// Returns `sandbox` with what the session needs.
fn around(
    sandbox: &OsSandbox,
    options: &CodexOptions,
    spec: &SessionSpec,
    folder: &Path,
) -> OsSandbox {
    let mut sandbox = sandbox
        .clone()
        .network(Network::Shared)
        .writable(&spec.cwd)
        .writable(folder);
    if let CodexHome::Kept(kept) = &options.home {
        sandbox = sandbox.writable(kept);
    }
    let ours = spec.cwd.join(OURS);
    if ours.exists() {
        sandbox = sandbox.read_only(ours);
    }
    // The program may be in a folder that the sandbox empties.
    match options.program.starts_with("/tmp") {
        true => sandbox.read_only(&options.program),
        false => sandbox,
    }
}

/// Returns the environment of the program, whose own files are in `folder`.
///
/// Its home is there too: shells that it starts would read files of a person otherwise.
pub(crate) fn bare_environment(
    options: &CodexOptions,
    folder: &Path,
) -> BTreeMap<OsString, OsString> {
    let mut environment = options.environment.clone();
    for (name, entry) in [("HOME", "home"), ("CODEX_HOME", "codex"), ("TMPDIR", "tmp")] {
        environment.insert(name.into(), folder.join(entry).into());
    }
    environment
}

/// Makes a folder with all that the environment of the program speaks of, and its marker.
///
/// # Errors
///
/// It cannot be made.
pub(crate) fn furnished_folder(
    options: &CodexOptions,
    cwd: &Path,
) -> Result<(SessionFolder, Marker), AgentError> {
    let folder = SessionFolder::create_in(&options.temporary, FOLDER)
        .map_err(|error| no_folder(options, error))?;
    furnish(options, cwd, folder.path()).map_err(|error| no_folder(options, error))?;
    let marker = marker(&folder)?;
    Ok((folder, marker))
}

fn furnish(options: &CodexOptions, cwd: &Path, folder: &Path) -> io::Result<()> {
    for name in ["home", "codex", "tmp"] {
        fs::create_dir(folder.join(name))?;
    }
    let codex = folder.join("codex");
    fs::write(codex.join("config.toml"), config_file(options, cwd))?;
    if let CodexHome::Kept(kept) = &options.home {
        fs::create_dir_all(kept.join("sessions"))?;
        for name in ["auth.json", "sessions"] {
            symlink(kept.join(name), codex.join(name))?;
        }
    }
    Ok(())
}

/// Returns the marker of the session that a folder is for: its name.
fn marker(folder: &SessionFolder) -> Result<Marker, AgentError> {
    let name = folder.path().file_name().unwrap_or_default();
    Marker::new(MARKER, name.to_string_lossy()).map_err(|error| {
        AgentError::new(AgentErrorKind::Other, "the session cannot be marked").because(error)
    })
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

fn no_folder(options: &CodexOptions, error: io::Error) -> AgentError {
    let message = format!(
        "the folder of a session cannot be made in {:?}",
        options.temporary
    );
    AgentError::new(AgentErrorKind::Configuration, message).because(error)
}
