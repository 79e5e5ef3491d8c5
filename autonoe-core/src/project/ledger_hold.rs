//! [`LedgerHold`], a run's hold on its ledger file, which detects and replaces foreign content.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::durable;
use super::git_ignore::write_git_ignore;
use super::layout::exists_no_follow;
use super::path_identity::{PathIdentity, identity};
use super::safe_read::ReadError;
use super::status_file::StatusFile;
use super::{Project, ProjectError, RunLock};
use crate::ledger::{ForeignChange, ForeignLedger};

/// The run lock and the project of the run that owns the ledger file.
#[derive(Clone, Debug)]
pub(super) struct LedgerHold {
    lock: Arc<File>,
    is_released: Arc<AtomicBool>,
    lock_path: PathBuf,
    project: Project,
    root: PathIdentity,
    /// Whether the ledger has existed since the lock was acquired.
    was_found: Arc<AtomicBool>,
    was_restored: Arc<AtomicBool>,
    /// The name under which the ledger of the run is kept after a takeover.
    fenced_copy: Arc<OnceLock<String>>,
}

/// The content at the path of the ledger file.
pub(super) enum LedgerFileContent {
    /// A file with these bytes.
    Bytes(Vec<u8>),
    /// Something that is not a ledger of the run, whatever its content is.
    Foreign(ForeignChange),
}

impl LedgerHold {
    /// Creates the hold of the run that holds `lock` of `project`.
    pub(super) fn new(project: &Project, lock: &RunLock) -> Result<Self, ProjectError> {
        Ok(Self {
            lock: lock.descriptor(),
            is_released: lock.released_flag(),
            lock_path: project.run_lock_path(),
            root: PathIdentity::new(project.root())?,
            project: project.clone(),
            was_found: Arc::default(),
            was_restored: Arc::default(),
            fenced_copy: Arc::default(),
        })
    }

    /// Returns whether the run has ended and released its lock. Another run may own the ledger
    /// then.
    pub(super) fn is_released(&self) -> bool {
        self.is_released.load(Ordering::Acquire)
    }

    /// Records that the ledger exists.
    pub(super) fn set_found(&self) {
        self.was_found.store(true, Ordering::Relaxed);
    }

    /// Returns whether the ledger has existed since the lock was acquired.
    pub(super) fn was_found(&self) -> bool {
        self.was_found.load(Ordering::Relaxed)
    }

    /// Keeps the ledger of this run beside `path` after another run has taken over, and returns its
    /// name. Calls after the first one return the same name.
    ///
    /// The caller holds the write lock.
    pub(super) fn keep_fenced(&self, path: &Path, bytes: &[u8]) -> io::Result<&str> {
        if let Some(name) = self.fenced_copy.get() {
            return Ok(name);
        }
        let name = keep_copy(path, "fenced", bytes)?;
        Ok(self.fenced_copy.get_or_init(|| name))
    }

    /// Returns whether the lock file is still the held one. Otherwise another run may hold a new
    /// one.
    pub(super) fn is_in_place(&self) -> bool {
        let own = self.lock.metadata().map(|found| identity(&found));
        let found = fs::symlink_metadata(&self.lock_path).map(|found| identity(&found));
        matches!((own, found), (Ok(own), Ok(found)) if own == found)
    }

    /// Writes the ledger again after the state folder was removed. Does nothing if the folder or
    /// the project was moved.
    ///
    /// Returns whether it did so, now or before.
    pub(super) fn restore_after_removal(
        &self,
        file: &StatusFile,
        bytes: &[u8],
    ) -> io::Result<bool> {
        if self.was_restored.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let folder = self.project.state_dir();
        if !is_removed(&self.lock) || exists_no_follow(&folder) || self.root.check().is_err() {
            return Ok(false);
        }
        fs::create_dir(&folder)?;
        write_git_ignore(&folder).map_err(io::Error::other)?;
        file.lock()?.replace(bytes)?;
        self.was_restored.store(true, Ordering::Relaxed);
        Ok(true)
    }
}

/// Inspects what is at the path of the ledger. A symlink is not followed.
///
/// # Errors
///
/// The system refuses for a reason that says nothing about the file.
pub(super) fn inspect(file: &StatusFile) -> io::Result<LedgerFileContent> {
    let foreign = |change| Ok(LedgerFileContent::Foreign(change));
    match fs::symlink_metadata(file.path()) {
        Ok(found) if !found.is_file() => return foreign(ForeignChange::Replaced),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return foreign(ForeignChange::Removed);
        }
        Err(error) => return Err(error),
    }
    match file.read() {
        Ok(Some(bytes)) => Ok(LedgerFileContent::Bytes(bytes)),
        Ok(None) => foreign(ForeignChange::Removed),
        Err(ReadError::NotAFile(_)) => foreign(ForeignChange::Replaced),
        Err(ReadError::TooLarge) => foreign(ForeignChange::Changed),
        Err(ReadError::Refused(error)) if error.kind() == io::ErrorKind::PermissionDenied => {
            foreign(ForeignChange::Unreadable)
        }
        Err(ReadError::Refused(error)) => Err(error),
    }
}

