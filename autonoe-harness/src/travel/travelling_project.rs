//! A project on one of the hosts that it travels between.

use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_core::{Epoch, Project, RunId, create_folder};
use autonoe_process::Commands;

use super::{TravelError, TravelRemote, steps};
use crate::isolation::{Git, Repository, check_name};
use crate::{Author, IsolationError};

/// How long git may take for anything, if nothing else is said.
const TEN_MINUTES: Duration = Duration::from_secs(600);

/// Settings that hold for the courier: what is on disk is what travels, on every host the same.
const SETTINGS: [(&str, &str); 6] = [
    ("core.excludesFile", "/dev/null"),
    ("core.attributesFile", "/dev/null"),
    ("core.autocrlf", "false"),
    ("push.recurseSubmodules", "no"),
    ("fetch.recurseSubmodules", "no"),
    ("advice.addEmbeddedRepo", "false"),
];

/// The project of one run, on one of the hosts that it travels between as a branch of git.
///
/// Hosts share nothing but a remote. The branch of the run, `autonoe/{run}`, begins at the branch
/// `base`, which is never written to. A host [takes](Self::take) the run over with an epoch that is
/// higher than all before it on the branch, and [publishes](Self::publish) what was done there. Both
/// are pushes that the remote takes only if the branch is where this host saw it: of two hosts one
/// comes through, and one that was overtaken never does. What a host has that nobody else has is
/// kept under a name of its own before anything takes its place.
///
/// What travels is all of the project that git does not ignore, and of `.autonoe` the ledger and the
/// journal also where git ignores them; never locks and temporary files. Commits that agents make in
/// the project travel, too. What does not: empty folders, permissions but for the executable bit,
/// what is staged and not committed, other branches and stashes of agents, files that Git LFS keeps
/// elsewhere. A repository inside of the project is refused.
///
/// In the folder `home` are the project, `project`, and what agents cannot write to if they have a
/// sandbox: `courier.git`, whose settings are ours. Nothing that stands in the project runs.
///
/// ```no_run
/// use std::path::Path;
///
/// use autonoe_core::{Epoch, RunId};
/// use autonoe_harness::{TravelError, TravelRemote, TravellingProject};
/// use autonoe_process::Commands;
///
/// # async fn example() -> Result<(), TravelError> {
/// let commands = Commands::unconfined("/").env("PATH", "/usr/bin:/bin");
/// let remote = TravelRemote::new("git@git.example.org:shop.git")?;
/// let home = Path::new("/var/lib/autonoe/login");
/// let run = RunId::new("login");
/// let travels = TravellingProject::open(home, remote, "main", &run, commands)?;
///
/// let epoch = Epoch(1);
/// travels.take(epoch).await?;
/// // An agent works in `travels.project()`.
/// travels.publish(epoch, Some(1)).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct TravellingProject {
    pub(super) git: Git,
    pub(super) bare_git: Git,
    pub(super) remote: TravelRemote,
    pub(super) run: RunId,
    pub(super) base: String,
    pub(super) branch: String,
    pub(super) home: PathBuf,
    pub(super) project: Project,
    pub(super) author: Author,
    pub(super) patience: Duration,
}

/// Work of this host that is not on the branch of the run, and is kept here.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptWork {
    /// Its name in the repository `courier.git` of the host.
    pub name: String,
    /// The commit that has it.
    pub commit: String,
}

impl TravellingProject {
    /// Opens the place of a run on this host; folders that are not there are made. Nothing is
    /// fetched yet.
    ///
    /// Git is run with the environment of `commands`, which needs a `PATH`.
    ///
    /// # Errors
    ///
    /// `run` or `base` cannot be part of a name, or `home` cannot be used.
    pub fn open(
        home: &Path,
        remote: TravelRemote,
        base: &str,
        run: &RunId,
        commands: Commands,
    ) -> Result<Self, TravelError> {
        check_name(run.as_str())?;
        for part in base.split('/') {
            check_name(part)?;
        }
        let folder = home.join("project");
        create_folder(&folder).map_err(IsolationError::io(&folder))?;
        let home = home.canonicalize().map_err(IsolationError::io(home))?;
        let project = Project::find(&home, Some(Path::new("project")))?;
        let courier = home.join("courier.git");
        let repository = Repository {
            top: project.root().to_owned(),
            dir: courier.clone(),
            common: courier,
        };
        let settings = SETTINGS.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let git = Git::new(commands, TEN_MINUTES);
        Ok(Self {
            git: git.clone().of(repository).with_settings(&settings),
            bare_git: git,
            remote,
            run: run.clone(),
            base: base.to_owned(),
            branch: format!("autonoe/{run}"),
            home,
            project,
            author: Author::default(),
            patience: TEN_MINUTES,
        })
    }

