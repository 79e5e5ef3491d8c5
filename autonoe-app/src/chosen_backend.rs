//! [`ChosenBackend`]: the backend of a run, and the source of the choice.

use std::path::Path;

use autonoe_core::Project;
use autonoe_core::project::{AgentConfig, ConfigError, ConfigFile, NamedBackend, Source};
use serde_json::Value;

use crate::BackendChoice;
use crate::backend_choice::fields_of;
use crate::error::AppError;
use crate::literal_keys::reject_literal_key;
use crate::trust_warnings::backend_warnings;

/// JSON pointer of the backend in a project file.
const POINTER: &str = "/backend";

/// JSON pointers of programs in specs. A name without a slash is searched in `PATH`.
const PROGRAMS: [&str; 3] = ["/program", "/command", "/script"];

/// JSON pointers of folders that programs trust.
const FOLDERS: [&str; 3] = ["/temporary", "/home/persistent", "/config/persistent"];

/// The backend of a run, and its source: the command line takes precedence over the project file.
#[derive(Clone, Debug)]
pub struct ChosenBackend {
    pub choice: BackendChoice,
    pub source: Source,
    /// Warnings about a backend that the project selects.
    pub warnings: Vec<String>,
}

impl Default for ChosenBackend {
    fn default() -> Self {
        Self {
            choice: BackendChoice::default(),
            source: Source::Default,
            warnings: Vec::new(),
        }
    }
}

impl ChosenBackend {
    /// Returns the backend of the command line, or else of the project file.
    ///
    /// # Errors
    ///
    /// The file is invalid, or contains settings that no project file may contain.
    pub fn find(flag: Option<&BackendChoice>, project: Option<&Project>) -> Result<Self, AppError> {
        match (flag, project) {
            (None, Some(project)) => Self::select(None, project, &load_config(project)?),
            (Some(choice), _) => Ok(Self::from_flag(choice)),
            (None, None) => Ok(Self::default()),
        }
    }

    /// Returns the backend of the command line, or else of `config`, the file of `project`.
    ///
    /// # Errors
    ///
    /// The file contains settings that no project file may contain.
    pub fn select(
        flag: Option<&BackendChoice>,
        project: &Project,
        config: &AgentConfig,
    ) -> Result<Self, AppError> {
        match flag {
            Some(choice) => Ok(Self::from_flag(choice)),
            None => Ok(from_config(project, config)?.unwrap_or_default()),
        }
    }

    /// Returns the backend of the command line.
    pub fn from_flag(choice: &BackendChoice) -> Self {
        Self {
            choice: choice.clone(),
            source: Source::Flag,
            warnings: Vec::new(),
        }
    }

    /// Returns the file that names the backend, if one does.
    pub(crate) fn file(&self) -> Option<&Path> {
        match &self.source {
            Source::File { path, .. } => Some(path),
            _ => None,
        }
    }
}

/// Loads the configuration of `project`. It is empty if there is no file.
///
/// # Errors
///
/// The file is invalid.
pub fn load_config(project: &Project) -> Result<AgentConfig, ConfigError> {
    Ok(AgentConfig::load(project.config_path())?.unwrap_or_default())
}

fn from_config(
    project: &Project,
    config: &AgentConfig,
) -> Result<Option<ChosenBackend>, ConfigError> {
    let (Some(named), Some(file)) = (&config.backend, config.file()) else {
        return Ok(None);
    };
    let source = config.source(POINTER);
    let written: Value = file.read(POINTER)?.unwrap_or_default();
    let choice = match named {
        NamedBackend::Name(name) => name
            .parse::<BackendChoice>()
            .map_err(|error| file.problem(POINTER, error, None))?,
        NamedBackend::Spec(spec) => {
            reject_literal_key(file, POINTER)?;
            reject_setting_sources(file, &written)?;
            BackendChoice::Spec(spec.clone())
        }
    };
    if let BackendChoice::Spec(spec) = &choice {
        check_paths(file, &written, &fields_of(&**spec), project)?;
    }
    let choice = choice.relative_to(project.root());
    Ok(Some(ChosenBackend {
        warnings: backend_warnings(choice.tag(), &written, &source.to_string()),
        choice,
        source,
    }))
}

/// Rejects settings of a program that are in the project: they could run commands without a
/// permission check, and agents can write them.
fn reject_setting_sources(file: &ConfigFile, written: &Value) -> Result<(), ConfigError> {
    match written.get("settingSources") {
        None => Ok(()),
        Some(_) => {
            let pointer = ConfigFile::below(POINTER, "settingSources");
            let message = "settingSources is not allowed in a file of the project";
            let hint = "pass it with --backend when you start the run".to_owned();
            Err(file.problem(&pointer, message, hint))
        }
    }
}

/// Rejects programs and folders that agents could change while they depend on them. Agents can
/// write everywhere in the project except `.autonoe`.
///
/// `written` is the content of the file, and `fields` is the parsed spec.
fn check_paths(
    file: &ConfigFile,
    written: &Value,
    fields: &Value,
    project: &Project,
) -> Result<(), ConfigError> {
    let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let root = canonical(project.root());
    for field in PROGRAMS.iter().chain(&FOLDERS) {
        let path = fields.pointer(field).and_then(Value::as_str);
        let is_path = |path: &&str| path.contains('/') || FOLDERS.contains(field);
        let Some(path) = path.filter(is_path) else {
            continue;
        };
        let path = canonical(&project.root().join(path));
        let is_below = path.starts_with(&root) || path.starts_with(project.root());
        if is_below && !path.starts_with(canonical(&project.state_dir())) {
            let message = "this path is in the project, where agents could change it";
            let hint = "move it out of the project, or into .autonoe".to_owned();
            let pointer = if written.is_object() {
                format!("{POINTER}{field}")
            } else {
                POINTER.to_owned()
            };
            return Err(file.problem(&pointer, message, hint));
        }
    }
    Ok(())
}
