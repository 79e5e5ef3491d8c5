//! The paths of a project that hooks and rules refer to.

use std::path::{Path, PathBuf};

use autonoe_security::PolicyScope;

use crate::domain::Mode;

/// The paths of a project: what guards, hooks and permission rules refer to.
///
/// The library never reads them from the environment: the caller that starts a run says where its
/// project and the user's home are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProjectPaths {
    /// The project: what `./` in a rule stands for. Absolute.
    pub project: PathBuf,
    /// A symlink to the project. Absolute and without `..`.
    ///
    /// A path through it counts as a path of the project while the link leads there.
    pub project_link: Option<PathBuf>,
    /// The user's home: what `~/` stands for. If it is unknown, a rule with `~` grants nothing, and one
    /// that denies blocks every call that it might concern.
    pub home: Option<PathBuf>,
}

impl ProjectPaths {
    /// Folders of a project that only Autonoe writes to: the state of runs and of fleets.
    pub const STATE_FOLDERS: [&str; 2] = [".autonoe", ".harness"];

    /// The directory beside the project that agents may write to.
    ///
    /// It is the same for all layers: the file scope guard, the grants of a run, the Bash policy and
    /// the sandboxes that backends configure.
    pub const TEMPORARY: &str = "/tmp";

    /// Returns whether `name` is the name of the folder in [`TEMPORARY`](Self::TEMPORARY) that holds
    /// the folders of sessions: `autonoe-UID`.
    ///
    /// Agents never write there: backends keep scripts and settings in it that their programs read.
    pub fn is_session_parent(name: &str) -> bool {
        autonoe_security::is_session_parent(name)
    }

    /// Takes `project` as the project, and no home.
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

    /// Sets the user's home.
    #[must_use]
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// Returns the scope of the Bash policy of a run in `mode`.
    pub fn policy_scope(&self, mode: Mode) -> PolicyScope {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        PolicyScope {
            mode,
            project_link: self.project_link.as_ref().map(text),
            home: self.home.as_ref().map(text),
            ..PolicyScope::new(text(&self.project))
        }
    }

    /// Returns `path`, which is absolute and normal, with the project in place of the link to it.
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
