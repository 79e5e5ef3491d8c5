//! The kind of run that a policy applies to.

use std::borrow::Cow;
use std::fmt;

use crate::check::path;

/// Mode of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Mode {
    /// Plan the deliverables, then implement them.
    #[default]
    Run,
    /// Bring the ledger in line with the specification, then verify the code
    /// against it. Writes no project file.
    Sync,
}

impl Mode {
    /// Returns whether this is [`Mode::Run`], the default.
    pub fn is_run(&self) -> bool {
        *self == Self::Run
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Run => "run",
            Self::Sync => "sync",
        })
    }
}

/// The run that a policy applies to: its mode and its directories.
///
/// The path of a project converts into its scope in run mode.
///
/// ```
/// use autonoe_security::{Mode, Policy, PolicyConfig, PolicyScope};
///
/// let run = Policy::new("/srv/shop", PolicyConfig::default())?;
/// let sync = PolicyScope {
///     mode: Mode::Sync,
///     ..PolicyScope::new("/srv/shop")
/// };
/// let sync = Policy::new(sync, PolicyConfig::default())?;
///
/// assert_eq!((run.mode(), sync.mode()), (Mode::Run, Mode::Sync));
/// # Ok::<(), autonoe_security::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyScope {
    /// The mode of the run.
    pub mode: Mode,
    /// The project directory, as an absolute path.
    pub project_dir: String,
    /// A symlink to the project, as an absolute path. Paths through it count as paths of the project.
    pub project_link: Option<String>,
    /// The home of the user, which contains credentials; a relative path is ignored. Homes in
    /// `/home`, `/Users` and `/root` are known without it.
    pub home: Option<String>,
}

impl PolicyScope {
    /// Returns the scope of a run in `project_dir`: run mode, no symlink to it, no home.
    pub fn new(project_dir: impl Into<String>) -> Self {
        Self {
            mode: Mode::default(),
            project_dir: project_dir.into(),
            project_link: None,
            home: None,
        }
    }

    /// Compares mode, project directory and home with those of `run`.
    ///
    /// A run without a known home matches a policy with any home.
    pub(crate) fn check(&self, run: &Self) -> Result<(), ScopeMismatch> {
        let is_same_dir = path::normalize(&self.project_dir) == path::normalize(&run.project_dir);
        let is_same_home = match run.known_home() {
            Some(home) => self.known_home() == Some(home),
            None => true,
        };
        if self.mode == run.mode && is_same_dir && is_same_home {
            return Ok(());
        }
        Err(ScopeMismatch {
            policy: self.clone(),
            run: run.clone(),
        })
    }

    /// Returns the home, normalized; `None` for a relative path.
    pub(super) fn known_home(&self) -> Option<Cow<'_, str>> {
        let home = self.home.as_deref().filter(|home| home.starts_with('/'));
        home.map(path::normalize)
    }
}

impl From<&str> for PolicyScope {
    fn from(project_dir: &str) -> Self {
        Self::new(project_dir)
    }
}

impl From<String> for PolicyScope {
    fn from(project_dir: String) -> Self {
        Self::new(project_dir)
    }
}

/// The error of using a policy for another run than it was built for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScopeMismatch {
    /// The run that the policy was built for.
    pub policy: PolicyScope,
    /// The actual run.
    pub run: PolicyScope,
}

impl fmt::Display for ScopeMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { policy, run } = self;
        write!(
            f,
            "the Bash policy is for mode {} in {:?} with {}, and the run has mode {} in {:?} with {}",
            policy.mode,
            policy.project_dir,
            home(policy),
            run.mode,
            run.project_dir,
            home(run)
        )
    }
}

fn home(scope: &PolicyScope) -> String {
    match scope.known_home() {
        Some(home) => format!("the home {home:?}"),
        None => "no home".to_owned(),
    }
}

impl std::error::Error for ScopeMismatch {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_fits_a_run_of_the_same_mode_directory_and_home() {
        let scope = |mode, dir: &str, home: Option<&str>| PolicyScope {
            mode,
            home: home.map(str::to_owned),
            ..PolicyScope::new(dir)
        };
        let run = scope(Mode::Sync, "/srv/shop", Some("/home/ada"));
        let homeless = scope(Mode::Sync, "/srv/shop", None);

        let same = scope(Mode::Sync, "/srv/./shop/", Some("/home/../home/ada/"));
        assert_eq!(same.check(&run), Ok(()));
        assert_eq!(same.check(&homeless), Ok(()));
        assert_eq!(homeless.check(&homeless), Ok(()));
        for other in [
            scope(Mode::Run, "/srv/shop", Some("/home/ada")),
            scope(Mode::Sync, "/srv/bank", Some("/home/ada")),
            scope(Mode::Sync, "/srv/shop", Some("/home/eve")),
            scope(Mode::Sync, "/srv/shop", Some("ada")),
            homeless,
        ] {
            assert!(other.check(&run).is_err(), "{other:?}");
        }
        assert_eq!(
            scope(Mode::Run, "/srv/shop", None)
                .check(&run)
                .expect_err("another mode and home")
                .to_string(),
            "the Bash policy is for mode run in \"/srv/shop\" with no home, and the run has mode sync \
             in \"/srv/shop\" with the home \"/home/ada\"",
        );
    }
}
