//! Instruction texts of agents: built-in ones and those of a project.

use std::path::{Path, PathBuf};

use async_trait::async_trait;

use crate::event::InstructionName;
use crate::project::{TextFileError, read_text_file};
use crate::run::{InstructionError, InstructionSource};

/// The four built-in instruction texts.
///
/// ```
/// use autonoe_core::event::InstructionName;
/// use autonoe_core::project::BuiltInInstructions;
/// use autonoe_core::run::InstructionSource;
///
/// # futures::executor::block_on(async {
/// let text = BuiltInInstructions.resolve(&InstructionName::Coding).await?;
///
/// assert!(text.contains("mcp__autonoe__set_status"));
/// # Ok::<(), autonoe_core::run::InstructionError>(())
/// # }).expect("it works");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltInInstructions;

impl BuiltInInstructions {
    /// Returns the text of `name`, or `None` for a custom instruction.
    pub fn text(name: &InstructionName) -> Option<&'static str> {
        match name {
            InstructionName::Initializer => Some(include_str!("initializer.md")),
            InstructionName::Coding => Some(include_str!("coding.md")),
            InstructionName::Sync => Some(include_str!("sync.md")),
            InstructionName::Verify => Some(include_str!("verify.md")),
            InstructionName::Custom(_) => None,
        }
    }
}

#[async_trait]
impl InstructionSource for BuiltInInstructions {
    async fn resolve(&self, name: &InstructionName) -> Result<String, InstructionError> {
        Self::text(name)
            .map(str::to_owned)
            .ok_or_else(|| InstructionError::new(name.clone(), "it has no built-in text"))
    }
}

/// The maximum size of a text, in bytes. A prompt of a megabyte is a wrong file.
const LARGEST: u64 = 1024 * 1024;

/// The texts in a project's `.autonoe` folder, or else the built-in ones.
///
/// `coding.md` there replaces the built-in text for `coding`, and so on. A custom instruction has
/// no built-in text and needs its file. Files are read anew each time. An existing file that cannot
/// be used is an error: a fallback would hide it.
///
/// ```
/// use autonoe_core::event::InstructionName;
/// use autonoe_core::project::ProjectInstructions;
/// use autonoe_core::run::InstructionSource;
///
/// # let project = tempfile::tempdir()?;
/// # let state_dir = project.path().to_owned();
/// std::fs::write(state_dir.join("coding.md"), "Write the tests first.")?;
///
/// # futures::executor::block_on(async {
/// let texts = ProjectInstructions::new(state_dir);
/// assert_eq!(texts.resolve(&InstructionName::Coding).await?, "Write the tests first.");
/// assert!(texts.resolve(&InstructionName::Sync).await?.contains("SPEC.md"));
/// # Ok::<(), autonoe_core::run::InstructionError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ProjectInstructions {
    dir: PathBuf,
}

/// The text of an instruction, and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InstructionText {
    /// The text.
    pub text: String,
    /// The origin of the text.
    pub origin: InstructionOrigin,
}

/// The origin of an instruction text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstructionOrigin {
    /// A built-in text.
    BuiltIn,
    /// A file of the project.
    File(PathBuf),
}

impl ProjectInstructions {
    /// Reads from the `.autonoe` folder at `dir`, which need not exist.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// Returns the text of an instruction with its origin.
    ///
    /// ```
    /// use autonoe_core::event::InstructionName;
    /// use autonoe_core::project::{InstructionOrigin, ProjectInstructions};
    ///
    /// # let dir = tempfile::tempdir()?;
    /// let texts = ProjectInstructions::new(dir.path().join(".autonoe"));
    ///
    /// let found = texts.find(&InstructionName::Coding)?;
    ///
    /// assert_eq!(found.origin, InstructionOrigin::BuiltIn);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// There is a file that cannot be used, or there is no text at all.
    pub fn find(&self, name: &InstructionName) -> Result<InstructionText, InstructionError> {
        self.text(name)
            .map_err(|reason| InstructionError::new(name.clone(), reason))
    }

    fn text(&self, name: &InstructionName) -> Result<InstructionText, String> {
        // A custom name must not lead out of the folder.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.as_str().is_empty() || !name.as_str().chars().all(is_plain) {
            return Err("its name is not a plain file name; use letters, digits, - and _".into());
        }
        let path = self.dir.join(format!("{name}.md"));
        let built_in = BuiltInInstructions::text(name);
        let found = read(&path).map_err(|problem| match built_in {
            Some(_) => format!("{problem}, or remove it to use the built-in text"),
            None => problem,
        })?;
        match (found, built_in) {
            (Some(text), _) => Ok(InstructionText {
                text,
                origin: InstructionOrigin::File(path),
            }),
            (None, Some(text)) => Ok(InstructionText {
                text: text.to_owned(),
                origin: InstructionOrigin::BuiltIn,
            }),
            (None, None) => Err(format!("there is no file {path:?}; write the text there")),
        }
    }
}

#[async_trait]
impl InstructionSource for ProjectInstructions {
    async fn resolve(&self, name: &InstructionName) -> Result<String, InstructionError> {
        Ok(self.find(name)?.text)
    }
}

/// Returns the text at `path`, `None` if there is no file, or a description of the problem.
fn read(path: &Path) -> Result<Option<String>, String> {
    match read_text_file(path, LARGEST) {
        Ok(Some(text)) if text.trim().is_empty() => {
            Err(format!("{path:?} is blank; write a text there"))
        }
        Ok(text) => Ok(text),
        Err(TextFileError::Refused { source, .. }) => Err(format!(
            "{path:?} cannot be read ({source}); check its owner and permissions"
        )),
        Err(error) => Err(error.to_string()),
    }
}
