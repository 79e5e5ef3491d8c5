//! All that is needed to start an agent for one session.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_core::{AgentError, AgentErrorKind, SessionSpec, TraceContext};
use autonoe_process::{InvalidMarker, Launch, Marker, SessionFolder};

use super::{AcpOptions, HomeFolder, Preset, gemini};

/// The variable by which everything that a session starts is found again.
const MARKER: &str = "AUTONOE_AGENT_SESSION";

/// What the names of the folders of sessions begin with.
const FOLDER: &str = "autonoe-acp-";

/// The settings of Gemini CLI that win over all others, in the folder of a session.
const SYSTEM_SETTINGS: &str = "system-settings.json";

/// How long it may take at most to end what a killed host left running.
const SWEEP: Duration = Duration::from_secs(5);

/// Where an agent keeps its own things in one session.
pub(crate) struct Place {
    folder: SessionFolder,
    marker: Marker,
    /// Its home, if it is not the user's.
    home: Option<PathBuf>,
}

/// Tells whether a session can be started at all.
///
/// # Errors
///
/// It asks for something that the agent cannot give.
pub(crate) fn check(options: &AcpOptions, spec: &SessionSpec) -> Result<(), AgentError> {
    let refuse = |message: &str| Err(AgentError::new(AgentErrorKind::Unsupported, message));
    options.walls.are_needed(spec)?;
    let is_plain = options.preset == Preset::Plain;
    if spec.thinking.is_some() {
        return refuse("an agent of this protocol cannot be told how much to think");
    }
    if spec.max_turns.is_some() && is_plain {
        return refuse("the turns of this agent cannot be limited");
    }
    if spec.system_prompt.is_some() && is_plain {
        return refuse("this agent cannot be given a system prompt");
    }
    if model(options, spec).is_some() && options.model_argument.is_none() {
        return refuse("nothing says how this agent is told a model");
    }
    if spec.resume.is_some() && options.home == HomeFolder::PerSession {
        return refuse(
            "a conversation cannot be resumed when its folder goes with the session; \
             keep the home folder",
        );
    }
    Ok(())
}

/// Makes the launch of an agent for a session.
///
/// # Errors
///
/// Its folder cannot be made, or the sandbox that it needs is not there.
pub(crate) fn launch(options: &AcpOptions, spec: &SessionSpec) -> Result<Launch, AgentError> {
    let place = Place::furnish(options, spec.max_turns)?;
    let mut environment = place.environment(options);
    let trace = spec.trace.iter().flat_map(TraceContext::environment);
    for (name, value) in trace {
        environment.insert(name.into(), value.into());
    }
    for (name, value) in &spec.environment {
        environment.insert(name.into(), value.into());
    }
    if options.preset == Preset::Gemini {
        gemini::furnish(&mut environment, &place.system_settings());
        if let Some(prompt) = &spec.system_prompt {
            let file = place.folder.path().join("system.md");
            fs::write(&file, prompt).map_err(|error| no_folder(options, error))?;
            environment.insert("GEMINI_SYSTEM_MD".into(), file.into());
        }
    }
    let mut launch = Launch::new(&options.program, &spec.cwd, place.marker.clone())
        .args(options.args.clone())
        .envs(environment);
    if let (Some(argument), Some(model)) = (&options.model_argument, model(options, spec)) {
        launch = launch.arg(argument).arg(model);
    }
    if options.walls.are_needed(spec)? {
        let folder = place.folder.path().to_owned();
        let own: Vec<_> = [folder].into_iter().chain(place.home.clone()).collect();
        let walls = options.walls.around(&spec.cwd, &own).ok_or_else(|| {
            AgentError::new(AgentErrorKind::NotAvailable, "bubblewrap is not there")
        })?;
        let has_settings = options.preset == Preset::Gemini && settings_of(spec).exists();
        launch = launch.inside(match has_settings {
            true => walls.hidden(settings_of(spec)),
            false => walls,
        });
    } else if options.preset == Preset::Gemini && settings_of(spec).exists() {
        let message = "the project has a folder .gemini, whose settings could allow what the gate \
                       refuses";
        let error = AgentError::new(AgentErrorKind::Configuration, message);
        return Err(error.with_remedy("remove it, or run the agent in bubblewrap, which hides it"));
    }
    if let Some(lock) = &spec.lock {
        launch = launch.inherit(lock.clone());
    }
    Ok(launch.folder(place.folder))
}

