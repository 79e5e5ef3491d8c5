//! The directories that rules speak of.

use std::path::PathBuf;

/// The directories that guards and permission rules speak of.
///
/// The library never asks the environment for them: who starts a run says
/// where its project and the user's home are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Places {
    /// The project: what `./` in a rule stands for. Absolute.
    pub project: PathBuf,
    /// The user's home: what `~/` stands for. Unknown means that rules with `~` match nothing.
    pub home: Option<PathBuf>,
    /// Directories beside the project that may be written to.
    pub temporary: Vec<PathBuf>,
}

impl Places {
    /// Takes `project` as the project, no home, and `/tmp` as the place for temporary files.
    pub fn new(project: impl Into<PathBuf>) -> Self {
        Self {
            project: project.into(),
            home: None,
            temporary: vec![PathBuf::from("/tmp")],
        }
    }

    /// Sets the user's home.
    #[must_use]
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// Replaces the places for temporary files.
    #[must_use]
    pub fn with_temporary(mut self, temporary: impl IntoIterator<Item = PathBuf>) -> Self {
        self.temporary = temporary.into_iter().collect();
        self
    }
}
