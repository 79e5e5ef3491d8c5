//! [`ProjectPaths`], the directories that guards, hooks and permission rules refer to.

use std::path::{Path, PathBuf};

use autonoe_security::PolicyScope;

use crate::time::Mode;

/// Directories of a project that guards, hooks and permission rules refer to.
///
/// The library never reads them from the environment: the caller that starts a run provides the
/// project directory and the home directory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProjectPaths {
    /// Project directory, which `./` in a rule refers to. Absolute.
    pub project: PathBuf,
    /// A symlink to the project. Absolute and without `..`.
    ///
    /// A path through the link counts as a path of the project while the link points to the
    /// project.
    pub project_link: Option<PathBuf>,
    /// Home directory of the user, which `~/` refers to. If it is unknown, a rule with `~` that
    /// grants has no effect, and a rule with `~` that denies blocks every call that it might apply
    /// to.
    pub home: Option<PathBuf>,
}

impl ProjectPaths {
    /// Directories of a project that only Autonoe writes to: the state of runs and of fleets.
    pub const STATE_FOLDERS: [&str; 2] = [".autonoe", ".harness"];

    /// Directory outside of the project that agents may write to.
    ///
    /// All layers use the same directory: the file scope guard, the grants of a run, the Bash
    /// policy and the sandboxes that backends configure.
    pub const TEMPORARY: &str = "/tmp";

    /// Returns whether `name` is the name of the parent directory of session directories in
    /// [`TEMPORARY`](Self::TEMPORARY): `autonoe-UID`.
    ///
    /// Agents may never write there, because it contains scripts and settings that the programs of
    /// backends read.
    pub fn is_session_parent(name: &str) -> bool {
        autonoe_security::is_sessions_folder(name)
    }

    /// Creates the paths of `project`, without a home directory.
    pub fn new(project: impl Into<PathBuf>) -> Self {
        Self {
            project: project.into(),
            project_link: None,
            home: None,
        }
    }

    /// Sets a symlink to the project.
    #[must_use]
    pub fn with_project_link(mut self, link: impl Into<PathBuf>) -> Self {
        self.project_link = Some(link.into());
        self
    }

    /// Sets the home directory of the user.
    #[must_use]
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// Returns the scope of the Bash policy for a run in `mode`.
    pub fn policy_scope(&self, mode: Mode) -> PolicyScope {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        PolicyScope {
            mode,
            project_link: self.project_link.as_ref().map(text),
            home: self.home.as_ref().map(text),
            ..PolicyScope::new(text(&self.project))
        }
    }

    /// Returns `path`, which must be absolute and normalised, with the project directory in place
    /// of the link to it.
    ///
    /// This changes only the text. The caller must also check the target of the link.
    pub(crate) fn without_link(&self, path: PathBuf) -> PathBuf {
        let below = |link: &PathBuf| path.strip_prefix(link).ok().map(Path::to_owned);
        match self.project_link.as_ref().and_then(below) {
            Some(below) => self.project.join(below),
            None => path,
        }
    }
}
