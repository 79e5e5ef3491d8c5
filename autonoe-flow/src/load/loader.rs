//! [`load()`]: reads the files of a flow; lists flows and possible prompts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use autonoe_core::project::{ConfigError, ConfigErrorKind, ConfigFile, TextFileError};
use serde::de::DeserializeOwned;

use super::flow_definition::{
    FlowDefinition, FlowFolder, FolderError, PromptFile, PromptFiles, prompt_uses,
};
use crate::definition::{FlowAgent, FlowName, StepsRegistry};
use crate::error::{FlowError, FlowErrorKind};
use crate::finding::{DefinitionFinding, FindingKind};
use crate::prompt::candidates;

/// The name of the file that marks a folder as a flow.
pub const AGENT_FILE: &str = "agent.json";

/// Loads the flow in the folder `dir`, usually `.autonoe/flows/{name}`.
///
/// It only reads, and reads no file outside of the folder. [`validate`](crate::validate::validate)
/// checks whether the flow is consistent.
///
/// ```
/// use autonoe_flow::validate::FindingKind;
/// use autonoe_flow::load;
///
/// let dir = tempfile::tempdir()?;
///
/// let error = load(dir.path()).expect_err("there is nothing");
///
/// assert_eq!(error.finding().kind, FindingKind::NotFound);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// A file does not exist, cannot be read, or has invalid content. The error contains the file, the
/// line, the JSON pointer, and a hint.
pub fn load(dir: &Path) -> Result<FlowDefinition, LoadError> {
    let folder = FlowFolder::open(dir).map_err(|error| no_folder(dir, error))?;
    let (agent, agent_source): (FlowAgent, _) = read_document(
        &folder,
        dir,
        Path::new(AGENT_FILE),
        "the folder of a flow contains agent.json and steps_registry.json",
    )?;
    let (registry, registry_source): (StepsRegistry, _) = read_document(
        &folder,
        dir,
        agent.prompts.registry.as_path(),
        "create it with the steps, or set `prompts.registry` in agent.json to the file that has \
         them",
    )?;
    let mut prompts = BTreeMap::new();
    for used in prompt_uses(&agent, &registry) {
        for candidate in candidates(&used.reference, &agent.prompts) {
            if let Some(file) = prompt_file(&folder, &candidate.path) {
                prompts.insert(candidate.path, file);
            }
        }
    }
    Ok(FlowDefinition {
        agent,
        registry,
        prompts,
        files: possible_prompts(folder.root()).files,
        folder_name: Some(folder_name(dir, &folder)),
        prompt_files: PromptFiles::Folder(folder),
        agent_file: Some(agent_source),
        registry_file: Some(registry_source),
    })
}

/// Returns the folder name in the caller's path, which may be a symlink.
fn folder_name(dir: &Path, folder: &FlowFolder) -> String {
    let name = dir.file_name().or_else(|| folder.root().file_name());
    name.unwrap_or_default().to_string_lossy().into_owned()
}

fn prompt_file(folder: &FlowFolder, path: &Path) -> Option<PromptFile> {
    match folder.read(path) {
        Ok(text) => text.map(|text| PromptFile::from_text(&text)),
        Err(error) => {
            let (problem, hint) = describe(&error);
            Some(PromptFile::Broken { problem, hint })
        }
    }
}

/// Reads the JSON file `name` of the folder; `dir` is the caller's path of the folder, for errors,
/// and `hint` advises what to do about a missing file.
pub(crate) fn read_document<T: DeserializeOwned>(
    folder: &FlowFolder,
    dir: &Path,
    name: &Path,
    hint: &str,
) -> Result<(T, ConfigFile), LoadError> {
    let file = dir.join(name);
    let text = folder.read(name).map_err(|error| {
        let kind = match error {
            FolderError::Outside(_) => FindingKind::OutsideFolder,
            FolderError::File(_) | FolderError::Refused(..) => FindingKind::Unreadable,
        };
        let (message, hint) = describe(&error);
        LoadError::new(DefinitionFinding::new(kind, &file, "", message, hint)).with_cause(error)
    })?;
    if let Some(text) = text {
        let source = ConfigFile::parse(&text, &file).map_err(|error| shape(&error))?;
        if let Some(value) = source.read("").map_err(|error| shape(&error))? {
            return Ok((value, source));
        }
    }
    let message = "the file does not exist";
    let missing = DefinitionFinding::new(FindingKind::NotFound, file, "", message, hint);
    Err(LoadError::new(missing))
}

/// Converts an error of a file's content.
fn shape(error: &ConfigError) -> LoadError {
    let kind = match error.kind() {
        ConfigErrorKind::Unreadable => FindingKind::Unreadable,
        ConfigErrorKind::Syntax => FindingKind::Syntax,
        ConfigErrorKind::Duplicate => FindingKind::Duplicate,
        _ => FindingKind::Shape,
    };
    let hint = match error.message() {
        "unknown name `bypassPermissions`" => {
            "every call of an agent must pass the gate; list the tools that it may use in \
             `allowedTools`"
        }
        _ => error.suggestion().unwrap_or_default(),
    };
    let file = error.file().unwrap_or(Path::new(AGENT_FILE));
    let pointer = error.pointer().unwrap_or_default();
    let finding = DefinitionFinding::new(kind, file, pointer, error.message(), hint);
    LoadError::new(finding.at(error.line().zip(error.column())))
}

