//! The hold of a run on its ledger file: recognises and replaces foreign content.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::anchor::{Anchor, identity};
use super::git_ignore::write_git_ignore;
use super::layout::is_there;
use super::plain_file::Unread;
use super::status_file::StatusFile;
use super::{Project, ProjectError, RunLock};
use crate::domain::{ForeignChange, ForeignLedger};

/// The run lock and the project, as the ledger file of the run that holds the lock knows them.
#[derive(Clone, Debug)]
pub(super) struct LedgerHold {
    lock: Arc<File>,
    lock_path: PathBuf,
    project: Project,
    root: Anchor,
    was_rescued: Arc<AtomicBool>,
}

/// What is in place of the ledger file.
pub(super) enum Found {
    /// A file with these bytes.
    Bytes(Vec<u8>),
    /// Something that is not a ledger of the run, whatever it holds.
    Foreign(ForeignChange),
}

impl LedgerHold {
    /// Remembers that `lock` of `project` is held.
    pub(super) fn new(project: &Project, lock: &RunLock) -> Result<Self, ProjectError> {
        Ok(Self {
            lock: lock.descriptor(),
            lock_path: project.run_lock_path(),
            root: Anchor::of(project.root())?,
            project: project.clone(),
            was_rescued: Arc::default(),
        })
    }

    /// Returns whether the lock file is still the one that is held. Otherwise another run may hold
    /// a new one.
    pub(super) fn is_in_place(&self) -> bool {
        let ours = self.lock.metadata().map(|found| identity(&found));
        let found = fs::symlink_metadata(&self.lock_path).map(|found| identity(&found));
        matches!((ours, found), (Ok(ours), Ok(found)) if ours == found)
    }

    /// Writes the ledger again after the state folder was removed. Does nothing to a folder that
    /// was moved, or whose project was.
    ///
    /// Returns whether it did, now or before.
    pub(super) fn rescue(&self, file: &StatusFile, bytes: &[u8]) -> io::Result<bool> {
        if self.was_rescued.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let folder = self.project.state_dir();
        if !is_removed(&self.lock) || is_there(&folder) || self.root.check().is_err() {
            return Ok(false);
        }
        fs::create_dir(&folder)?;
        write_git_ignore(&folder).map_err(io::Error::other)?;
        file.turn()?.replace(bytes)?;
        self.was_rescued.store(true, Ordering::Relaxed);
        Ok(true)
    }
}

/// Looks at what is in place of the ledger. A symlink is not followed.
///
/// # Errors
///
/// The system refuses for a reason that says nothing about the file.
pub(super) fn look(file: &StatusFile) -> io::Result<Found> {
    let foreign = |change| Ok(Found::Foreign(change));
    match fs::symlink_metadata(file.path()) {
        Ok(found) if !found.is_file() => return foreign(ForeignChange::Replaced),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return foreign(ForeignChange::Removed);
        }
        Err(error) => return Err(error),
    }
    match file.read() {
        Ok(Some(bytes)) => Ok(Found::Bytes(bytes)),
        Ok(None) => foreign(ForeignChange::Removed),
        Err(Unread::NotAFile(_)) => foreign(ForeignChange::Replaced),
        Err(Unread::TooLarge) => foreign(ForeignChange::Changed),
        Err(Unread::Refused(error)) if error.kind() == io::ErrorKind::PermissionDenied => {
            foreign(ForeignChange::Unreadable)
        }
        Err(Unread::Refused(error)) => Err(error),
    }
}

/// Puts `bytes` in place of foreign content, which is kept beside it under a new name.
///
/// The caller holds the turn to write, so no other process restores at the same time.
pub(super) fn restore(
    file: &StatusFile,
    change: ForeignChange,
    bytes: &[u8],
    replace: impl FnOnce(&[u8]) -> io::Result<()>,
) -> io::Result<ForeignLedger> {
    let foreign = ForeignLedger::new(change);
    let foreign = match change {
        ForeignChange::Removed => foreign,
        _ => foreign.kept(keep(file.path())?),
    };
    replace(bytes)?;
    Ok(foreign)
}

/// Keeps what is at `path` under a name beside it that was not used before, and returns the name.
fn keep(path: &Path) -> io::Result<String> {
    let mut number = 1;
    loop {
        let name = format!("status.foreign-{number}.json");
        let kept = path.with_file_name(&name);
        // A second name, so that a kill before the restored ledger is in place leaves no gap.
        match fs::hard_link(path, &kept) {
            Ok(()) => return Ok(name),
            Err(_) if is_there(&kept) => number += 1,
            // A folder has one name only, and so has every file on some file systems.
            Err(_) => return fs::rename(path, &kept).map(|()| name),
        }
    }
}

/// Returns whether an open file was removed, and not only moved.
#[cfg(unix)]
fn is_removed(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    file.metadata().is_ok_and(|found| found.nlink() == 0)
}

/// Where this cannot be known, the file counts as moved.
#[cfg(not(unix))]
fn is_removed(_: &File) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_content_is_kept_under_a_new_name_each_time() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("status.json");

        let names = ["one", "two"].map(|text| {
            fs::write(&path, text).expect("writable");
            let name = keep(&path).expect("it is kept");
            fs::remove_file(&path).expect("ours");
            name
        });

        assert_eq!(names, ["status.foreign-1.json", "status.foreign-2.json"]);
        let kept = names.map(|name| fs::read_to_string(dir.path().join(name)).expect("there"));
        assert_eq!(kept, ["one", "two"]);
    }

    #[test]
    fn a_folder_with_its_content_is_kept() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("status.json");
        fs::create_dir(&path).expect("writable");
        fs::write(path.join("inside"), "one").expect("writable");

        let name = keep(&path).expect("it is kept");

        let inside = dir.path().join(name).join("inside");
        assert_eq!(fs::read_to_string(inside).expect("there"), "one");
    }
}
