//! Branch of a remote that collects the work of several runs.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_core::project::create_folder;
use autonoe_process::ProcessRunner;

use crate::remote_state::is_ancestor;
use crate::sync_refs::SYNC_REPO;
use crate::synced_project::TEN_MINUTES;
use crate::task_start::RUN_FILES;
use crate::{SyncError, SyncRemote};
use autonoe_harness::Worktrees;
use autonoe_harness::executor::Verification;
use autonoe_harness::isolation::{Author, Git, IsolationError, Repository, Worktree};
use autonoe_harness::isolation::{check_name, take_turn};

/// Maximum number of attempts when other merges push first.
const TRIES: u32 = 20;

/// The local branch at the last known commit of the integration branch.
const INTEGRATION: &str = "integration";

/// The last commit of the branch to merge.
const SOURCE: &str = "refs/git-sync/source";

/// Outcome of merging the branch of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeOutcome {
    /// The integration branch contains the work.
    Merged {
        /// The commit of the integration branch.
        commit: String,
    },
    /// The work conflicts with the integration branch, which is unchanged.
    Conflict {
        /// The conflicting files.
        files: String,
    },
    /// The checks did not pass on the merged work. The integration branch is unchanged.
    ChecksFailed {
        /// The result of the checks.
        verification: Verification,
    },
}

/// A branch of a remote that collects the work of several runs, each of which has its own branch.
///
/// Any host can merge. A merge happens in a temporary clone in the folder `home`, and ends with a
/// push that the remote only accepts if the branch has not moved. If it has moved, the merge and
/// its checks are repeated. A merge that was killed leaves nothing on the remote, so it can be
/// repeated on any host; a repeated merge finds that the branch contains the work.
///
/// The files that a run keeps about itself are not merged: `.autonoe`, `.autonoe-note.md` and the
/// `SPEC.md` of [`SyncedProject::for_task`](super::SyncedProject::for_task).
#[derive(Clone, Debug)]
pub struct IntegrationBranch {
    home: PathBuf,
    remote: SyncRemote,
    branch: String,
    commands: ProcessRunner,
}

impl IntegrationBranch {
    /// Opens the folder of a merge on this host. It is created if it is missing.
    ///
    /// Git runs with the environment of `commands`, which needs a `PATH`.
    ///
    /// # Errors
    ///
    /// `branch` is not a valid name, or `home` cannot be used.
    pub fn open(
        home: &Path,
        remote: SyncRemote,
        branch: &str,
        commands: ProcessRunner,
    ) -> Result<Self, SyncError> {
        check_branch_name(branch)?;
        create_folder(home).map_err(IsolationError::io(home))?;
        Ok(Self {
            home: home.canonicalize().map_err(IsolationError::io(home))?,
            remote,
            branch: branch.to_owned(),
            commands,
        })
    }

    /// Creates the branch at the branch `base`, unless it exists. Returns its commit.
    ///
    /// # Errors
    ///
    /// The remote is unreachable or rejects the push, or has no such base.
    pub async fn create(&self, base: &str) -> Result<String, SyncError> {
        check_branch_name(base)?;
        let clone = self.temporary_clone().await?;
        let created = clone.create(base).await;
        clone.remove().map_err(IsolationError::io(&self.home))?;
        created
    }

    /// Merges the branch `source`, if `checks` pass in a folder with the merged work.
    ///
    /// # Errors
    ///
    /// The remote is unreachable or rejects the push, or lacks one of the branches. Nothing was
    /// merged.
    pub async fn merge<C, F>(&self, source: &str, checks: C) -> Result<MergeOutcome, SyncError>
    where
        C: FnMut(PathBuf) -> F,
        F: Future<Output = Verification>,
    {
        check_branch_name(source)?;
        let clone = self.temporary_clone().await?;
        let merged = clone.merge(source, checks).await;
        clone.remove().map_err(IsolationError::io(&self.home))?;
        merged
    }

