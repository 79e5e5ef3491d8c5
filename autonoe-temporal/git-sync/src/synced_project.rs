//! Project of a run on one of the hosts that synchronise it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_core::project::create_folder;
use autonoe_core::time::Epoch;
use autonoe_core::{Project, RunId};
use autonoe_process::ProcessRunner;

use crate::sync_refs::SYNC_REPO;
use crate::{SyncError, SyncRemote};
use autonoe_harness::isolation::{Git, IsolationError, Repository, check_name};

/// Time limit of a git command, and of waiting for another process in the same folder.
pub(crate) const TEN_MINUTES: Duration = Duration::from_secs(600);

/// Settings of the sync repository: files are committed as they are on disk, in the same way on
/// every host.
const SETTINGS: [(&str, &str); 6] = [
    ("core.excludesFile", "/dev/null"),
    ("core.attributesFile", "/dev/null"),
    ("core.autocrlf", "false"),
    ("push.recurseSubmodules", "no"),
    ("fetch.recurseSubmodules", "no"),
    ("advice.addEmbeddedRepo", "false"),
];

/// The project of one run, on one of the hosts that synchronise it as a git branch.
///
/// Hosts share nothing but a remote. The branch of the run, `autonoe/{run}`, starts at the branch
/// `base`, which is never written to. A host [takes over](Self::take_over) the run with an epoch that is
/// higher than all before it on the branch, and [publishes](Self::publish) its work there. Both are
/// pushes that the remote only accepts if the branch is where this host saw it: of two hosts one
/// succeeds, and one that was overtaken never does. Work that exists only on this host is kept
/// under a ref of its own before it is replaced.
///
/// Everything in the project that git does not ignore is synchronised. Of `.autonoe`, the ledger
/// and the journal are synchronised even if git ignores them; locks and temporary files never are.
/// Commits that agents make in the project are synchronised, too. Not synchronised are: empty
/// folders, permissions except the executable bit, staged but uncommitted changes, other branches
/// and stashes of agents, and files that Git LFS stores elsewhere. A nested repository is refused.
///
/// The folder `home` contains the project, `project`, and `sync.git`, with our settings, which
/// sandboxed agents cannot write to. Nothing in the project is ever executed.
///
/// ```no_run
/// use std::path::Path;
///
/// use autonoe_core::time::Epoch;
/// use autonoe_core::RunId;
/// use autonoe_git_sync::{SyncError, SyncRemote, SyncedProject};
/// use autonoe_process::ProcessRunner;
///
/// # async fn example() -> Result<(), SyncError> {
/// let commands = ProcessRunner::unconfined("/").env("PATH", "/usr/bin:/bin");
/// let remote = SyncRemote::new("git@git.example.org:shop.git")?;
/// let home = Path::new("/var/lib/autonoe/login");
/// let run = RunId::new("login");
/// let synced_project = SyncedProject::open(home, remote, "main", &run, commands)?;
///
/// let epoch = Epoch(1);
/// synced_project.take_over(epoch).await?;
/// // An agent works in `synced_project.project()`.
/// synced_project.publish(epoch, Some(1)).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SyncedProject {
    pub(crate) git: Git,
    pub(crate) bare_git: Git,
    pub(crate) remote: SyncRemote,
    pub(crate) run: RunId,
    pub(crate) base: String,
    pub(crate) branch: String,
    pub(crate) home: PathBuf,
    pub(crate) project: Project,
    /// The `SPEC.md` of a task.
    pub(crate) task_specification: Option<String>,
}

