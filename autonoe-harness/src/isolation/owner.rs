//! Who works in a worktree.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use autonoe_process::ProcessIdentity;
use serde::{Deserialize, Serialize};

use super::IsolationError;

/// The file in the admin folder of a worktree that says whose it is.
const FILE: &str = "autonoe-owner.json";

/// What is known of a worktree beyond what git knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    pub(super) owner: Process,
    pub(super) fleet: String,
    pub(super) name: String,
    pub(super) branch: String,
    pub(super) base: String,
}

/// A process, and not a later one with the same number.
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

    /// Tells whether it is gone for certain.
    pub(super) fn is_gone(&self) -> bool {
        let Some(started) = &self.started else {
            return false;
        };
        // Without a list of processes nobody can tell.
        let can_tell = ProcessIdentity::own().is_some();
        can_tell && !ProcessIdentity::new(self.pid, started).lives()
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

/// Writes JSON to a file so that whoever reads it sees all of it or what was there before.
pub(super) fn write_whole(path: &Path, json: &impl Serialize) -> Result<(), IsolationError> {
    let text = serde_json::to_vec_pretty(json);
    let text = text.map_err(|error| IsolationError::io(path)(error.into()))?;
    let beside = path.with_extension("new");
    fs::write(&beside, text).map_err(IsolationError::io(&beside))?;
    fs::rename(&beside, path).map_err(IsolationError::io(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_a_later_one_with_its_number_is_another() {
        let this = Process::this();
        assert!(!this.is_gone());

        let earlier = Process {
            started: Some("before".to_owned()),
            ..this
        };
        assert!(earlier.is_gone());
    }

    #[test]
    fn a_process_that_was_ended_is_gone() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .expect("a process");
        let identity = ProcessIdentity::of(child.id()).expect("it lives");
        let record = Process {
            pid: child.id(),
            started: Some(identity.started().to_owned()),
        };
        assert!(!record.is_gone());

        child.kill().expect("it lives");
        child.wait().expect("it ended");

        assert!(record.is_gone());
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