    /// Waits for exclusive access to the folder, and creates an empty repository there.
    async fn temporary_clone(&self) -> Result<TemporaryClone<'_>, SyncError> {
        let lock = take_turn(&self.home.join(".lock"), TEN_MINUTES, || Ok(())).await?;
        let lock = Arc::new(lock);
        // Each git process holds the lock, so none is left of an earlier merge.
        let commands = self.commands.clone().inherit(lock.clone());
        let top = self.home.join("repository");
        let git = Git::new(commands.clone(), TEN_MINUTES);
        let dir = self.home.join(SYNC_REPO);
        let clone = TemporaryClone {
            target: self,
            git: git.clone().for_repository(Repository {
                top: top.clone(),
                dir: dir.clone(),
                common: dir.clone(),
            }),
            commands,
            top,
            _lock: lock,
        };
        clone.remove().map_err(IsolationError::io(&self.home))?;
        create_folder(&clone.top).map_err(IsolationError::io(&clone.top))?;
        let init = [
            "init".to_owned(),
            "--quiet".to_owned(),
            "--template=".to_owned(),
            "--initial-branch=unused".to_owned(),
            format!("--separate-git-dir={}", dir.display()),
            ".".to_owned(),
        ];
        git.run_ok(&clone.top, &init).await?;
        Ok(clone)
    }
}

/// An exclusive repository in the folder of a merge, for one merge.
struct TemporaryClone<'a> {
    target: &'a IntegrationBranch,
    git: Git,
    commands: ProcessRunner,
    /// The work tree of the repository, which stays empty.
    top: PathBuf,
    _lock: Arc<File>,
}

/// Outcome of a push that did not fail.
enum Pushed {
    Done,
    /// Another host pushed first.
    Moved,
}

