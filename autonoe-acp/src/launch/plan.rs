//! All that is needed to start an agent for one session.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use autonoe_backend::{Inside, SessionPlace, session_environment};
use autonoe_core::{AgentError, AgentErrorKind, SessionSpec, Support};
use autonoe_process::Launch;

use super::{AcpOptions, HomeFolder, Preset, gemini};

/// What the names of the folders of sessions begin with.
pub(crate) const FOLDER: &str = "autonoe-acp-";

/// The settings of Gemini CLI that win over all others, in the folder of a session.
const SYSTEM_SETTINGS: &str = "system-settings.json";

/// Nobody knows whether an agent of the protocol has a sandbox.
const OWN_SANDBOX: Support = Support::No;

/// Tells whether a session can be started at all.
///
/// # Errors
///
/// It asks for something that the agent cannot give.
pub(crate) fn check(options: &AcpOptions, spec: &SessionSpec) -> Result<(), AgentError> {
    let refuse = |message: &str| Err(AgentError::new(AgentErrorKind::Unsupported, message));
    options.walls.are_needed(spec, OWN_SANDBOX)?;
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
pub(crate) async fn launch(options: &AcpOptions, spec: &SessionSpec) -> Result<Launch, AgentError> {
    let place = furnish(options, spec.max_turns)?;
    let mut environment = environment(options, place.path());
    environment.extend(session_environment(spec));
    if options.preset == Preset::Gemini {
        gemini::furnish(&mut environment, &place.path().join(SYSTEM_SETTINGS));
        if let Some(prompt) = &spec.system_prompt {
            let file = place.write("system.md", prompt)?;
            environment.insert("GEMINI_SYSTEM_MD".into(), file.into());
        }
    }
    let project_settings = match options.preset {
        Preset::Plain => None,
        Preset::Gemini => Some(spec.cwd.join(gemini::PROJECT_SETTINGS)),
    };
    let has_walls = options.walls.are_needed(spec, OWN_SANDBOX)?;
    let has_settings = |folder: &PathBuf| folder.exists();
    if !has_walls && project_settings.as_ref().is_some_and(has_settings) {
        let message = "the project has a folder .gemini, whose settings could allow what the gate \
                       refuses";
        let error = AgentError::new(AgentErrorKind::Configuration, message);
        return Err(error.with_remedy("remove it, or run the agent in bubblewrap, which hides it"));
    }
    let inside = Inside {
        program: options.program.clone(),
        readable: options.package().into_iter().collect(),
        writable: home(options, place.path()).into_iter().collect(),
        hidden: project_settings.into_iter().collect(),
    };
    let launch = options
        .walls
        .launch(spec, OWN_SANDBOX, place, &inside)
        .await?;
    let launch = launch.args(options.args.clone()).envs(environment);
    Ok(match (&options.model_argument, model(options, spec)) {
        (Some(argument), Some(model)) => launch.arg(argument).arg(model),
        _ => launch,
    })
}

/// Makes the launch of an agent that is only asked what it is.
///
/// # Errors
///
/// Its folder cannot be made.
pub(crate) fn probe_launch(options: &AcpOptions) -> Result<Launch, AgentError> {
    let place = furnish(options, None)?;
    let folder = place.path().to_owned();
    let mut environment = environment(options, &folder);
    if options.preset == Preset::Gemini {
        gemini::furnish(&mut environment, &folder.join(SYSTEM_SETTINGS));
    }
    Ok(place
        .launch(&options.program, &folder)
        .args(options.args.clone())
        .envs(environment))
}

fn model<'a>(options: &'a AcpOptions, spec: &'a SessionSpec) -> Option<&'a String> {
    spec.model.as_ref().or(options.model.as_ref())
}

/// Makes a folder with all that the environment of the program speaks of.
fn furnish(options: &AcpOptions, max_turns: Option<u32>) -> Result<SessionPlace, AgentError> {
    SessionPlace::furnish(&options.temporary, FOLDER, |folder| {
        fs::create_dir(folder.join("tmp"))?;
        let home = home(options, folder);
        if let Some(home) = &home {
            fs::create_dir_all(home)?;
        }
        if options.preset == Preset::Gemini {
            write_settings(folder, home.as_deref(), options, max_turns)?;
        }
        Ok(())
    })
}

/// Returns the home of the agent, if it is not the user's.
fn home(options: &AcpOptions, folder: &Path) -> Option<PathBuf> {
    match &options.home {
        HomeFolder::OfTheUser => None,
        HomeFolder::PerSession => Some(folder.join("home")),
        HomeFolder::Kept(kept) => Some(kept.clone()),
    }
}

/// Returns the environment of the program, whose own files are in `folder`.
fn environment(options: &AcpOptions, folder: &Path) -> BTreeMap<OsString, OsString> {
    let mut environment = options.environment.clone();
    environment.insert("TMPDIR".into(), folder.join("tmp").into());
    if let Some(home) = home(options, folder) {
        environment.insert("HOME".into(), home.into());
    }
    environment
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
