//! Repositories of agents that were put aside, and how they go.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use autonoe_core::create_folder;

use super::TravelError;
use super::agents_git::is_plain;
use super::courier::Courier;
use super::steps::{ASIDE, HERE, KEPT};
use crate::IsolationError;

/// What is being deleted. It was looked through.
const GONE: &str = "gone";

impl Courier<'_> {
    fn aside(&self) -> PathBuf {
        self.travels.home.join("repositories-of-agents")
    }

    /// Puts a repository of agents aside, if there is one.
    pub(super) fn put_aside(&self, path: &Path) -> io::Result<()> {
        if path.symlink_metadata().is_err() {
            return Ok(());
        }
        let aside = self.aside();
        create_folder(&aside)?;
        let free = (1..).map(|number: u32| aside.join(number.to_string()));
        let mut free = free.filter(|path| path.symlink_metadata().is_err());
        match free.next() {
            Some(free) => fs::rename(path, free),
            None => Err(io::Error::other("there is no free name")),
        }
    }

    /// Deletes the repositories that were put aside. What their branches, tags and other names lead to
    /// and is not known here is kept. One that cannot be read, or has more than one stash, stays as it
    /// is.
    ///
    /// Nobody may be at work in the project: who is could still have one of them in use.
    pub(super) async fn clear_aside(&self) -> Result<(), TravelError> {
        let aside = self.aside();
        let gone = aside.join(GONE);
        // Of one who was killed.
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
                tracing::warn!(folder = %dir.display(), "a repository that agents had stays");
                continue;
            }
            // In one step, so that a part of one is never taken for a whole.
            fs::rename(&dir, &gone).map_err(IsolationError::io(&dir))?;
            remove(&gone).map_err(IsolationError::io(&gone))?;
        }
        Ok(())
    }

    /// Keeps the commits that the names in a repository lead to and that are not known here. Tells
    /// whether they lead to nothing else.
    async fn keep_names_of(&self, dir: &Path, name: &str) -> Result<bool, TravelError> {
        let Some(place) = dir.to_str().filter(|_| is_plain(dir) && !has_stashes(dir)) else {
            return Ok(false);
        };
        self.lend_objects(dir).map_err(IsolationError::io(dir))?;
        let got = format!("{ASIDE}{name}/");
        if !self
            .get_from_agents(place, &format!("+refs/*:{got}*"))
            .await?
        {
            return Ok(false);
        }
        let format = "--format=%(objecttype) %(objectname) %(refname)";
        let list = self.ask(&["for-each-ref", format, &got]).await?;
        let mut is_all = true;
        for line in list.lines() {
            let mut words = line.splitn(3, ' ');
            let (Some(kind), Some(object), Some(named)) =
                (words.next(), words.next(), words.next())
            else {
                return Ok(false);
            };
            // A tag has words of its own, and a name may lead to a file or a folder.
            is_all &= kind == "commit";
            if kind == "commit" && !self.is_known(object).await? {
                let kept = format!("{KEPT}agents-{object}");
                self.ask(&["update-ref", &kept, object]).await?;
                let place = self.travels.courier_dir();
                tracing::warn!(kept, named, repository = %place.display(), "what agents had under another name is kept");
            }
            self.unset(named).await?;
        }
        Ok(is_all)
    }

    /// Tells whether a commit is in where the project stands, or is kept.
    async fn is_known(&self, object: &str) -> Result<bool, TravelError> {
        let kept = format!("--glob={KEPT}*");
        let unknown = ["rev-list", "--max-count=1", object, "--not", HERE, &kept];
        Ok(self.ask(&unknown).await?.is_empty())
    }
}

/// Tells whether there are stashes beside the last one, which have no names.
fn has_stashes(dir: &Path) -> bool {
    let log = dir.join("logs/refs/stash");
    let is_file = log.symlink_metadata().map(|found| found.is_file());
    match is_file {
        Ok(true) => fs::read(log).map_or(true, |log| log.split(|byte| *byte == b'\n').count() > 2),
        Ok(false) => true,
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Deletes a folder, if it is there. Links in it are not followed.
fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
