//! Quarantine of replaced agent repositories, and its cleanup.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use autonoe_core::project::create_folder;

use super::SyncError;
use super::agents_repo::is_self_contained;
use super::sync_refs::{CURRENT, KEPT, QUARANTINE};
use super::sync_repo::SyncRepo;
use crate::isolation::IsolationError;

/// Name of the repository that is being deleted. It has been searched for unknown commits.
const GONE: &str = "gone";

impl SyncRepo<'_> {
    fn aside(&self) -> PathBuf {
        self.synced_project.home.join("repositories-of-agents")
    }

    /// Quarantines a repository of agents, if there is one.
    pub(super) fn quarantine(&self, path: &Path) -> io::Result<()> {
        if path.symlink_metadata().is_err() {
            return Ok(());
        }
        let aside = self.aside();
        create_folder(&aside)?;
        let free = (1..).map(|number: u32| aside.join(number.to_string()));
        let mut free = free.filter(|path| path.symlink_metadata().is_err());
        match free.next() {
            Some(free) => fs::rename(path, free),
            None => Err(io::Error::other("no free name is left")),
        }
    }

    /// Deletes the quarantined repositories. Commits that their branches, tags and other refs point
    /// to and that are not known here are kept. A repository that cannot be read, or has more than
    /// one stash, stays as it is.
    ///
    /// No session may be running in the project: it could still be using one of them.
    pub(super) async fn clean_quarantine(&self) -> Result<(), SyncError> {
        let aside = self.aside();
        let gone = aside.join(GONE);
        // Left by a killed process.
        remove(&gone).map_err(IsolationError::io(&gone))?;
        let entries = match fs::read_dir(&aside) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(IsolationError::io(&aside))?,
        };
        for entry in entries {
            let entry = entry.map_err(IsolationError::io(&aside))?;
            let (dir, name) = (entry.path(), entry.file_name());
            let Some(name) = name.to_str() else { continue };
            if !self.keep_names_of(&dir, name).await? {
                tracing::warn!(folder = %dir.display(), "cannot remove a repository of agents");
                continue;
            }
            // A rename is atomic, so that a partially deleted repository is never mistaken for a
            // whole one.
            fs::rename(&dir, &gone).map_err(IsolationError::io(&dir))?;
            remove(&gone).map_err(IsolationError::io(&gone))?;
        }
        Ok(())
    }

    /// Keeps the unknown commits that the refs of a repository point to. Returns whether all refs
    /// point to commits.
    async fn keep_names_of(&self, dir: &Path, name: &str) -> Result<bool, SyncError> {
        let Some(place) = dir
            .to_str()
            .filter(|_| is_self_contained(dir) && !has_stashes(dir))
        else {
            return Ok(false);
        };
        self.share_objects(dir).map_err(IsolationError::io(dir))?;
        let got = format!("{QUARANTINE}{name}/");
        if !self
            .fetch_from_agents(place, &format!("+refs/*:{got}*"))
            .await?
        {
            return Ok(false);
        }
        let format = "--format=%(objecttype) %(objectname) %(refname)";
        let list = self.run_ok(&["for-each-ref", format, &got]).await?;
        let mut is_all = true;
        for line in list.lines() {
            let mut words = line.splitn(3, ' ');
            let (Some(kind), Some(object), Some(named)) =
                (words.next(), words.next(), words.next())
            else {
                return Ok(false);
            };
            // An annotated tag has a message of its own, and a ref may point to a file or a folder.
            is_all &= kind == "commit";
            if kind == "commit" && !self.is_known(object).await? {
                let kept = format!("{KEPT}agents-{object}");
                self.run_ok(&["update-ref", &kept, object]).await?;
                let place = self.synced_project.sync_repo_dir();
                tracing::warn!(kept, named, repository = %place.display(), "kept a ref");
            }
            self.delete_ref(named).await?;
        }
        Ok(is_all)
    }

    /// Returns whether a commit is contained in the current commit of the project, or is kept.
    async fn is_known(&self, object: &str) -> Result<bool, SyncError> {
        let kept = format!("--glob={KEPT}*");
        let unknown = ["rev-list", "--max-count=1", object, "--not", CURRENT, &kept];
        Ok(self.run_ok(&unknown).await?.is_empty())
    }
}

/// Returns whether there are stashes besides the last one, which have no refs.
fn has_stashes(dir: &Path) -> bool {
    let log = dir.join("logs/refs/stash");
    let is_file = log.symlink_metadata().map(|found| found.is_file());
    match is_file {
        Ok(true) => fs::read(log).map_or(true, |log| log.split(|byte| *byte == b'\n').count() > 2),
        Ok(false) => true,
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Deletes a folder, if it exists. Links in it are not followed.
fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
