//! Durable records of a worktree: its owner with the claim, and its current operation.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use autonoe_core::project::{open_file_to_append, replace_file_durably};
use autonoe_process::ProcessIdentity;
use serde::{Deserialize, Serialize};

use super::IsolationError;

/// Name of the ownership record in the git directory of a worktree.
const FILE: &str = "autonoe-owner.json";

/// Name of the file that the process working in the worktree has locked.
const LOCK: &str = "autonoe-work";

/// Record of a worktree, in addition to what git stores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OwnerRecord {
    pub(super) owner: Process,
    pub(super) fleet: String,
    pub(super) name: String,
    pub(super) branch: String,
    pub(super) base: String,
    /// The run that the worktree was created for, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<String>,
}

/// Claims a worktree for as long as the file is open. The claim ends with its owner, even if that
/// was a task of a process that lives on. Returns `None` if the worktree is claimed already.
pub(super) fn claim(admin: &Path) -> Result<Option<File>, IsolationError> {
    let path = admin.join(LOCK);
    let file = open_file_to_append(&path).map_err(IsolationError::io(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(IsolationError::io(path)(error)),
    }
}

/// The process that works in a worktree, for people: the [claim] decides whether it really does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Process {
    pub(super) pid: u32,
    /// The start time; `None` on systems that do not report it.
    started: Option<String>,
}

impl Process {
    /// Returns this process.
    pub(super) fn current() -> Self {
        let identity = ProcessIdentity::current();
        Self {
            pid: std::process::id(),
            started: identity.map(|identity| identity.started().to_owned()),
        }
    }
}

impl OwnerRecord {
    /// Reads the record in a git directory; `None` if there is none.
    ///
    /// # Errors
    ///
    /// It cannot be read or parsed.
    pub(super) fn read(admin: &Path) -> Result<Option<Self>, IsolationError> {
        let path = admin.join(FILE);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(IsolationError::io(path)(error)),
        };
        let record = serde_json::from_slice(&text);
        record
            .map(Some)
            .map_err(|error| IsolationError::io(path)(error.into()))
    }

    /// Returns the time at which the record was written.
    pub(super) fn written(admin: &Path) -> Result<SystemTime, IsolationError> {
        let path = admin.join(FILE);
        let found = fs::metadata(&path).and_then(|found| found.modified());
        found.map_err(IsolationError::io(path))
    }

    /// Atomically writes the record.
    pub(super) fn write(&self, admin: &Path) -> Result<(), IsolationError> {
        write_json_durably(&admin.join(FILE), self)
    }
}

/// Atomically writes JSON to a file: readers see the new or the old content, also after a power
/// cut.
pub(super) fn write_json_durably(path: &Path, json: &impl Serialize) -> Result<(), IsolationError> {
    let text = serde_json::to_vec_pretty(json);
    let text = text.map_err(|error| IsolationError::io(path)(error.into()))?;
    replace_file_durably(path, &text).map_err(IsolationError::io(path))
}

/// File of the current step. There is one at a time: its process holds the lock.
const OPERATION_FILE: &str = ".step.json";

/// Prefix of the names of quarantined steps.
const QUARANTINE_PREFIX: &str = ".step-broken-";

/// An operation on worktrees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "camelCase")]
pub(super) enum WorktreeOperation {
    /// Creates a worktree. After an interruption it is removed: nothing has worked there yet.
    Create {
        folder: PathBuf,
        branch: String,
        /// The start commit.
        at: String,
        /// The names of the worktrees' git directories before the step.
        before: Vec<String>,
    },
    /// Removes a worktree. After an interruption the removal is resumed.
    Remove {
        folder: PathBuf,
        branch: String,
        /// The commit of the branch, if the branch is removed, too.
        at: Option<String>,
    },
    /// Updates a checked-out base to a merge. After an interruption it is brought to one of the two
    /// commits.
    Advance {
        folder: PathBuf,
        base: String,
        from: String,
        to: String,
    },
}

impl WorktreeOperation {
    /// Records the step before it starts.
    pub(super) fn begin(&self, folder: &Path) -> Result<(), IsolationError> {
        write_json_durably(&folder.join(OPERATION_FILE), self)
    }

    /// Deletes the record of the step.
    pub(super) fn end(folder: &Path) -> Result<(), IsolationError> {
        let path = folder.join(OPERATION_FILE);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(IsolationError::io(path)(error))
            }
            _ => Ok(()),
        }
    }

    /// Returns an interrupted step, and its start time.
    ///
    /// A step that cannot be parsed is [quarantined](Self::quarantine).
    pub(super) fn interrupted(folder: &Path) -> Result<Option<(Self, SystemTime)>, IsolationError> {
        let path = folder.join(OPERATION_FILE);
        let read = || -> std::io::Result<_> {
            let since = fs::metadata(&path)?.modified()?;
            Ok((fs::read(&path)?, since))
        };
        let (text, since) = match read() {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(IsolationError::io(path)(error)),
        };
        match serde_json::from_slice(&text) {
            Ok(step) => Ok(Some((step, since))),
            Err(error) => {
                Self::quarantine(folder, &error.to_string())?;
                Ok(None)
            }
        }
    }

    /// Quarantines a step that cannot be repaired: it must not block everything else, and a person
    /// may want to inspect it.
    pub(super) fn quarantine(folder: &Path, reason: &str) -> Result<(), IsolationError> {
        let number = Self::quarantined(folder).len();
        let moved_to = folder.join(format!("{QUARANTINE_PREFIX}{number}.json"));
        tracing::error!(reason, moved_to = %moved_to.display(), "quarantined an unreadable record");
        let path = folder.join(OPERATION_FILE);
        fs::rename(&path, moved_to).map_err(IsolationError::io(path))
    }

    /// Returns the quarantined steps.
    pub(super) fn quarantined(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let is_quarantined = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with(QUARANTINE_PREFIX))
        };
        let mut quarantined: Vec<_> = entries
            .map(|entry| entry.path())
            .filter(is_quarantined)
            .collect();
        quarantined.sort();
        quarantined
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_exclusive_until_it_is_dropped() {
        let admin = tempfile::tempdir().expect("a folder");

        let first = claim(admin.path()).expect("writable");
        assert!(first.is_some());
        assert!(claim(admin.path()).expect("writable").is_none());

        drop(first);
        assert!(claim(admin.path()).expect("writable").is_some());
    }

    #[test]
    fn an_unreadable_record_is_an_error_and_stays() {
        let admin = tempfile::tempdir().expect("a folder");
        assert_eq!(OwnerRecord::read(admin.path()).expect("none"), None);
        fs::write(admin.path().join(FILE), "{").expect("a file");

        assert!(OwnerRecord::read(admin.path()).is_err());
        assert!(admin.path().join(FILE).exists());
    }
}
