//! Worktrees of a fleet, their base branch and the author of their commits.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_core::project::{create_folder, write_new_file};
use autonoe_process::ProcessRunner;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::git::{Git, Repository, output_text, text};
use super::{IsolationError, WorkLocation};

/// Default time limit of a git command.
const FIVE_MINUTES: Duration = Duration::from_secs(300);

/// Default time limit of waiting for another process that uses the worktrees.
const TEN_MINUTES: Duration = Duration::from_secs(600);

/// Creates git worktrees, one per agent of a fleet, and finds them again.
///
/// Each is on a branch of its own, `autonoe/{fleet}/{name}`. If an agent cannot be isolated, that
/// is an error: working in the repository itself must be requested explicitly. Git runs with the
/// environment of the given commands (it needs a `PATH`), without the configuration of the user,
/// without hooks, and without filters and other programs named in the settings of the repository:
/// filters such as that of Git LFS are disabled, and custom merge drivers are replaced by the text
/// merge. It fetches nothing and never prompts. It only uses the opened repository, and refuses a worktree whose file `.git` names another one.
///
/// One process at a time creates, merges and removes worktrees. It records each step before it
/// starts: the next process repairs a step that a kill interrupted. Worktrees of a project that was
/// moved or copied are found in their new location.
///
/// ```no_run
/// use std::path::Path;
///
/// use autonoe_harness::executor::Verification;
/// use autonoe_harness::isolation::{Author, IsolationError};
/// use autonoe_harness::Worktrees;
/// use autonoe_process::ProcessRunner;
///
/// # async fn example() -> Result<(), IsolationError> {
/// let commands = ProcessRunner::unconfined("/").env("PATH", "/usr/bin:/bin");
/// let repo = Path::new("/home/ada/shop");
/// let worktrees = Worktrees::open(repo, &repo.join(".harness/worktrees"), "login", commands).await?;
/// let base = worktrees.current_branch().await?;
///
/// let worktree = worktrees.create("one", &base).await?;
/// // An agent works in `worktree.folder()`.
/// let author = Author::default();
/// worktree.commit_all(&author, "Add a login page").await?;
/// let tests = |_folder| async { Verification::passed("the tests are green") };
/// worktree.merge_if(&author, tests).await?;
/// worktree.remove().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Worktrees {
    pub(super) git: Git,
    /// The work tree of the repository.
    pub(super) repo: PathBuf,
    /// The subfolder of the work tree in which agents work; empty for the root.
    pub(super) project_subfolder: PathBuf,
    pub(super) repository: Repository,
    /// The folder of all worktrees.
    pub(super) folder: PathBuf,
    pub(super) lock_timeout: Duration,
    pub(super) fleet: String,
    pub(super) run: Option<String>,
}

impl Worktrees {
    /// Opens the repository that contains `repo`, for worktrees below `folder`. `folder` is created
    /// if it is missing, and hidden from git. If `repo` is a subfolder of the repository, agents
    /// work in the same subfolder of their worktrees.
    ///
    /// # Errors
    ///
    /// There is no repository, or `fleet` is not a valid part of a name.
    pub async fn open(
        repo: &Path,
        folder: &Path,
        fleet: &str,
        commands: ProcessRunner,
    ) -> Result<Self, IsolationError> {
        check_name(fleet)?;
        let git = Git::new(commands, FIVE_MINUTES);
        let command = [
            "rev-parse",
            "--path-format=absolute",
            "--show-toplevel",
            "--git-dir",
            "--git-common-dir",
        ];
        let no_repository = |output| IsolationError::NoRepository {
            folder: repo.to_owned(),
            output,
        };
        if !repo.is_dir() {
            return Err(no_repository("it is not a folder".to_owned()));
        }
        let output = git.try_run(repo, &command).await?;
        let answer = super::git::text(&output.stdout);
        let lines: Vec<&str> = answer.lines().collect();
        let (true, [top, dir, common]) = (output.is_success(), lines.as_slice()) else {
            return Err(no_repository(output_text(&output)));
        };
        create_folder(folder).map_err(IsolationError::io(folder))?;
        let real = |path: &Path| path.canonicalize().map_err(IsolationError::io(path));
        let folder = real(folder)?;
        let ignored = folder.join(".gitignore");
        match write_new_file(&ignored, b"*\n") {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(IsolationError::io(ignored)(error));
            }
            _ => {}
        }
        let repository = Repository {
            top: real(Path::new(top))?,
            dir: real(Path::new(dir))?,
            common: real(Path::new(common))?,
        };
        let project = real(repo)?;
        let Ok(inside) = project.strip_prefix(&repository.top) else {
            let outside = format!("its work tree is {}", repository.top.display());
            return Err(no_repository(outside));
        };
        Ok(Self {
            git: git.for_repository(repository.clone()),
            project_subfolder: inside.to_owned(),
            repo: repository.top.clone(),
            repository,
            folder,
            lock_timeout: TEN_MINUTES,
            fleet: fleet.to_owned(),
            run: None,
        })
    }

    /// Sets the time limit of a git command; 5 minutes by default.
    #[must_use]
    pub fn git_timeout(mut self, time: Duration) -> Self {
        self.git = self.git.within(time);
        self
    }

    /// Sets how long to wait for one process that uses the worktrees; 10 minutes by default. The
    /// wait continues as long as the process changes.
    #[must_use]
    pub fn lock_timeout(mut self, time: Duration) -> Self {
        self.lock_timeout = time;
        self
    }

    /// Sets the run for which worktrees are created. A worktree of another run is not opened: it
    /// may contain kept work.
    #[must_use]
    pub fn for_run(mut self, run: impl Into<String>) -> Self {
        self.run = Some(run.into());
        self
    }

    /// Returns the folder of the repository.
    pub fn repo(&self) -> &Path {
        &self.repo
    }

    /// Returns the fleet of the worktrees.
    pub fn fleet(&self) -> &str {
        &self.fleet
    }

    /// Returns the location of a worktree, which need not exist.
    pub(crate) fn location(&self, name: &str) -> WorkLocation {
        WorkLocation {
            branch: format!("autonoe/{}/{name}", self.fleet),
            folder: self.folder.join(&self.fleet).join(name),
        }
    }

    /// Lists the names of the worktrees' git directories.
    pub(super) fn admin_names(&self) -> Vec<String> {
        let names = self.repository.admins().filter_map(|admin| {
            let name = admin.file_name()?.to_str()?;
            Some(name.to_owned())
        });
        names.collect()
    }
}

