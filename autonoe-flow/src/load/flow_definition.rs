//! [`FlowDefinition`]: a definition from files or from memory, and the places that use its prompts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use autonoe_core::project::ConfigFile;
use autonoe_core::project::config_parts::below;

use super::folder::{FlowFolder, PromptFiles};
use crate::definition::{Check, FlowAgent, PromptRef, StepId, StepsRegistry, VariableName};
use crate::prompt::Template;

/// A flow definition: `agent.json`, the steps, and facts about its prompts.
///
/// It may be inconsistent; [`validate`](crate::validate::validate) checks it.
#[derive(Debug)]
pub struct FlowDefinition {
    pub(super) agent: FlowAgent,
    pub(super) registry: StepsRegistry,
    pub(super) prompts: BTreeMap<PathBuf, PromptFile>,
    /// Names of all files that could be prompts, for hints.
    pub(super) files: BTreeSet<String>,
    pub(super) source: Source,
    /// The parsed files, for positions; `None` for definitions in memory.
    pub(super) agent_file: Option<ConfigFile>,
    pub(super) registry_file: Option<ConfigFile>,
}

/// Origin of a definition.
#[derive(Debug)]
pub(super) enum Source {
    Folder { folder: FlowFolder, name: String },
    Memory { texts: BTreeMap<PathBuf, String> },
}

/// Facts about the file of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PromptFile {
    /// The prompt can be used.
    Text {
        variables: BTreeSet<VariableName>,
        /// Whether it has text beside its variables.
        has_words: bool,
    },
    /// The file exists and cannot be used.
    Broken { problem: String, hint: String },
}

impl PromptFile {
    pub(super) fn from_text(text: &str) -> Self {
        let broken = |problem: &str, hint: &str| Self::Broken {
            problem: problem.to_owned(),
            hint: hint.to_owned(),
        };
        if text.trim().is_empty() {
            return broken("the file is blank", "write a prompt for the agent");
        }
        match Template::parse(text) {
            Ok(template) => Self::Text {
                variables: template.variables(),
                has_words: template.has_words(),
            },
            Err(error) => {
                let message = error.to_string();
                let (problem, hint) = message
                    .split_once("add the closing bracket")
                    .unwrap_or((&message, "close it"));
                broken(problem, hint)
            }
        }
    }
}

impl FlowDefinition {
    /// Creates a definition in memory, without prompts.
    ///
    /// ```
    /// use autonoe_flow::definition::{FlowAgent, StepsRegistry};
    /// use autonoe_flow::{FlowDefinition, validate};
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
            agent_file: None,
            registry_file: None,
        }
    }

    /// Adds a prompt to a definition in memory. A loaded definition stays unchanged.
    #[must_use]
    pub fn with_prompt(mut self, path: impl Into<PathBuf>, text: &str) -> Self {
        if let Source::Memory { texts } = &mut self.source {
            let path = path.into();
            self.files.insert(path.display().to_string());
            self.prompts
                .insert(path.clone(), PromptFile::from_text(text));
            texts.insert(path, text.to_owned());
        }
        self
    }

    /// Returns the content of `agent.json`.
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

    /// Returns the name of the folder, as the caller spelled it.
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

    pub(crate) fn agent_file(&self) -> Option<&ConfigFile> {
        self.agent_file.as_ref()
    }

    pub(crate) fn registry_file(&self) -> Option<&ConfigFile> {
        self.registry_file.as_ref()
    }
}

/// A place of a definition that uses a prompt.
#[derive(Clone, Debug)]
pub(crate) struct PromptUse {
    pub(crate) file: PromptUseFile,
    pub(crate) pointer: String,
    pub(crate) reference: PromptRef,
    /// The step whose variables fill it; `None` for the system prompt.
    pub(crate) step: Option<StepId>,
}

/// The file that uses the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PromptUseFile {
    Agent,
    Registry,
}

/// Returns every place that uses a prompt.
pub(crate) fn prompt_uses(agent: &FlowAgent, registry: &StepsRegistry) -> Vec<PromptUse> {
    let system = agent.behavior.system_prompt_path.as_ref();
    let mut uses: Vec<PromptUse> = system
        .map(|path| PromptUse {
            file: PromptUseFile::Agent,
            pointer: "/behavior/systemPromptPath".to_owned(),
            reference: PromptRef::path(path.clone()),
            step: None,
        })
        .into_iter()
        .collect();
    for (id, step) in &registry.steps {
        let Some(work) = step.work() else {
            continue;
        };
        let at = below("/steps", id.as_str());
        let mut add = |pointer: String, reference: &PromptRef| {
            uses.push(PromptUse {
                file: PromptUseFile::Registry,
                pointer,
                reference: reference.clone(),
                step: Some(id.clone()),
            });
        };
        if let Some(prompt) = &work.prompt {
            add(format!("{at}/prompt"), prompt);
        }
        if let Some(Check::Prompt(check)) = &work.check {
            add(format!("{at}/check/prompt"), &check.prompt);
        }
    }
    uses
}
