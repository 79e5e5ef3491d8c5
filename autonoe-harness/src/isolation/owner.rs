//! Ownership record and claim of a worktree.

use std::fs::{self, File, TryLockError};
use std::path::Path;
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
        let identity = ProcessIdentity::own();
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