/// Keeps foreign content beside the ledger under a new name, and returns its description. The
/// caller replaces it.
///
/// The caller holds the write lock, so no other process restores at the same time.
pub(super) fn keep_foreign(
    file: &StatusFile,
    found: &LedgerFileContent,
) -> io::Result<ForeignLedger> {
    let path = file.path();
    Ok(match found {
        LedgerFileContent::Bytes(bytes) => {
            // A copy: a process that has the file open can still write to it.
            let name = keep_copy(path, "foreign", bytes)?;
            ForeignLedger::new(ForeignChange::Changed).saved_as(name)
        }
        LedgerFileContent::Foreign(ForeignChange::Removed) => {
            ForeignLedger::new(ForeignChange::Removed)
        }
        LedgerFileContent::Foreign(change) => {
            ForeignLedger::new(*change).saved_as(keep_entry(path)?)
        }
    })
}

/// Writes `bytes` durably to a file beside `path` with an unused name, and returns the name.
fn keep_copy(path: &Path, label: &str, bytes: &[u8]) -> io::Result<String> {
    let mut number = 1;
    loop {
        let name = format!("status.{label}-{number}.json");
        match durable::create(&path.with_file_name(&name), path, bytes) {
            Ok(()) => return Ok(name),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Keeps the entry at `path` beside it under an unused name, and returns the name.
///
/// For content that cannot be copied: symlinks, folders, unreadable and too large files.
fn keep_entry(path: &Path) -> io::Result<String> {
    let mut number = 1;
    loop {
        let name = format!("status.foreign-{number}.json");
        let copy = path.with_file_name(&name);
        // A second name, so that a kill before the restored ledger is in place leaves no gap.
        match fs::hard_link(path, &copy) {
            Ok(()) => return Ok(name),
            Err(_) if exists_no_follow(&copy) => number += 1,
            // A folder can have only one name, and so can every file on some file systems.
            Err(_) => return fs::rename(path, &copy).map(|()| name),
        }
    }
}

/// Returns whether an open file was removed, and not only moved.
#[cfg(unix)]
fn is_removed(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    file.metadata().is_ok_and(|found| found.nlink() == 0)
}

/// On systems that do not report this, the file counts as moved.
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
            let file = StatusFile::new(&path);
            let found = inspect(&file).expect("readable");
            let saved = keep_foreign(&file, &found).expect("it is kept");
            fs::remove_file(&path).expect("writable");
            saved.saved_as.expect("it has a name")
        });

        assert_eq!(names, ["status.foreign-1.json", "status.foreign-2.json"]);
        let contents = names.map(|name| fs::read_to_string(dir.path().join(name)).expect("there"));
        assert_eq!(contents, ["one", "two"]);
    }

    #[test]
    fn a_process_with_the_foreign_file_open_cannot_change_the_saved_copy() {
        use std::io::Write;
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("status.json");
        let mut open = File::create(&path).expect("writable");
        open.write_all(b"forged").expect("writable");
        let file = StatusFile::new(&path);
        let found = inspect(&file).expect("readable");

        let saved_as = keep_foreign(&file, &found).expect("it is kept").saved_as;
        open.write_all(b" and changed").expect("writable");

        let copy = dir.path().join(saved_as.expect("it has a name"));
        assert_eq!(fs::read_to_string(copy).expect("there"), "forged");
    }

    #[test]
    fn the_hold_ends_with_the_lock_of_the_run_even_if_agents_keep_that() {
        let dir = tempfile::tempdir().expect("a folder");
        let project = Project::find(dir.path(), None).expect("it is there");
        let mut lock = RunLock::acquire(&project, jiff::Timestamp::UNIX_EPOCH).expect("free");
        let hold = LedgerHold::new(&project, &lock).expect("readable");
        assert!(!hold.is_released());

        lock.leave_to_agents();
        drop(lock);

        assert!(hold.is_released());
    }

    #[test]
    fn a_folder_with_its_content_is_kept() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("status.json");
        fs::create_dir(&path).expect("writable");
        fs::write(path.join("inside"), "one").expect("writable");

        let name = keep_entry(&path).expect("it is kept");

        let inside = dir.path().join(name).join("inside");
        assert_eq!(fs::read_to_string(inside).expect("there"), "one");
    }
}
