//! A definition that was loaded.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::folder::FlowFolder;
use super::json_places::JsonPlaces;
use crate::definition::{FlowAgent, StepsRegistry, VariableName};
use crate::prompt::{PromptFiles, Template};

/// A flow as its files say: `agent.json`, the steps, and what is known of its prompts.
///
/// It says nothing about whether the flow makes sense; [`validate`](crate::validate) does.
#[derive(Debug)]
pub struct FlowDefinition {
    pub(super) agent: FlowAgent,
    pub(super) registry: StepsRegistry,
    pub(super) prompts: BTreeMap<PathBuf, PromptFile>,
    /// Every file that could be a prompt, for hints.
    pub(super) files: BTreeSet<String>,
    pub(super) source: Source,
    pub(super) agent_places: JsonPlaces,
    pub(super) registry_places: JsonPlaces,
}

/// Where a definition comes from.
#[derive(Debug)]
pub(super) enum Source {
    Folder { folder: FlowFolder, name: String },
    Memory { texts: BTreeMap<PathBuf, String> },
}

/// What is known of the file of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PromptFile {
    /// It can be used.
    Text {
        variables: BTreeSet<VariableName>,
        /// Whether it says anything beside its variables.
        has_words: bool,
    },
    /// It is there and cannot be used.
    Broken { problem: String, hint: String },
}

impl PromptFile {
    pub(super) fn of(text: &str) -> Self {
        let broken = |problem: &str, hint: &str| Self::Broken {
            problem: problem.to_owned(),
            hint: hint.to_owned(),
        };
        if text.trim().is_empty() {
            return broken("it is blank", "write what the agent is told");
        }
        match Template::parse(text) {
            Ok(template) => Self::Text {
                variables: template.variables(),
                has_words: template.has_words(),
            },
            Err(error) => {
                let told = error.to_string();
                let (problem, hint) = told.split_once("; ").unwrap_or((&told, "close it"));
                broken(problem, hint)
            }
        }
    }
}

impl FlowDefinition {
    /// Makes a definition in memory, without prompts.
    ///
    /// ```
    /// use autonoe_flow::{FlowAgent, FlowDefinition, StepsRegistry, validate};
    ///
    /// let agent: FlowAgent = serde_json::from_str(
    ///     r#"{"version": "1", "name": "hello", "behavior": {"completionType": "stepMachine"}}"#,
    /// )?;
    /// let registry: StepsRegistry = serde_json::from_str(
    ///     r#"{"entryStep": "greet", "steps": {
    ///         "greet": {"prompt": "prompts/greet.md", "transition": {"next": "end"}}
    ///     }}"#,
    /// )?;
    ///
    /// let definition = FlowDefinition::new(agent, registry).with_prompt("prompts/greet.md", "Say hello.");
    ///
    /// assert!(validate(&definition).is_valid());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn new(agent: FlowAgent, registry: StepsRegistry) -> Self {
        Self {
            agent,
            registry,
            prompts: BTreeMap::new(),
            files: BTreeSet::new(),
            source: Source::Memory {
                texts: BTreeMap::new(),
            },
            agent_places: JsonPlaces::default(),
            registry_places: JsonPlaces::default(),
        }
    }

    /// Adds a prompt to a definition in memory; one that was loaded has its files.
    #[must_use]
    pub fn with_prompt(mut self, path: impl Into<PathBuf>, text: &str) -> Self {
        if let Source::Memory { texts } = &mut self.source {
            let path = path.into();
            self.files.insert(path.display().to_string());
            self.prompts.insert(path.clone(), PromptFile::of(text));
            texts.insert(path, text.to_owned());
        }
        self
    }

    /// Returns what `agent.json` says.
    pub fn agent(&self) -> &FlowAgent {
        &self.agent
    }

    /// Returns the steps.
    pub fn registry(&self) -> &StepsRegistry {
        &self.registry
    }

    /// Returns the folder, or `None` for a definition in memory.
    pub fn folder(&self) -> Option<&Path> {
        match &self.source {
            Source::Folder { folder, .. } => Some(folder.root()),
            Source::Memory { .. } => None,
        }
    }

    /// Returns the name of the folder, as it was given.
    pub(crate) fn folder_name(&self) -> Option<&str> {
        match &self.source {
            Source::Folder { name, .. } => Some(name),
            Source::Memory { .. } => None,
        }
    }

    pub(crate) fn prompt_files(&self) -> PromptFiles {
        match &self.source {
            Source::Folder { folder, .. } => PromptFiles::Folder(folder.clone()),
            Source::Memory { texts } => PromptFiles::Memory(texts.clone()),
        }
    }

    pub(crate) fn prompt(&self, path: &Path) -> Option<&PromptFile> {
        self.prompts.get(path)
    }

    /// Returns the names of all files that could be prompts.
    pub(crate) fn files(&self) -> impl Iterator<Item = &str> + Clone {
        self.files.iter().map(String::as_str)
    }

    pub(crate) fn agent_places(&self) -> &JsonPlaces {
        &self.agent_places
    }

    pub(crate) fn registry_places(&self) -> &JsonPlaces {
        &self.registry_places
    }
}
