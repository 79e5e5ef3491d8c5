//! Who leads a fleet: one process at a time.

use std::fs;
use std::io;
use std::path::PathBuf;

use autonoe_core::replace_file_durably;

use crate::folder::FolderLock;
use crate::{FolderError, HarnessFolder, ServingProcess};

/// The right of this process to lead a fleet, until it is dropped or the process is gone.
#[derive(Debug)]
pub(super) struct Leading {
    record: PathBuf,
    _lock: FolderLock,
}

impl Leading {
    /// Takes the right.
    ///
    /// # Errors
    ///
    /// [`FolderError::Held`] by somebody who lives, what is there is corrupt, or nothing can be
    /// written.
    pub(super) fn take(desk: &HarnessFolder) -> Result<Self, FolderError> {
        let lock = FolderLock::take(&desk.path().join("lock"))?;
        let record = record_of(desk);
        // Who had it is gone. What nobody of us wrote is not replaced.
        leader(desk)?;
        let unwritable = |source| FolderError::unwritable(&record, source);
        let own = serde_json::to_vec(&ServingProcess::own());
        let own = own.map_err(|error| unwritable(error.into()))?;
        replace_file_durably(&record, &own).map_err(unwritable)?;
        Ok(Self {
            record,
            _lock: lock,
        })
    }
}

impl Drop for Leading {
    fn drop(&mut self) {
        // Before the lock is let go: afterwards it may be what somebody else wrote.
        if let Err(error) = fs::remove_file(&self.record) {
            tracing::warn!(%error, "that nobody leads a fleet any more cannot be written down");
        }
    }
}

/// Returns the process that leads a fleet, if one that lives does.
///
/// The lock is not touched: that would be in the way of who is about to take it.
pub(super) fn leader(desk: &HarnessFolder) -> Result<Option<u32>, FolderError> {
    let path = record_of(desk);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(FolderError::unreadable(&path, source)),
    };
    let process: Option<ServingProcess> = serde_json::from_slice(&bytes)
        .map_err(|error| FolderError::corrupt(&path, error.to_string()))?;
    let living = process.filter(|process| process.identity().lives());
    Ok(living.map(|process| process.pid))
}

fn record_of(desk: &HarnessFolder) -> PathBuf {
    desk.path().join("coordinator.json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HarnessId;

    fn desk(root: &std::path::Path) -> HarnessFolder {
        let desk = HarnessFolder::of(root, &HarnessId::new("login")).expect("an id");
        fs::create_dir_all(desk.path()).expect("writable");
        desk
    }

    #[test]
    fn one_leads_at_a_time_and_who_lets_go_is_nobody() {
        let root = tempfile::tempdir().expect("a folder");
        let desk = desk(root.path());
        assert_eq!(leader(&desk).expect("readable"), None);

        let first = Leading::take(&desk).expect("nobody leads");

        assert_eq!(leader(&desk).expect("readable"), Some(std::process::id()));
        let second = Leading::take(&desk);
        assert!(matches!(second, Err(FolderError::Held { .. })));
        drop(first);
        assert_eq!(leader(&desk).expect("readable"), None);
        Leading::take(&desk).expect("nobody leads");
    }

    #[test]
    fn what_is_corrupt_is_kept() {
        let root = tempfile::tempdir().expect("a folder");
        let desk = desk(root.path());
        fs::write(record_of(&desk), "garbage").expect("writable");

        let refused = Leading::take(&desk);

        assert!(matches!(refused, Err(FolderError::Corrupt { .. })));
        let left = fs::read_to_string(record_of(&desk)).expect("there");
        assert_eq!(left, "garbage");
    }

    #[test]
    fn one_that_was_killed_is_nobody() {
        let root = tempfile::tempdir().expect("a folder");
        let desk = desk(root.path());
        let gone = r#"{"pid": 1, "started": "before"}"#;
        fs::write(record_of(&desk), gone).expect("writable");

        assert_eq!(leader(&desk).expect("readable"), None);
    }
}