/// Makes the launch of an agent that is only asked what it is.
///
/// # Errors
///
/// Its folder cannot be made.
pub(crate) fn probe_launch(options: &AcpOptions) -> Result<Launch, AgentError> {
    let place = Place::furnish(options, None)?;
    let mut environment = place.environment(options);
    if options.preset == Preset::Gemini {
        gemini::furnish(&mut environment, &place.system_settings());
    }
    let launch = Launch::new(&options.program, place.folder.path(), place.marker.clone())
        .args(options.args.clone())
        .envs(environment);
    Ok(launch.folder(place.folder))
}

/// Returns where a project may have settings of Gemini CLI.
fn settings_of(spec: &SessionSpec) -> PathBuf {
    spec.cwd.join(gemini::PROJECT_SETTINGS)
}

fn model<'a>(options: &'a AcpOptions, spec: &'a SessionSpec) -> Option<&'a String> {
    spec.model.as_ref().or(options.model.as_ref())
}

impl Place {
    fn furnish(options: &AcpOptions, max_turns: Option<u32>) -> Result<Self, AgentError> {
        let made = || {
            let folder = SessionFolder::create_in(&options.temporary, FOLDER)?;
            fs::create_dir(folder.path().join("tmp"))?;
            let home = match &options.home {
                HomeFolder::OfTheUser => None,
                HomeFolder::PerSession => Some(folder.path().join("home")),
                HomeFolder::Kept(kept) => Some(kept.clone()),
            };
            if let Some(home) = &home {
                fs::create_dir_all(home)?;
            }
            if options.preset == Preset::Gemini {
                write_settings(folder.path(), home.as_deref(), options, max_turns)?;
            }
            Ok((folder, home))
        };
        let (folder, home) = made().map_err(|error| no_folder(options, error))?;
        let marker = marker(&folder).map_err(|error| {
            AgentError::new(AgentErrorKind::Other, "the session cannot be marked").because(error)
        })?;
        Ok(Self {
            folder,
            marker,
            home,
        })
    }

    fn system_settings(&self) -> PathBuf {
        self.folder.path().join(SYSTEM_SETTINGS)
    }

    fn environment(&self, options: &AcpOptions) -> BTreeMap<OsString, OsString> {
        let mut environment = options.environment.clone();
        environment.insert("TMPDIR".into(), self.folder.path().join("tmp").into());
        if let Some(home) = &self.home {
            environment.insert("HOME".into(), home.clone().into());
        }
        environment
    }
}

/// Writes the settings of Gemini CLI. What a person has chosen in a home that is kept stays, as far
/// as our settings say nothing of it.
fn write_settings(
    folder: &Path,
    home: Option<&Path>,
    options: &AcpOptions,
    max_turns: Option<u32>,
) -> io::Result<()> {
    let settings = gemini::settings(&options.environment, max_turns).to_string();
    fs::write(folder.join(SYSTEM_SETTINGS), &settings)?;
    if let Some(home) = home {
        let own = home.join(".gemini");
        fs::create_dir_all(&own)?;
        let file = own.join("settings.json");
        if !file.exists() {
            fs::write(file, settings)?;
        }
    }
    Ok(())
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

fn no_folder(options: &AcpOptions, error: io::Error) -> AgentError {
    let message = format!(
        "the folder of a session cannot be made in {:?}",
        options.temporary
    );
    AgentError::new(AgentErrorKind::Configuration, message).because(error)
}