impl TemporaryClone<'_> {
    async fn create(&self, base: &str) -> Result<String, SyncError> {
        let target = self.target;
        let (branch, base_name) = (head(&target.branch), head(base));
        let tips = self.list(&[&branch, &base_name]).await?;
        let commit = match <[_; 2]>::try_from(tips) {
            Ok([Some(commit), _]) => return Ok(commit),
            Ok([None, Some(_)]) => self.fetch(&base_name, SOURCE).await?,
            _ => {
                return Err(SyncError::NoBase {
                    remote: target.remote.to_string(),
                    base: base.to_owned(),
                });
            }
        };
        match self.push(&commit, None).await? {
            Pushed::Done => Ok(commit),
            // Another host has created it.
            Pushed::Moved => self.fetch(&branch, &head(INTEGRATION)).await,
        }
    }

    async fn merge<C, F>(&self, source: &str, mut checks: C) -> Result<MergeOutcome, SyncError>
    where
        C: FnMut(PathBuf) -> F,
        F: Future<Output = Verification>,
    {
        let target = self.target;
        let (branch, source_name) = (head(&target.branch), head(source));
        let tips = self.list(&[&branch, &source_name]).await?;
        for (tip, branch) in tips.iter().zip([target.branch.as_str(), source]) {
            if tip.is_none() {
                return Err(SyncError::NoBranch {
                    remote: target.remote.to_string(),
                    branch: branch.to_owned(),
                });
            }
        }
        let source = self.fetch(&source_name, SOURCE).await?;
        let mut worktree: Option<Worktree> = None;
        for _ in 0..TRIES {
            let from = self.fetch(&branch, &head(INTEGRATION)).await?;
            if is_ancestor(&self.git, &self.top, &source, &from).await? {
                return Ok(MergeOutcome::Merged { commit: from });
            }
            let tree = match worktree.take() {
                Some(tree) => tree,
                None => self.worktree(&source, &from).await?,
            };
            let commit = match tree.merge_if(&Author::default(), &mut checks).await {
                Ok(report) => report.commit,
                Err(IsolationError::Conflict { files, .. }) => {
                    return Ok(MergeOutcome::Conflict { files });
                }
                Err(IsolationError::ChecksFailed { verification, .. }) => {
                    return Ok(MergeOutcome::ChecksFailed { verification });
                }
                Err(error) => return Err(error.into()),
            };
            match self.push(&commit, Some(&from)).await? {
                Pushed::Done => return Ok(MergeOutcome::Merged { commit }),
                Pushed::Moved => worktree = Some(tree),
            }
        }
        Err(SyncError::Unreachable {
            remote: target.remote.to_string(),
            output: "other pushes to the branch kept interfering".to_owned(),
        })
    }

    /// Creates a worktree with the work of `source`, without the files of its run.
    async fn worktree(&self, source: &str, integration: &str) -> Result<Worktree, SyncError> {
        self.run_ok(&["read-tree", source]).await?;
        let mut restore = vec!["reset", "--quiet", integration, "--"];
        restore.extend(RUN_FILES);
        self.run_ok(&restore).await?;
        let tree = self.run_ok(&["write-tree"]).await?;
        let mut commit: Vec<String> = Author::default().settings().into();
        let message = "Leave out the files of the run";
        commit.extend(["commit-tree", &tree, "-p", source, "-m", message].map(str::to_owned));
        let commit = self.run_ok(&commit).await?;
        let folder = self.worktrees_dir();
        let worktrees = Worktrees::open(&self.top, &folder, "merge", self.commands.clone()).await?;
        let worktree = worktrees.create("source", INTEGRATION).await?;
        let reset = ["reset", "--quiet", "--hard", &commit];
        self.git.run_ok(worktree.root(), &reset).await?;
        Ok(worktree)
    }

    async fn list(&self, names: &[&str]) -> Result<Vec<Option<String>>, SyncError> {
        self.target.remote.list(&self.git, &self.top, names).await
    }

    /// Fetches a ref of the remote as `here`, and returns its commit.
    async fn fetch(&self, name: &str, here: &str) -> Result<String, SyncError> {
        let remote = &self.target.remote;
        remote.fetch(&self.git, &self.top, name, here).await?;
        let commit = format!("{here}^{{commit}}");
        self.run_ok(&["rev-parse", "--verify", &commit]).await
    }

    /// Moves the branch on the remote to a commit, if it is still at `from`: `None` if it did not
    /// exist.
    async fn push(&self, commit: &str, from: Option<&str>) -> Result<Pushed, SyncError> {
        let IntegrationBranch { remote, branch, .. } = self.target;
        let name = head(branch);
        let refs = (commit, name.as_str());
        let output = remote.push(&self.git, &self.top, refs, from).await?;
        if output.is_success() {
            return Ok(Pushed::Done);
        }
        // A response can get lost, so the branch is read instead.
        let tip = self.list(&[&name]).await?.remove(0);
        match tip.as_deref() {
            Some(tip) if tip == commit => Ok(Pushed::Done),
            tip if tip == from => Err(remote.push_error(branch, &output)),
            _ => Ok(Pushed::Moved),
        }
    }

    async fn run_ok<S: AsRef<str>>(&self, command: &[S]) -> Result<String, SyncError> {
        Ok(self.git.run_ok(&self.top, command).await?)
    }

    fn worktrees_dir(&self) -> PathBuf {
        self.target.home.join("worktrees")
    }

    /// Removes the repository and its worktrees. All work in them is on the remote, or is created
    /// again.
    fn remove(&self) -> io::Result<()> {
        let dir = self.target.home.join(SYNC_REPO);
        for folder in [self.worktrees_dir(), self.top.clone(), dir] {
            match fs::remove_dir_all(folder) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

fn head(branch: &str) -> String {
    format!("refs/heads/{branch}")
}

fn check_branch_name(branch: &str) -> Result<(), SyncError> {
    for part in branch.split('/') {
        check_name(part)?;
    }
    Ok(())
}