impl Worktrees {
    /// Returns the branch that is checked out in the repository.
    ///
    /// # Errors
    ///
    /// No branch is checked out.
    pub async fn current_branch(&self) -> Result<String, IsolationError> {
        let command = ["symbolic-ref", "--quiet", "--short", "HEAD"];
        let output = self.git.try_run(&self.repo, &command).await?;
        if output.is_success() {
            Ok(text(&output.stdout).trim().to_owned())
        } else {
            Err(IsolationError::Detached {
                folder: self.repo.clone(),
            })
        }
    }

    /// Checks whether worktrees can start at `base`, or at the [current
    /// branch](Self::current_branch) of the repository.
    ///
    /// # Errors
    ///
    /// No branch is checked out, or it has no commit. Or git ignores the project: no work there
    /// would ever be merged.
    pub async fn check_base(&self, base: Option<&str>) -> Result<(), IsolationError> {
        let branch = match base {
            Some(base) => base.to_owned(),
            None => self.current_branch().await?,
        };
        let commit = format!("refs/heads/{branch}^{{commit}}");
        let command = ["rev-parse", "--verify", "--quiet", &commit];
        if !self.git.try_run(&self.repo, &command).await?.is_success() {
            return Err(IsolationError::NoBranch { branch });
        }
        if self.project_subfolder.as_os_str().is_empty() {
            return Ok(());
        }
        let inside = self.project_subfolder.to_string_lossy();
        let command = ["check-ignore", "--quiet", "--", &inside];
        if self.git.try_run(&self.repo, &command).await?.is_success() {
            Err(IsolationError::Ignored {
                folder: self.repo.join(&self.project_subfolder),
            })
        } else {
            Ok(())
        }
    }
}

/// Author of the commits of an agent's work. The user's git configuration is ignored.
///
/// ```
/// use autonoe_harness::isolation::Author;
///
/// let author = Author::new("Autonoe", "autonoe@localhost");
///
/// assert_eq!(author, Author::default());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Author {
    /// The name.
    pub name: String,
    /// The email address.
    pub email: String,
}

impl Author {
    /// Creates an author from a name and an email address.
    pub fn new(name: impl Into<String>, email: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            email: email.into(),
        }
    }

    /// Returns the git options that set the author.
    #[doc(hidden)]
    pub fn settings(&self) -> [String; 4] {
        [
            "-c".to_owned(),
            format!("user.name={}", self.name),
            "-c".to_owned(),
            format!("user.email={}", self.email),
        ]
    }
}

impl Default for Author {
    fn default() -> Self {
        Self::new("Autonoe", "autonoe@localhost")
    }
}

/// Maximum length of a name in bytes. File names are limited to 255 bytes, and an exploration is
/// named after the member, the task and the approach.
const LONGEST_NAME: usize = 200;

/// Checks a name that becomes part of a branch and of a folder.
///
/// # Errors
///
/// It cannot be such a part on some system.
pub fn check_name(name: &str) -> Result<(), IsolationError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let reason = match name {
        "" => "it is empty",
        name if name.len() > LONGEST_NAME => "it is too long",
        name if !name.bytes().all(plain) => "it may only contain letters, digits, '-', '_' and '.'",
        name if name.starts_with(['-', '.']) => "it starts with '-' or '.'",
        name if name.ends_with('.') || name.ends_with(".lock") => "it ends with '.' or \".lock\"",
        name if name.contains("..") => "it has two dots in a row",
        _ => return Ok(()),
    };
    Err(IsolationError::InvalidName {
        name: name.to_owned(),
        reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        for (name, fits) in [
            ("a", true),
            ("T-1.b_2", true),
            ("", false),
            ("-a", false),
            (".a", false),
            ("a.", false),
            ("a.lock", false),
            ("a..b", false),
            ("a/b", false),
            ("a b", false),
            ("ä", false),
            ("a~1", false),
        ] {
            assert_eq!(check_name(name).is_ok(), fits, "{name:?}");
        }
        assert!(check_name(&"a".repeat(201)).is_err());
    }
}
