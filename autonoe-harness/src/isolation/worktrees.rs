//! The worktrees of a fleet.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_core::{create_folder, write_new_file};
use autonoe_process::Commands;

use super::git::{Git, words};
use super::locked::Listed;
use super::owner::{Process, Record, claim};
use super::programs::Programs;
use super::repository::Repository;
use super::step::Step;
use super::{IsolationError, WorkPlace, Worktree, name, project_folder};

/// How long git may take for anything, if nothing else is said.
const FIVE_MINUTES: Duration = Duration::from_secs(300);

/// How long one who is at the worktrees is waited for, if nothing else is said.
const TEN_MINUTES: Duration = Duration::from_secs(600);

/// Makes git worktrees, one for each agent of a fleet, and finds them again.
///
/// Each is on a branch of its own, `autonoe/{fleet}/{name}`. That an agent cannot be isolated is an
/// error: who wants it to work in the repository itself has to say so. Git is run with the
/// environment of the commands that are given (it needs a `PATH`), without the settings of the
/// user, without hooks, without filters and other programs that the settings of the repository name
/// ([`allow_programs`](Self::allow_programs) lets them), fetches nothing and never asks. It looks at
/// the repository that was opened, and refuses a worktree whose file `.git` says another.
///
/// Worktrees are made, merged and taken away by one process at a time, which writes down what it is
/// about to do: the next process repairs what a kill interrupted. Worktrees below a project that
/// was moved or copied are found where they are now.
///
/// ```no_run
/// use std::path::Path;
///
/// use autonoe_harness::{Author, IsolationError, Verification, Worktrees};
/// use autonoe_process::Commands;
///
/// # async fn example() -> Result<(), IsolationError> {
/// let commands = Commands::unconfined("/").env("PATH", "/usr/bin:/bin");
/// let repo = Path::new("/home/ada/shop");
/// let worktrees = Worktrees::open(repo, &repo.join(".harness/worktrees"), "login", commands).await?;
/// let base = worktrees.current_branch().await?;
///
/// let worktree = worktrees.create("one", &base).await?;
/// // An agent works in `worktree.folder()`.
/// let author = Author::default();
/// worktree.finish(&author, "Add a login page").await?;
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
    /// Where in the work tree agents work; empty for all of it.
    pub(super) inside: PathBuf,
    pub(super) repository: Repository,
    /// Where worktrees are made.
    pub(super) folder: PathBuf,
    pub(super) patience: Duration,
    fleet: String,
    run: Option<String>,
}

