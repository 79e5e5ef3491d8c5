//! The repository that carries a project, with nobody else at it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_core::{create_folder, replace_file_durably};
use autonoe_process::{CommandEnd, CommandOutput};

use super::stamp::Stamp;
use super::steps::{HERE, OURS};
use super::{TravelError, TravellingProject};
use crate::IsolationError;
use crate::isolation::{Git, failed, take_turn, text};

/// Written anew each time: whatever was changed there does not hold.
const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n";

/// Attributes over those of the project: what is on disk is what travels, byte by byte.
const ATTRIBUTES: &str = "* -text -ident -filter !working-tree-encoding\n";

/// The courier, with nobody else at it until it is dropped and the last git that it started is gone.
pub(super) struct Courier<'a> {
    pub(super) travels: &'a TravellingProject,
    pub(super) git: Git,
    pub(super) lock: Arc<File>,
}

impl TravellingProject {
    /// Waits until nobody else is at the courier, and makes or mends it.
    pub(super) async fn courier(&self) -> Result<Courier<'_>, TravelError> {
        // It is never removed: each git has it.
        let path = self.home.join(".lock");
        let lock = Arc::new(take_turn(&path, self.patience, || Ok(())).await?);
        let courier = Courier {
            travels: self,
            git: self.git.holding(&lock),
            lock,
        };
        courier.mend().await?;
        Ok(courier)
    }
}

impl Courier<'_> {
    /// Makes the repository, or makes sure that it is as we left it.
    async fn mend(&self) -> Result<(), TravelError> {
        let dir = self.travels.courier_dir();
        let is_whole = ["HEAD", "objects", "refs"]
            .iter()
            .all(|name| dir.join(name).exists());
        if !is_whole {
            let init = ["init", "--quiet", "--bare", "--template=", "courier.git"];
            let git = self.travels.bare_git.holding(&self.lock);
            git.ask(&self.travels.home, &init).await?;
        }
        // Every git of ours has the lock that we have, so these are of one that was killed.
        remove_locks(&dir).map_err(IsolationError::io(&dir))?;
        let info = dir.join("info");
        create_folder(&info).map_err(IsolationError::io(&info))?;
        for (path, text) in [
            (dir.join("config"), CONFIG),
            (info.join("attributes"), ATTRIBUTES),
            (info.join("exclude"), ""),
        ] {
            let is_so = fs::read(&path).is_ok_and(|found| found == text.as_bytes());
            if !is_so {
                replace_file_durably(&path, text.as_bytes()).map_err(IsolationError::io(path))?;
            }
        }
        Ok(())
    }

    pub(super) fn folder(&self) -> &Path {
        self.travels.project.root()
    }

    pub(super) async fn ask<S: AsRef<str>>(&self, asked: &[S]) -> Result<String, TravelError> {
        Ok(self.git.ask(self.folder(), asked).await?)
    }

    pub(super) async fn attempt<S: AsRef<str>>(
        &self,
        asked: &[S],
    ) -> Result<CommandOutput, TravelError> {
        Ok(self.git.attempt(self.folder(), asked).await?)
    }

    /// Returns the commit of a name; `None` if there is no such commit here.
    pub(super) async fn commit_of(&self, name: &str) -> Result<Option<String>, TravelError> {
        let commit = format!("{name}^{{commit}}");
        let asked = ["rev-parse", "--verify", "--quiet", &commit];
        let said = self.attempt(&asked).await?;
        match said.end {
            CommandEnd::Exited { code: 0 } => Ok(Some(text(&said.stdout).trim().to_owned())),
            CommandEnd::Exited { .. } => Ok(None),
            _ => Err(failed(&asked, &said).into()),
        }
    }

    pub(super) async fn tree_of(&self, commit: &str) -> Result<String, TravelError> {
        self.ask(&["rev-parse", "--verify", &format!("{commit}^{{tree}}")])
            .await
    }

    /// Has a name mean a commit.
    pub(super) async fn set(&self, name: &str, commit: &str) -> Result<(), TravelError> {
        self.ask(&["update-ref", name, commit]).await.map(drop)
    }

    pub(super) async fn unset(&self, name: &str) -> Result<(), TravelError> {
        self.ask(&["update-ref", "-d", name]).await.map(drop)
    }

    pub(super) async fn is_ancestor(&self, older: &str, newer: &str) -> Result<bool, TravelError> {
        let asked = ["merge-base", "--is-ancestor", older, newer];
        let said = self.attempt(&asked).await?;
        match said.end {
            CommandEnd::Exited { code: 0 } => Ok(true),
            CommandEnd::Exited { code: 1 } => Ok(false),
            _ => Err(failed(&asked, &said).into()),
        }
    }

    /// Returns what a commit says about the run; `None` if it is not of the run.
    pub(super) async fn stamp_of(&self, commit: &str) -> Result<Option<Stamp>, TravelError> {
        let commit = self.ask(&["cat-file", "commit", commit]).await?;
        let message = commit.split_once("\n\n").map(|(_, message)| message);
        Ok(message.and_then(|message| Stamp::read(message, &self.travels.run)))
    }

    /// Makes a commit of a tree.
    pub(super) async fn commit(
        &self,
        tree: &str,
        parents: &[&str],
        message: &str,
    ) -> Result<String, TravelError> {
        let mut command: Vec<String> = self.travels.author.settings().into();
        command.extend(["commit-tree", "--no-gpg-sign", tree].map(str::to_owned));
        for parent in parents {
            command.extend(["-p".to_owned(), (*parent).to_owned()]);
        }
        command.extend(["-m".to_owned(), message.to_owned()]);
        self.ask(&command).await
    }

    /// Tells whether the project stands on a commit that this host has pushed, and that is the last
    /// of which it knows.
    pub(super) async fn has_the_run(&self) -> Result<bool, TravelError> {
        let here = self.commit_of(HERE).await?;
        Ok(here.is_some() && here == self.commit_of(OURS).await?)
    }
}

/// Removes the locks that a killed git has left.
fn remove_locks(dir: &Path) -> io::Result<()> {
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let path: PathBuf = entry.path();
            if entry.file_type()?.is_dir() {
                // Its files are never locked in place.
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
