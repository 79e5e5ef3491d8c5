//! Sync repository of a project, under its exclusive lock.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_core::project::{create_folder, replace_file_durably};
use autonoe_process::{CommandOutcome, CommandOutput};

use crate::remote_state;
use crate::sync_refs::{CURRENT, PUBLISHED, SYNC_REPO};
use crate::synced_project::TEN_MINUTES;
use crate::{SyncError, SyncedProject};
use autonoe_harness::isolation::{Author, Git, IsolationError, failed, take_turn, text};

/// Rewritten each time, so that changes to it have no effect.
const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n";

/// Attributes that override those of the project: files are committed byte by byte.
const ATTRIBUTES: &str = "* -text -ident -filter !working-tree-encoding\n";

/// Exclusive access to the sync repository, until it is dropped and the last git process that it
/// started has ended.
pub(crate) struct SyncRepo<'a> {
    pub(crate) synced_project: &'a SyncedProject,
    pub(crate) git: Git,
    pub(crate) lock: Arc<File>,
}

impl SyncedProject {
    /// Waits for exclusive access to the sync repository, and creates or repairs it.
    pub(crate) async fn sync_repo(&self) -> Result<SyncRepo<'_>, SyncError> {
        // The file is never removed: each git process holds it open.
        let path = self.home.join(".lock");
        let lock = Arc::new(take_turn(&path, TEN_MINUTES, || Ok(())).await?);
        let sync_repo = SyncRepo {
            synced_project: self,
            git: self.git.holding_lock(&lock),
            lock,
        };
        sync_repo.repair().await?;
        Ok(sync_repo)
    }
}

impl SyncRepo<'_> {
    /// Creates the repository, or restores its configuration.
    async fn repair(&self) -> Result<(), SyncError> {
        let dir = self.synced_project.sync_repo_dir();
        let is_whole = ["HEAD", "objects", "refs"]
            .iter()
            .all(|name| dir.join(name).exists());
        if !is_whole {
            let init = ["init", "--quiet", "--bare", "--template=", SYNC_REPO];
            let git = self.synced_project.bare_git.holding_lock(&self.lock);
            git.run_ok(&self.synced_project.home, &init).await?;
        }
        // Every git process of ours holds our lock, so these locks belong to a killed one.
        remove_locks(&dir).map_err(IsolationError::io(&dir))?;
        let info = dir.join("info");
        create_folder(&info).map_err(IsolationError::io(&info))?;
        for (path, text) in [
            (dir.join("config"), CONFIG),
            (info.join("attributes"), ATTRIBUTES),
            (info.join("exclude"), ""),
        ] {
            let is_current = fs::read(&path).is_ok_and(|found| found == text.as_bytes());
            if !is_current {
                replace_file_durably(&path, text.as_bytes()).map_err(IsolationError::io(path))?;
            }
        }
        Ok(())
    }

    pub(crate) fn folder(&self) -> &Path {
        self.synced_project.project.root()
    }

    pub(crate) async fn run_ok<S: AsRef<str>>(&self, command: &[S]) -> Result<String, SyncError> {
        Ok(self.git.run_ok(self.folder(), command).await?)
    }

    pub(crate) async fn try_run<S: AsRef<str>>(
        &self,
        command: &[S],
    ) -> Result<CommandOutput, SyncError> {
        Ok(self.git.try_run(self.folder(), command).await?)
    }

    /// Returns the commit of a ref; `None` if there is no such commit here.
    pub(crate) async fn commit_of(&self, name: &str) -> Result<Option<String>, SyncError> {
        let commit = format!("{name}^{{commit}}");
        let command = ["rev-parse", "--verify", "--quiet", &commit];
        let output = self.try_run(&command).await?;
        match output.end {
            CommandOutcome::Exited { code: 0 } => Ok(Some(text(&output.stdout).trim().to_owned())),
            CommandOutcome::Exited { .. } => Ok(None),
            _ => Err(failed(&command, &output).into()),
        }
    }

    pub(crate) async fn tree_of(&self, commit: &str) -> Result<String, SyncError> {
        self.run_ok(&["rev-parse", "--verify", &format!("{commit}^{{tree}}")])
            .await
    }

    /// Points a ref to a commit.
    pub(crate) async fn set_ref(&self, name: &str, commit: &str) -> Result<(), SyncError> {
        self.run_ok(&["update-ref", name, commit]).await.map(drop)
    }

    pub(crate) async fn delete_ref(&self, name: &str) -> Result<(), SyncError> {
        self.run_ok(&["update-ref", "-d", name]).await.map(drop)
    }

    pub(crate) async fn is_ancestor(&self, older: &str, newer: &str) -> Result<bool, SyncError> {
        remote_state::is_ancestor(&self.git, self.folder(), older, newer).await
    }

    /// Creates a commit of a tree.
    pub(crate) async fn commit(
        &self,
        tree: &str,
        parents: &[&str],
        message: &str,
    ) -> Result<String, SyncError> {
        let mut command: Vec<String> = Author::default().settings().into();
        command.extend(["commit-tree", "--no-gpg-sign", tree].map(str::to_owned));
        for parent in parents {
            command.extend(["-p".to_owned(), (*parent).to_owned()]);
        }
        command.extend(["-m".to_owned(), message.to_owned()]);
        self.run_ok(&command).await
    }

    /// Returns whether the project is at a commit that this host has pushed, and that is the latest
    /// known one.
    pub(crate) async fn owns_run(&self) -> Result<bool, SyncError> {
        let here = self.commit_of(CURRENT).await?;
        Ok(here.is_some() && here == self.commit_of(PUBLISHED).await?)
    }
}

/// Removes the locks left by a killed git process.
fn remove_locks(dir: &Path) -> io::Result<()> {
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let path: PathBuf = entry.path();
            if entry.file_type()?.is_dir() {
                // Object files are never locked in place.
                if path != dir.join("objects") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|ending| ending == "lock") {
                fs::remove_file(&path)?;
            }
        }
    }
    Ok(())
}
