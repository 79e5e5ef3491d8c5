//! Loads a definition from its folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use autonoe_core::TextFileError;
use serde::de::DeserializeOwned;

use super::document::parse;
use super::flow_definition::{FlowDefinition, PromptFile, Source};
use super::folder::{FlowFolder, FolderError};
use super::json_places::JsonPlaces;
use super::listing::possible_prompts;
use super::prompt_uses::prompt_uses;
use crate::definition::{FlowAgent, StepsRegistry};
use crate::error::{FlowError, FlowErrorKind};
use crate::finding::{Finding, FindingKind};
use crate::prompt::candidates;

/// The name of the file that makes a folder a flow.
pub const AGENT_FILE: &str = "agent.json";

/// Loads the flow in the folder `dir`, mostly `.autonoe/flows/{name}`.
///
/// It reads and changes nothing, and no file outside of the folder. Whether the
/// flow makes sense is asked of [`validate`](crate::validate).
///
/// ```
/// use autonoe_flow::{FindingKind, load};
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
/// A file is not there, cannot be read, or does not say what it must. The error
/// tells the file, the line, the JSON pointer, and how to mend it.
pub fn load(dir: &Path) -> Result<FlowDefinition, LoadError> {
    let folder = FlowFolder::open(dir).map_err(|error| no_folder(dir, error))?;
    let (agent, agent_places): (FlowAgent, _) =
        read_document(&folder, dir, Path::new(AGENT_FILE), not_a_flow)?;
    let registry_file = agent.prompts.registry.as_path();
    let (registry, registry_places): (StepsRegistry, _) =
        read_document(&folder, dir, registry_file, |file| {
            Finding::new(
                FindingKind::NotFound,
                file,
                "",
                "there is no such file",
                "write the steps there, or name their file in `prompts.registry` of agent.json",
            )
        })?;
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
        source: Source::Folder {
            name: folder_name(dir, &folder),
            folder,
        },
        agent_places,
        registry_places,
    })
}

/// Returns the name under which the folder was asked for, which may be a symlink.
fn folder_name(dir: &Path, folder: &FlowFolder) -> String {
    let name = dir.file_name().or_else(|| folder.root().file_name());
    name.unwrap_or_default().to_string_lossy().into_owned()
}

fn prompt_file(folder: &FlowFolder, path: &Path) -> Option<PromptFile> {
    match folder.read(path) {
        Ok(text) => text.map(|text| PromptFile::of(&text)),
        Err(error) => {
            let (problem, hint) = in_words(&error);
            Some(PromptFile::Broken { problem, hint })
        }
    }
}

/// Reads the JSON file `name` of the folder, which was asked for as `dir`.
pub(crate) fn read_document<T: DeserializeOwned>(
    folder: &FlowFolder,
    dir: &Path,
    name: &Path,
    missing: impl Fn(PathBuf) -> Finding,
) -> Result<(T, JsonPlaces), LoadError> {
    let file = dir.join(name);
    match folder.read(name) {
        Ok(Some(text)) => parse(&text, &file),
        Ok(None) => Err(LoadError::new(missing(file))),
        Err(error) => {
            let kind = match error {
                FolderError::Outside(_) => FindingKind::OutsideFolder,
                FolderError::File(_) | FolderError::Refused(..) => FindingKind::Unreadable,
            };
            let (message, hint) = in_words(&error);
            Err(LoadError::new(Finding::new(kind, file, "", message, hint)).because(error))
        }
    }
}

/// Says what is wrong with a file whose name is told beside it, and how to mend it.
fn in_words(error: &FolderError) -> (String, String) {
    let (message, hint): (String, &str) = match error {
        FolderError::Outside(_) => (
            "it leads out of the folder of the flow".to_owned(),
            "put the file itself there",
        ),
        FolderError::File(TextFileError::NotAFile { found, .. }) => {
            (format!("it is {found}"), "put a file in its place")
        }
        FolderError::File(TextFileError::TooLarge { .. }) => (
            "it is larger than 1 MiB".to_owned(),
            "is this the right file?",
        ),
        FolderError::File(TextFileError::NotUtf8 { line, .. }) => (
            format!("it is not UTF-8 from line {line} on"),
            "save it as UTF-8",
        ),
        FolderError::File(_) | FolderError::Refused(..) => (
            "it cannot be read".to_owned(),
            "check its owner and permissions",
        ),
    };
    (message, hint.to_owned())
}

fn not_a_flow(file: PathBuf) -> Finding {
    Finding::new(
        FindingKind::NotFound,
        file,
        "",
        "there is no such file",
        "the folder of a flow holds agent.json and steps_registry.json",
    )
}

pub(crate) fn no_folder(dir: &Path, error: io::Error) -> LoadError {
    let (kind, message, hint) = match error.kind() {
        io::ErrorKind::NotFound => (
            FindingKind::NotFound,
            "there is no such folder",
            "a flow is a folder with agent.json in it",
        ),
        io::ErrorKind::NotADirectory => (
            FindingKind::NotFound,
            "it is not a folder",
            "a flow is a folder with agent.json in it",
        ),
        _ => (
            FindingKind::Unreadable,
            "it cannot be read",
            "check its owner and permissions",
        ),
    };
    LoadError::new(Finding::new(kind, dir, "", message, hint)).because(error)
}

/// Why a definition could not be loaded.
#[derive(Debug)]
pub struct LoadError {
    finding: Box<Finding>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl LoadError {
    pub(crate) fn new(finding: Finding) -> Self {
        Self {
            finding: Box::new(finding),
            source: None,
        }
    }

    pub(crate) fn because(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns what is wrong, where it stands and how to mend it.
    pub fn finding(&self) -> &Finding {
        &self.finding
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.finding.fmt(f)
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.source {
            Some(source) => Some(source.as_ref()),
            None => None,
        }
    }
}

impl From<LoadError> for FlowError {
    fn from(error: LoadError) -> Self {
        let kind = match error.finding.kind {
            FindingKind::NotFound => FlowErrorKind::ConfigurationNotFound,
            _ => FlowErrorKind::ConfigurationParse,
        };
        Self::new(kind, "the definition of the flow cannot be loaded").because(error)
    }
}
