//! Who works in a worktree.

use std::fs;
use std::path::Path;

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
    /// When it was started, in ticks since the system was; `None` where nobody can tell.
    started: Option<u64>,
    /// Which start of the system that was.
    boot: Option<String>,
}

impl Process {
    /// Names this process.
    pub(super) fn this() -> Self {
        let pid = std::process::id();
        Self {
            pid,
            started: started(pid),
            boot: boot(),
        }
    }

    /// Tells whether it is gone for certain.
    pub(super) fn is_gone(&self) -> bool {
        let Some(now) = boot() else {
            // Without a list of processes nobody can tell.
            return false;
        };
        let same_boot = self.boot.as_ref().is_none_or(|boot| *boot == now);
        !same_boot || started(self.pid) != self.started
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

fn started(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything, so what counts begins after its last bracket.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let has_ended = matches!(fields.next()?, "Z" | "X");
    let started = fields.nth(18)?.parse().ok()?;
    (!has_ended).then_some(started)
}

fn boot() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_a_later_one_with_its_number_is_another() {
        let this = Process::this();
        assert!(!this.is_gone());

        let earlier = Process {
            started: this.started.map(|ticks| ticks - 1),
            ..this.clone()
        };
        let before_a_reboot = Process {
            boot: Some("another".to_owned()),
            ..this
        };

        assert!(earlier.is_gone());
        assert!(before_a_reboot.is_gone());
    }

    #[test]
    fn a_process_that_was_ended_is_gone() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .expect("a process");
        let record = Process {
            pid: child.id(),
            started: started(child.id()),
            boot: boot(),
        };
        assert!(!record.is_gone());

        child.kill().expect("it lives");
        // Ended and not waited for is gone, too.
        while started(child.id()).is_some() {
            std::thread::yield_now();
        }
        assert!(record.is_gone());
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