impl SyncedProject {
    /// Opens the folder of a run on this host. Missing folders are created. Nothing is fetched yet.
    ///
    /// Git runs with the environment of `commands`, which needs a `PATH`.
    ///
    /// # Errors
    ///
    /// `run` or `base` is not a valid part of a name, or `home` cannot be used.
    pub fn open(
        home: &Path,
        remote: SyncRemote,
        base: &str,
        run: &RunId,
        commands: ProcessRunner,
    ) -> Result<Self, SyncError> {
        check_name(run.as_str())?;
        for part in base.split('/') {
            check_name(part)?;
        }
        let folder = home.join("project");
        create_folder(&folder).map_err(IsolationError::io(&folder))?;
        let home = home.canonicalize().map_err(IsolationError::io(home))?;
        let project = Project::find(&home, Some(Path::new("project")))?;
        let sync_dir = home.join(SYNC_REPO);
        let repository = Repository {
            top: project.root().to_owned(),
            dir: sync_dir.clone(),
            common: sync_dir,
        };
        let settings = SETTINGS.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let git = Git::new(commands, TEN_MINUTES);
        Ok(Self {
            git: git
                .clone()
                .for_repository(repository)
                .with_settings(&settings),
            bare_git: git,
            remote,
            run: run.clone(),
            base: base.to_owned(),
            branch: format!("autonoe/{run}"),
            home,
            project,
            task_specification: None,
        })
    }

    /// Returns the project on this host.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Returns the run.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Brings the project to the current state of the run: the last commit of its branch, or that
    /// of the base if there is no branch yet. Returns the highest epoch on the branch.
    ///
    /// Work of this host that is not there, and not on top of it, is kept under a
    /// ref in `sync.git`.
    ///
    /// # Errors
    ///
    /// The remote is unreachable, a session is running in the project, or the branch has foreign
    /// commits.
    pub async fn checkout(&self) -> Result<Option<Epoch>, SyncError> {
        let sync_repo = self.sync_repo().await?;
        let seen = sync_repo.fetch_state().await?;
        let trailer = sync_repo.branch_trailer(&seen, None).await?;
        sync_repo.checkout(&seen, trailer.as_ref()).await?;
        Ok(trailer.map(|trailer| trailer.epoch))
    }

    /// Takes over the run with an epoch: from now on no host with a lower epoch can publish. The
    /// project is brought to the current state of the run. Taking over again with the same epoch
    /// does nothing.
    ///
    /// # Errors
    ///
    /// [`SyncError::Overtaken`] if the branch has a higher epoch, or the same epoch of another
    /// host; otherwise as for `arrive`.
    pub async fn take_over(&self, epoch: Epoch) -> Result<(), SyncError> {
        self.sync_repo().await?.take_over(epoch).await
    }

    /// Publishes everything in the project, under the epoch with which the run was taken over.
    /// Nothing is pushed if everything is published already.
    ///
    /// # Errors
    ///
    /// [`SyncError::Overtaken`] if another host has taken over; [`SyncError::Foreign`] if
    /// someone else has pushed. Then the remote and the project are unchanged. If the remote is
    /// unreachable, the next call publishes everything.
    pub async fn publish(&self, epoch: Epoch, session: Option<u32>) -> Result<(), SyncError> {
        self.sync_repo().await?.publish(epoch, session).await
    }

    /// Returns the highest epoch on the branch of the run, without changing the project.
    ///
    /// # Errors
    ///
    /// The remote is unreachable, or the branch has foreign commits.
    pub async fn epoch(&self) -> Result<Option<Epoch>, SyncError> {
        let sync_repo = self.sync_repo().await?;
        let seen = sync_repo.fetch_state().await?;
        let trailer = sync_repo.branch_trailer(&seen, None).await?;
        Ok(trailer.map(|trailer| trailer.epoch))
    }

    /// Returns whether this host was the last to take over the run, as far as it knows.
    ///
    /// # Errors
    ///
    /// The local state cannot be read.
    pub async fn owns_run(&self) -> Result<bool, SyncError> {
        self.sync_repo().await?.owns_run().await
    }

    /// Checks that no host has taken over since an epoch.
    pub(crate) async fn check(&self, epoch: Epoch) -> Result<(), SyncError> {
        let sync_repo = self.sync_repo().await?;
        let seen = sync_repo.fetch_state().await?;
        sync_repo.branch_trailer(&seen, Some(epoch)).await.map(drop)
    }

    pub(crate) fn sync_repo_dir(&self) -> PathBuf {
        self.home.join(SYNC_REPO)
    }
}