impl Worktrees {
    /// Looks at the repository that `repo` is in, for worktrees below `folder`, which is made if it
    /// is not there and ignored by git. If `repo` is a folder inside of the repository, agents work
    /// in the same folder of their worktrees.
    ///
    /// # Errors
    ///
    /// There is no repository, or `fleet` cannot be a part of names.
    pub async fn open(
        repo: &Path,
        folder: &Path,
        fleet: &str,
        commands: Commands,
    ) -> Result<Self, IsolationError> {
        name::check(fleet)?;
        let git = Git::new(commands, FIVE_MINUTES);
        let asked = [
            "rev-parse",
            "--path-format=absolute",
            "--show-toplevel",
            "--git-dir",
            "--git-common-dir",
        ];
        let no_repository = |said| IsolationError::NoRepository {
            folder: repo.to_owned(),
            said,
        };
        if !repo.is_dir() {
            return Err(no_repository("it is no folder".to_owned()));
        }
        let said = git.attempt(repo, &asked).await?;
        let answer = super::git::text(&said.stdout);
        let lines: Vec<&str> = answer.lines().collect();
        let (true, [top, dir, common]) = (said.is_success(), lines.as_slice()) else {
            return Err(no_repository(words(&said)));
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
            git: git.of(repository.clone()),
            inside: inside.to_owned(),
            repo: repository.top.clone(),
            repository,
            folder,
            patience: TEN_MINUTES,
            fleet: fleet.to_owned(),
            run: None,
        })
    }

    /// Sets how long git may take for anything; 5 minutes by default.
    #[must_use]
    pub fn within(mut self, time: Duration) -> Self {
        self.git = self.git.within(time);
        self
    }

    /// Sets how long one who is at the worktrees is waited for at most; 10 minutes by default. As
    /// long as one comes after the other, it is waited for.
    #[must_use]
    pub fn wait_at_most(mut self, time: Duration) -> Self {
        self.patience = time;
        self
    }

    /// Says for which run worktrees are made. One that was made for another run is not taken up: it
    /// may have work that was kept.
    #[must_use]
    pub fn for_run(mut self, run: impl Into<String>) -> Self {
        self.run = Some(run.into());
        self
    }

    /// Lets git run the programs that the settings of the repository name: filters such as that of
    /// Git LFS, and ways to merge. Whoever can write those settings, or a file that they name, can
    /// then have anything run: an agent often can. Without it filters are none, and what has a way
    /// of its own to be merged is merged as text.
    #[must_use]
    pub fn allow_programs(mut self) -> Self {
        self.git = self.git.with_programs(Programs::Allowed);
        self
    }

    /// Returns the folder of the repository.
    pub fn repo(&self) -> &Path {
        &self.repo
    }

    /// Returns the fleet whose worktrees they are.
    pub fn fleet(&self) -> &str {
        &self.fleet
    }

    /// Makes a worktree on a branch of its own that begins where the branch `base` is now.
    ///
    /// # Errors
    ///
    /// It cannot be made; then nothing of it is there. [`IsolationError::Exists`] if there is one of
    /// that name, or a branch: it may have work that nobody has taken yet.
    pub async fn create(&self, name: &str, base: &str) -> Result<Worktree, IsolationError> {
        name::check(name)?;
        let locked = self.lock().await?;
        let place = self.place_of(name);
        let at = locked.commit_of(base).await?;
        let at = at.ok_or_else(|| IsolationError::NoBranch {
            branch: base.to_owned(),
        })?;
        let is_taken = locked.commit_of(&place.branch).await?.is_some();
        if is_taken || place.folder.symlink_metadata().is_ok() {
            return Err(IsolationError::Exists(place));
        }
        let step = Step::Create {
            folder: place.folder.clone(),
            branch: place.branch.clone(),
            at: at.clone(),
            before: self.admin_names(),
        };
        step.begin(&self.folder)?;
        let record = Record {
            owner: Process::this(),
            fleet: self.fleet.clone(),
            name: name.to_owned(),
            branch: place.branch.clone(),
            base: base.to_owned(),
            run: self.run.clone(),
        };
        let made = locked.make(&place, &at, &record).await;
        let made = made.and_then(|made| {
            project_folder::make(&place.folder, &self.inside)?;
            Ok(made)
        });
        match made {
            Ok((admin, claim)) => {
                Step::end(&self.folder)?;
                let at = (place.folder, admin);
                Ok(Worktree::new(self.clone(), record, at, claim))
            }
            Err(error) => {
                locked.mend().await?;
                Err(error)
            }
        }
    }

    /// Takes up the worktree of `name` that somebody left who is gone or has let go of it; `None` if
    /// there is none.
    ///
    /// # Errors
    ///
    /// [`IsolationError::InUse`] if somebody works there, be it in this process.
    /// [`IsolationError::Exists`] if it was made for another [run](Self::for_run).
    pub async fn take_up(&self, name: &str) -> Result<Option<Worktree>, IsolationError> {
        name::check(name)?;
        let locked = self.lock().await?;
        let place = self.place_of(name);
        let is_listed = |list: Vec<Listed>| list.iter().any(|tree| tree.folder == place.folder);
        if !is_listed(locked.list().await?) && !locked.follow(name, &place)? {
            return Ok(None);
        }
        let admin = locked.admin_of(&place.folder)?;
        let Some(mut record) = Record::read(&admin)? else {
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
        locked.mend_worktree(&place, &admin).await?;
        record.owner = Process::this();
        record.write(&admin)?;
        let at = (place.folder, admin);
        Ok(Some(Worktree::new(self.clone(), record, at, claim)))
    }

    /// Says where the worktree of a name is, or would be.
    pub(crate) fn place_of(&self, name: &str) -> WorkPlace {
        WorkPlace {
            branch: format!("autonoe/{}/{name}", self.fleet),
            folder: self.folder.join(&self.fleet).join(name),
        }
    }

    /// Lists what git keeps about worktrees.
    pub(super) fn admin_names(&self) -> Vec<String> {
        let names = self.repository.admins().filter_map(|admin| {
            let name = admin.file_name()?.to_str()?;
            Some(name.to_owned())
        });
        names.collect()
    }
}