/// Returns the problem of a file and a hint. The caller prints the name of the file.
fn describe(error: &FolderError) -> (String, String) {
    let (message, hint) = match error {
        FolderError::Outside(_) => (
            "the file is outside the folder of the flow".to_owned(),
            "replace the link with the file itself",
        ),
        FolderError::File(TextFileError::NotAFile { found, .. }) => {
            (format!("it is {found}"), "replace it with a regular file")
        }
        FolderError::File(TextFileError::TooLarge { .. }) => (
            "the file is larger than 1 MiB".to_owned(),
            "check that this is the right file",
        ),
        FolderError::File(TextFileError::NotUtf8 { line, .. }) => (
            format!("the file is not UTF-8 from line {line} on"),
            "save it as UTF-8",
        ),
        FolderError::File(_) | FolderError::Refused(..) => (
            "cannot read the file".to_owned(),
            "check its owner and permissions",
        ),
    };
    (message, hint.to_owned())
}

pub(crate) fn no_folder(dir: &Path, error: io::Error) -> LoadError {
    let no_flow = "a flow is a folder that contains agent.json";
    let (kind, message, hint) = match error.kind() {
        io::ErrorKind::NotFound => (FindingKind::NotFound, "the folder does not exist", no_flow),
        io::ErrorKind::NotADirectory => (FindingKind::NotFound, "it is not a folder", no_flow),
        _ => (
            FindingKind::Unreadable,
            "cannot read the folder",
            "check its owner and permissions",
        ),
    };
    LoadError::new(DefinitionFinding::new(kind, dir, "", message, hint)).with_cause(error)
}

/// Error of loading a definition.
#[derive(Debug, thiserror::Error)]
#[error("{finding}")]
pub struct LoadError {
    finding: Box<DefinitionFinding>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl LoadError {
    pub(crate) fn new(finding: DefinitionFinding) -> Self {
        Self {
            finding: Box::new(finding),
            source: None,
        }
    }

    pub(crate) fn with_cause(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the problem, its location and a hint.
    pub fn finding(&self) -> &DefinitionFinding {
        &self.finding
    }
}

impl From<LoadError> for FlowError {
    fn from(error: LoadError) -> Self {
        let kind = match error.finding.kind {
            FindingKind::NotFound => FlowErrorKind::ConfigurationNotFound,
            _ => FlowErrorKind::ConfigurationParse,
        };
        Self::new(kind, "cannot load the definition of the flow").with_cause(error)
    }
}

/// Limits of the number of directory entries and of the depth.
const MOST: usize = 1000;
const DEEPEST: usize = 8;

/// Returns the names of the flows in `dir`, usually `.autonoe/flows`, in order.
///
/// A flow is a folder that contains `agent.json` and has a valid flow name. If `dir` does not
/// exist, there are no flows.
///
/// ```
/// let dir = tempfile::tempdir()?;
/// std::fs::create_dir(dir.path().join("review"))?;
/// std::fs::write(dir.path().join("review/agent.json"), "{}")?;
///
/// assert_eq!(autonoe_flow::load::flows_in(dir.path())?, ["review".parse()?]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The folder cannot be read.
pub fn flows_in(dir: &Path) -> io::Result<Vec<FlowName>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = BTreeSet::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_str().and_then(|name| name.parse().ok());
        if let Some(name) = name.filter(|_| entry.path().join(AGENT_FILE).is_file()) {
            names.insert(name);
        }
    }
    Ok(names.into_iter().collect())
}

/// The files of a folder that could be prompts.
#[derive(Debug, Default)]
pub(crate) struct PossiblePrompts {
    pub(crate) files: BTreeSet<String>,
    /// The other files.
    pub(crate) others: BTreeSet<String>,
    /// Whether the whole folder was searched.
    pub(crate) is_complete: bool,
}

/// Returns the files below `root` that could be prompts. Unreadable directories are skipped.
pub(crate) fn possible_prompts(root: &Path) -> PossiblePrompts {
    let mut prompts = PossiblePrompts {
        is_complete: true,
        ..PossiblePrompts::default()
    };
    let mut left = MOST;
    let mut folders = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let Ok(entries) = fs::read_dir(folder) else {
            continue;
        };
        for entry in entries.flatten() {
            if left == 0 {
                prompts.is_complete = false;
                return prompts;
            }
            left -= 1;
            let path = entry.path();
            // Symlinks are not followed: they may leave the folder or form a cycle.
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_dir() {
                if depth < DEEPEST {
                    folders.push((path, depth + 1));
                } else {
                    prompts.is_complete = false;
                }
            } else {
                let is_prompt = path.extension().is_some_and(|ending| ending == "md");
                let inside = path.strip_prefix(root).ok().and_then(Path::to_str);
                let files = if is_prompt {
                    &mut prompts.files
                } else {
                    &mut prompts.others
                };
                files.extend(inside.map(str::to_owned));
            }
        }
    }
    prompts
}
