//! Worktrees of a fleet.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_core::project::{create_folder, write_new_file};
use autonoe_process::ProcessRunner;

use super::git::{Git, output_text};
use super::locked::ListedWorktree;
use super::owner::{OwnerRecord, Process, claim};
use super::programs::Programs;
use super::repository::Repository;
use super::step::WorktreeOperation;
use super::{IsolationError, WorkLocation, Worktree, name, project_folder};

/// Default time limit of a git command.
const FIVE_MINUTES: Duration = Duration::from_secs(300);

/// Default time limit of waiting for another process that uses the worktrees.
const TEN_MINUTES: Duration = Duration::from_secs(600);

/// Creates git worktrees, one per agent of a fleet, and finds them again.
///
/// Each is on a branch of its own, `autonoe/{fleet}/{name}`. If an agent cannot be isolated, that
/// is an error: working in the repository itself must be requested explicitly. Git runs with the
/// environment of the given commands (it needs a `PATH`), without the configuration of the user,
/// without hooks, and without filters and other programs named in the settings of the repository
/// ([`allow_programs`](Self::allow_programs) enables them). It fetches nothing and never prompts.
/// It only uses the opened repository, and refuses a worktree whose file `.git` names another one.
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
    pub(super) patience: Duration,
    fleet: String,
    run: Option<String>,
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
        name::check(fleet)?;
        let git = Git::new(commands, FIVE_MINUTES);
        let command = [
            "rev-parse",
            "--path-format=absolute",
            "--show-toplevel",
            "--git-dir",
            "--git-common-dir",
        ];
        let no_repository = |said| IsolationError::NoRepository {
            folder: repo.to_owned(),
            output: said,
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
            patience: TEN_MINUTES,
            fleet: fleet.to_owned(),
            run: None,
        })
    }

    /// Sets the time limit of a git command; 5 minutes by default.
    #[must_use]
    pub fn within(mut self, time: Duration) -> Self {
        self.git = self.git.within(time);
        self
    }

    /// Sets how long to wait for one process that uses the worktrees; 10 minutes by default. The
    /// wait continues as long as the process changes.
    #[must_use]
    pub fn lock_timeout(mut self, time: Duration) -> Self {
        self.patience = time;
        self
    }

    /// Sets the run for which worktrees are created. A worktree of another run is not opened: it
    /// may contain kept work.
    #[must_use]
    pub fn for_run(mut self, run: impl Into<String>) -> Self {
        self.run = Some(run.into());
        self
    }

    /// Lets git run the programs named in the settings of the repository: filters such as that of
    /// Git LFS, and merge drivers. Anyone who can write those settings, or a file that they name,
    /// can then run arbitrary programs, and an agent often can. Without it, filters are disabled
    /// and custom merge drivers are replaced by the text merge.
    #[must_use]
    pub fn allow_programs(mut self) -> Self {
        self.git = self.git.with_programs(Programs::Allowed);
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

    /// Creates a worktree on a branch of its own, starting at the current commit of the branch
    /// `base`.
    ///
    /// # Errors
    ///
    /// It cannot be created; then nothing of it is left. [`IsolationError::Exists`] if there is a
    /// worktree or a branch of that name: it may contain unmerged work.
    pub async fn create(&self, name: &str, base: &str) -> Result<Worktree, IsolationError> {
        name::check(name)?;
        let locked = self.lock().await?;
        let place = self.location(name);
        let at = locked.commit_of(base).await?;
        let at = at.ok_or_else(|| IsolationError::NoBranch {
            branch: base.to_owned(),
        })?;
        let is_taken = locked.commit_of(&place.branch).await?.is_some();
        if is_taken || place.folder.symlink_metadata().is_ok() {
            return Err(IsolationError::Exists(place));
        }
        let step = WorktreeOperation::Create {
            folder: place.folder.clone(),
            branch: place.branch.clone(),
            at: at.clone(),
            before: self.admin_names(),
        };
        step.begin(&self.folder)?;
        let record = OwnerRecord {
            owner: Process::current(),
            fleet: self.fleet.clone(),
            name: name.to_owned(),
            branch: place.branch.clone(),
            base: base.to_owned(),
            run: self.run.clone(),
        };
        let made = locked.create_worktree(&place, &at, &record).await;
        let made = made.and_then(|made| {
            project_folder::make(&place.folder, &self.project_subfolder)?;
            Ok(made)
        });
        match made {
            Ok((admin, claim)) => {
                WorktreeOperation::end(&self.folder)?;
                let at = (place.folder, admin);
                Ok(Worktree::new(self.clone(), record, at, claim))
            }
            Err(error) => {
                locked.repair().await?;
                Err(error)
            }
        }
    }

    /// Opens the existing worktree `name`, if its previous owner is gone or has released it; `None`
    /// if there is none.
    ///
    /// # Errors
    ///
    /// [`IsolationError::InUse`] if it is claimed, even by this process. [`IsolationError::Exists`]
    /// if it was created for another [run](Self::for_run).
    pub async fn open_existing(&self, name: &str) -> Result<Option<Worktree>, IsolationError> {
        name::check(name)?;
        let locked = self.lock().await?;
        let place = self.location(name);
        let is_listed =
            |list: Vec<ListedWorktree>| list.iter().any(|tree| tree.folder == place.folder);
        if !is_listed(locked.list().await?) && !locked.relocate(name, &place)? {
            return Ok(None);
        }
        let admin = locked.admin_of(&place.folder)?;
        let Some(mut record) = OwnerRecord::read(&admin)? else {
            return Err(IsolationError::Exists(place));
        };
        let Some(claim) = claim(&admin)? else {
            let pid = record.owner.pid;
            return Err(IsolationError::InUse { pid, place });
        };
        let is_of_another = record
            .run
            .as_ref()
            .zip(self.run.as_ref())
            .is_some_and(|(its, ours)| its != ours);
        if is_of_another {
            return Err(IsolationError::Exists(place));
        }
        locked.repair_worktree(&place, &admin).await?;
        record.owner = Process::current();
        record.write(&admin)?;
        let at = (place.folder, admin);
        Ok(Some(Worktree::new(self.clone(), record, at, claim)))
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
