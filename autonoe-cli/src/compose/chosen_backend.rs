//! Which backend a run has, and who says so.

use std::path::Path;

use autonoe_core::{
    AgentConfig, ConfigError, ConfigFile, EffectiveConfig, Mode, NamedBackend, Project,
    SandboxSwitch, Source,
};
use serde_json::Value;

use super::BackendChoice;
use super::announced::of_backend;
use super::backend_choice::fields_of;
use super::written_keys::no_key;
use crate::error::CliError;

/// Where a file of the project names its backend.
const POINTER: &str = "/backend";

/// Where specs name programs. What has no slash is looked for by `PATH`.
const PROGRAMS: [&str; 3] = ["/program", "/command", "/script"];

/// Where specs name folders that programs trust.
const FOLDERS: [&str; 3] = ["/temporary", "/home/kept", "/config/kept"];

/// Which backend a run has, and who says so: the command line, then the file of the project.
#[derive(Clone, Debug)]
pub(crate) struct ChosenBackend {
    pub(crate) choice: BackendChoice,
    pub(crate) source: Source,
    /// What a person should know of a choice that is the project's.
    pub(crate) announced: Vec<String>,
}

impl Default for ChosenBackend {
    fn default() -> Self {
        Self {
            choice: BackendChoice::default(),
            source: Source::Default,
            announced: Vec::new(),
        }
    }
}

impl ChosenBackend {
    /// Takes what the command line names, or else the file of `project`.
    ///
    /// # Errors
    ///
    /// The file is not understood, or names what no file may name.
    pub(crate) fn find(
        flag: Option<&BackendChoice>,
        project: Option<&Project>,
    ) -> Result<Self, CliError> {
        if let Some(choice) = flag {
            return Ok(Self::of_flag(choice));
        }
        match project {
            Some(project) => Ok(of_file(project)?.unwrap_or_default()),
            None => Ok(Self::default()),
        }
    }

    /// Takes what the command line names.
    pub(crate) fn of_flag(choice: &BackendChoice) -> Self {
        Self {
            choice: choice.clone(),
            source: Source::Flag,
            announced: Vec::new(),
        }
    }

    /// Returns the file that names it, if one does.
    pub(super) fn file(&self) -> Option<&Path> {
        match &self.source {
            Source::File { path, .. } => Some(path),
            _ => None,
        }
    }
}

fn of_file(project: &Project) -> Result<Option<ChosenBackend>, ConfigError> {
    let path = project.config_path();
    let config = AgentConfig::load(&path)?;
    let effective = EffectiveConfig::merge(config, Mode::Run, SandboxSwitch::default())?;
    let (Some((named, source)), Some(file)) = (effective.backend(), ConfigFile::load(&path)?)
    else {
        return Ok(None);
    };
    let written: Value = file.read(POINTER)?.unwrap_or_default();
    let choice = match named {
        NamedBackend::Name(name) => name
            .parse::<BackendChoice>()
            .map_err(|error| file.problem(POINTER, error, None))?,
        NamedBackend::Spec(spec) => {
            no_key(&file, POINTER)?;
            no_foreign_settings(&file, &written)?;
            BackendChoice::Spec(spec.clone())
        }
    };
    if let BackendChoice::Spec(spec) = &choice {
        out_of_reach(&file, &written, &fields_of(&**spec), project)?;
    }
    let choice = choice.in_folder(project.root());
    Ok(Some(ChosenBackend {
        announced: of_backend(choice.tag(), &written, &source.to_string()),
        choice,
        source,
    }))
}

/// Refuses settings of a program that lie in the project: they could run commands that nobody is
/// asked about, and agents can write them.
fn no_foreign_settings(file: &ConfigFile, written: &Value) -> Result<(), ConfigError> {
    match written.get("settingSources") {
        None => Ok(()),
        Some(_) => {
            let pointer = ConfigFile::below(POINTER, "settingSources");
            let message = "a file of the project does not say which settings count";
            let hint = "only the person who starts a run can, with --backend".to_owned();
            Err(file.problem(&pointer, message, hint))
        }
    }
}

/// Refuses programs and folders that agents could change while they are bound by them: all of the
/// project is theirs to write, but for `.autonoe`.
///
/// `written` is what the file says, and `fields` is what that means.
fn out_of_reach(
    file: &ConfigFile,
    written: &Value,
    fields: &Value,
    project: &Project,
) -> Result<(), ConfigError> {
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let root = whole(project.root());
    for field in PROGRAMS.iter().chain(&FOLDERS) {
        let path = fields.pointer(field).and_then(Value::as_str);
        let is_path = |path: &&str| path.contains('/') || FOLDERS.contains(field);
        let Some(path) = path.filter(is_path) else {
            continue;
        };
        let path = whole(&project.root().join(path));
        let is_below = path.starts_with(&root) || path.starts_with(project.root());
        if is_below && !path.starts_with(whole(&project.state_dir())) {
            let message = "that is in the project, where agents could change it";
            let hint = "move it elsewhere, to .autonoe for example".to_owned();
            let pointer = match written.is_object() {
                true => format!("{POINTER}{field}"),
                false => POINTER.to_owned(),
            };
            return Err(file.problem(&pointer, message, hint));
        }
    }
    Ok(())
}
