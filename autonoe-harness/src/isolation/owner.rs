//! Who works in a worktree.

use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::time::SystemTime;

use autonoe_core::{open_file_to_append, replace_file_durably};
use autonoe_process::ProcessIdentity;
use serde::{Deserialize, Serialize};

use super::IsolationError;

/// The file in the admin folder of a worktree that says whose it is.
const FILE: &str = "autonoe-owner.json";

/// The file there that whoever works in the worktree has locked.
const LOCK: &str = "autonoe-work";

/// What is known of a worktree beyond what git knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    pub(super) owner: Process,
    pub(super) fleet: String,
    pub(super) name: String,
    pub(super) branch: String,
    pub(super) base: String,
    /// The run that it was made for, if that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<String>,
}

/// Takes the right to work in a worktree, for as long as the file is open: however its owner ends,
/// it is free then, also if the owner was a task of a process that lives on. `None` if somebody has
/// it.
pub(super) fn claim(admin: &Path) -> Result<Option<File>, IsolationError> {
    let path = admin.join(LOCK);
    let file = open_file_to_append(&path).map_err(IsolationError::io(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(IsolationError::io(path)(error)),
    }
}

/// The process that works there, for people: that it does is known by its [claim].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Process {
    pub(super) pid: u32,
    /// When it was started; `None` where nobody can tell.
    started: Option<String>,
}

impl Process {
    /// Names this process.
    pub(super) fn this() -> Self {
        let identity = ProcessIdentity::own();
        Self {
            pid: std::process::id(),
            started: identity.map(|identity| identity.started().to_owned()),
        }
    }
}

impl Record {
    /// Reads the record of an admin folder; `None` if there is none.
    ///
    /// # Errors
    ///
    /// It cannot be read, or not be understood.
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

    /// Returns when the record of an admin folder was written.
    pub(super) fn written(admin: &Path) -> Result<SystemTime, IsolationError> {
        let path = admin.join(FILE);
        let found = fs::metadata(&path).and_then(|found| found.modified());
        found.map_err(IsolationError::io(path))
    }

    /// Writes the record, whole or not at all.
    pub(super) fn write(&self, admin: &Path) -> Result<(), IsolationError> {
        write_whole(&admin.join(FILE), self)
    }
}

/// Writes JSON to a file so that whoever reads it sees all of it or what was there before, also
/// after a power cut.
pub(super) fn write_whole(path: &Path, json: &impl Serialize) -> Result<(), IsolationError> {
    let text = serde_json::to_vec_pretty(json);
    let text = text.map_err(|error| IsolationError::io(path)(error.into()))?;
    replace_file_durably(path, &text).map_err(IsolationError::io(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_right_to_work_somewhere_is_had_once_and_free_when_it_is_dropped() {
        let admin = tempfile::tempdir().expect("a folder");

        let first = claim(admin.path()).expect("writable");
        assert!(first.is_some());
        assert!(claim(admin.path()).expect("writable").is_none());

        drop(first);
        assert!(claim(admin.path()).expect("writable").is_some());
    }

    #[test]
    fn a_record_that_nobody_understands_is_an_error_and_stays() {
        let admin = tempfile::tempdir().expect("a folder");
        assert_eq!(Record::read(admin.path()).expect("none"), None);
        fs::write(admin.path().join(FILE), "{").expect("a file");

        assert!(Record::read(admin.path()).is_err());
        assert!(admin.path().join(FILE).exists());
    }
}