    /// Sets how long git may take for anything, a push or a fetch for example; 10 minutes by default.
    #[must_use]
    pub fn within(mut self, time: Duration) -> Self {
        self.git = self.git.within(time);
        self.bare_git = self.bare_git.within(time);
        self
    }

    /// Sets in whose name commits are made.
    #[must_use]
    pub fn author(mut self, author: Author) -> Self {
        self.author = author;
        self
    }

    /// Returns the project on this host.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Returns the run.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Returns the branch of the run on the remote.
    pub fn branch(&self) -> &str {
        &self.branch
    }

    /// Brings the project to where the run is: the end of its branch, or that of the base if there is
    /// no branch yet. Returns the highest epoch that was seen there.
    ///
    /// What this host has that is not there, and is not on top of it, is [kept](Self::kept).
    ///
    /// # Errors
    ///
    /// The remote is away, somebody works in the project, or the branch has work of others.
    pub async fn arrive(&self) -> Result<Option<Epoch>, TravelError> {
        let courier = self.courier().await?;
        let seen = courier.see().await?;
        let standing = courier.standing(&seen, None).await?;
        courier.arrive(&seen, standing.as_ref()).await?;
        Ok(standing.map(|stamp| stamp.epoch))
    }

    /// Takes the run over with an epoch: from now on nobody with a lower one can publish. The project
    /// is brought to where the run is. Taking it again with the same epoch does nothing.
    ///
    /// # Errors
    ///
    /// [`TravelError::Overtaken`] if the branch has a higher epoch, or the same of another host; else
    /// as for [`arrive`](Self::arrive).
    pub async fn take(&self, epoch: Epoch) -> Result<(), TravelError> {
        self.courier().await?.take(epoch).await
    }

    /// Publishes all that is in the project, under the epoch with which the run was taken over.
    /// Nothing is pushed if all is there already.
    ///
    /// # Errors
    ///
    /// [`TravelError::Overtaken`] if another host has taken over; [`TravelError::Foreign`] if somebody
    /// else has pushed. Then the remote is as it was, and so is the project. If the remote is away,
    /// the next one carries all.
    pub async fn publish(&self, epoch: Epoch, session: Option<u32>) -> Result<(), TravelError> {
        self.courier().await?.publish(epoch, session).await
    }

    /// Returns the highest epoch on the branch of the run, without a change to the project.
    ///
    /// # Errors
    ///
    /// The remote is away, or the branch has work of others.
    pub async fn epoch(&self) -> Result<Option<Epoch>, TravelError> {
        let courier = self.courier().await?;
        let seen = courier.see().await?;
        let standing = courier.standing(&seen, None).await?;
        Ok(standing.map(|stamp| stamp.epoch))
    }

    /// Tells whether this host was the last to take the run over, by all that it has seen.
    ///
    /// # Errors
    ///
    /// What is kept here cannot be read.
    pub async fn has_the_run(&self) -> Result<bool, TravelError> {
        self.courier().await?.has_the_run().await
    }

    /// Lists work of this host that is not on the branch of the run. It stays until somebody deletes
    /// the names.
    ///
    /// # Errors
    ///
    /// Git cannot be run.
    pub async fn kept(&self) -> Result<Vec<KeptWork>, TravelError> {
        let courier = self.courier().await?;
        let list = [
            "for-each-ref",
            "--format=%(refname) %(objectname)",
            steps::KEPT,
        ];
        let list = courier.ask(&list).await?;
        let kept = list.lines().filter_map(|line| {
            let (name, commit) = line.split_once(' ')?;
            Some(KeptWork {
                name: name.to_owned(),
                commit: commit.to_owned(),
            })
        });
        Ok(kept.collect())
    }

    /// Makes sure that nobody has taken over from an epoch.
    pub(super) async fn check(&self, epoch: Epoch) -> Result<(), TravelError> {
        let courier = self.courier().await?;
        let seen = courier.see().await?;
        courier.standing(&seen, Some(epoch)).await.map(drop)
    }

    pub(super) fn courier_dir(&self) -> PathBuf {
        self.home.join("courier.git")
    }
}
