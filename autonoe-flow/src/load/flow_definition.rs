//! [`FlowDefinition`]: a definition from files or from memory, its folder, and the places that use its
//! prompts.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};

use autonoe_core::project::config_parts::below;
use autonoe_core::project::{ConfigFile, TextFileError, read_text_file};

use crate::definition::{Check, FlowAgent, PromptRef, StepId, StepsRegistry, VariableName};
use crate::error::{FlowError, FlowErrorKind};
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
    pub(super) prompt_files: PromptFiles,
    /// The name of the folder, as the caller spelled it.
    pub(super) folder_name: Option<String>,
    /// The parsed files, for positions; `None` for definitions in memory.
    pub(super) agent_file: Option<ConfigFile>,
    pub(super) registry_file: Option<ConfigFile>,
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
        let broken = |problem: String, hint: &str| Self::Broken {
            problem,
            hint: hint.to_owned(),
        };
        if text.trim().is_empty() {
            return broken(
                "the file is blank".to_owned(),
                "write a prompt for the agent",
            );
        }
        match Template::parse(text) {
            Ok(template) => Self::Text {
                variables: template.variables(),
                has_words: template.has_words(),
            },
            Err(error) => broken(error.to_string(), "close it"),
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
            prompt_files: PromptFiles::Memory(BTreeMap::new()),
            folder_name: None,
            agent_file: None,
            registry_file: None,
        }
    }

    /// Adds a prompt to a definition in memory. A loaded definition stays unchanged.
    #[must_use]
    pub fn with_prompt(mut self, path: impl Into<PathBuf>, text: &str) -> Self {
        if let PromptFiles::Memory(texts) = &mut self.prompt_files {
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
        match &self.prompt_files {
            PromptFiles::Folder(folder) => Some(folder.root()),
            PromptFiles::Memory(_) => None,
        }
    }

    /// Returns the name of the folder, as the caller spelled it.
    pub(crate) fn folder_name(&self) -> Option<&str> {
        self.folder_name.as_deref()
    }

    pub(crate) fn prompt_files(&self) -> &PromptFiles {
        &self.prompt_files
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

/// Maximum size of a file. A larger prompt or definition is most likely the wrong file.
const LARGEST: u64 = 1024 * 1024;

/// A folder whose files can be read, and no file outside of it.
#[derive(Clone, Debug)]
pub(crate) struct FlowFolder {
    /// Canonical, so that other paths can be compared with it.
    root: PathBuf,
}

/// Error of reading a file in the folder.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FolderError {
    /// The path leaves the folder, by itself or through a symlink.
    #[error("{0:?} is outside the folder of the flow")]
    Outside(PathBuf),
    /// The file is unusable.
    #[error(transparent)]
    File(#[from] TextFileError),
    /// The operating system refused access.
    #[error("cannot read {0:?}")]
    Refused(PathBuf, #[source] io::Error),
}

impl FlowFolder {
    /// Opens the folder at `dir`.
    pub(crate) fn open(dir: &Path) -> io::Result<Self> {
        let root = dir.canonicalize()?;
        if root.is_dir() {
            Ok(Self { root })
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// Returns the canonical path of the folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the text of the file at `path`, relative to the folder, or `None` if it does not
    /// exist.
    pub(crate) fn read(&self, path: &Path) -> Result<Option<String>, FolderError> {
        let is_inside = path
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !is_inside {
            return Err(FolderError::Outside(path.to_owned()));
        }
        let joined = self.root.join(path);
        let real = match joined.canonicalize() {
            Ok(real) => real,
            // A dangling symlink is reported as such, and not followed further.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return if joined.is_symlink() {
                    Ok(read_text_file(&joined, LARGEST)?)
                } else {
                    Ok(None)
                };
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(None),
            Err(error) => return Err(FolderError::Refused(path.to_owned(), error)),
        };
        if real.starts_with(&self.root) {
            Ok(read_text_file(&real, LARGEST)?)
        } else {
            Err(FolderError::Outside(path.to_owned()))
        }
    }
}

/// The source of prompt files.
#[derive(Clone, Debug)]
pub(crate) enum PromptFiles {
    Folder(FlowFolder),
    Memory(BTreeMap<PathBuf, String>),
}

impl PromptFiles {
    /// Returns the text of a prompt, or `None` if it does not exist.
    pub(crate) fn read(&self, path: &Path) -> Result<Option<String>, FlowError> {
        match self {
            Self::Memory(files) => Ok(files.get(path).cloned()),
            Self::Folder(folder) => folder.read(path).map_err(|error| {
                let message = format!("cannot use the prompt {}", path.display());
                FlowError::new(FlowErrorKind::PromptParse, message).with_cause(error)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn reads_a_file_in_the_folder_and_returns_none_if_missing() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join("prompts")).expect("writable");
        fs::write(dir.path().join("prompts/a.md"), "text").expect("writable");
        let folder = FlowFolder::open(dir.path()).expect("it is there");

        let read = folder.read(Path::new("./prompts/a.md")).expect("readable");
        let nothing = folder.read(Path::new("prompts/b.md")).expect("nothing");
        let below_a_file = folder.read(Path::new("prompts/a.md/b")).expect("nothing");

        assert_eq!(read.as_deref(), Some("text"));
        assert_eq!((nothing, below_a_file), (None, None));
    }

    #[test]
    fn a_path_upwards_or_from_the_root_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = FlowFolder::open(dir.path()).expect("it is there");

        for path in ["../x", "a/../../x", "/etc/passwd", "a/.."] {
            let refused = folder.read(Path::new(path));

            let is_outside = matches!(refused, Err(FolderError::Outside(_)));
            assert!(is_outside, "{path}: {refused:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_symlink_can_point_inside_the_folder_but_not_outside() {
        use std::os::unix::fs::symlink;

        let outer = tempfile::tempdir().expect("a folder");
        fs::write(outer.path().join("secret"), "secret").expect("writable");
        let dir = outer.path().join("flow");
        fs::create_dir(&dir).expect("writable");
        fs::write(dir.join("a.md"), "text").expect("writable");
        symlink("a.md", dir.join("inside.md")).expect("writable");
        symlink("../secret", dir.join("outside.md")).expect("writable");
        symlink("..", dir.join("up")).expect("writable");
        symlink("gone", dir.join("broken.md")).expect("writable");
        // The folder itself may be reached through a symlink.
        symlink(&dir, outer.path().join("link")).expect("writable");
        let folder = FlowFolder::open(&outer.path().join("link")).expect("it is there");

        let inside = folder.read(Path::new("inside.md")).expect("readable");
        let outside = folder.read(Path::new("outside.md"));
        let parent = folder.read(Path::new("up/secret"));
        let broken = folder.read(Path::new("broken.md"));

        assert_eq!(inside.as_deref(), Some("text"));
        assert!(matches!(outside, Err(FolderError::Outside(_))));
        assert!(matches!(parent, Err(FolderError::Outside(_))));
        assert!(matches!(broken, Err(FolderError::File(_))), "{broken:?}");
    }
}
