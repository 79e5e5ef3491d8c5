//! Leadership of a fleet: a lock that one process holds at a time.

use std::fs;
use std::io;
use std::path::PathBuf;

use autonoe_core::project::replace_file_durably;

use crate::folder::FolderLock;
use crate::folder::{FolderError, MemberFolder, ServingProcess};

/// Leadership of a fleet, held by this process until it is dropped or the process ends.
#[derive(Debug)]
pub(super) struct Leadership {
    record: PathBuf,
    _lock: FolderLock,
}

impl Leadership {
    /// Acquires the leadership.
    ///
    /// # Errors
    ///
    /// [`FolderError::Held`] by a live process, the record is corrupt, or a file cannot be written.
    pub(super) fn acquire(folder: &MemberFolder) -> Result<Self, FolderError> {
        let lock = FolderLock::acquire(&folder.path().join("lock"))?;
        let record = record_of(folder);
        // The previous leader is gone. A record that cannot be parsed is not replaced.
        leader(folder)?;
        let unwritable = |source| FolderError::unwritable(&record, source);
        let own = serde_json::to_vec(&ServingProcess::current());
        let own = own.map_err(|error| unwritable(error.into()))?;
        replace_file_durably(&record, &own).map_err(unwritable)?;
        Ok(Self {
            record,
            _lock: lock,
        })
    }
}

impl Drop for Leadership {
    fn drop(&mut self) {
        // Before the lock is released: afterwards the record may belong to another process.
        if let Err(error) = fs::remove_file(&self.record) {
            tracing::warn!(%error, "cannot record that the coordinator has ended");
        }
    }
}

/// Returns the live process that leads a fleet, if there is one.
///
/// The lock is not touched: that could interfere with a process that is about to acquire it.
pub(super) fn leader(folder: &MemberFolder) -> Result<Option<u32>, FolderError> {
    let path = record_of(folder);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(FolderError::unreadable(&path, source)),
    };
    let process: Option<ServingProcess> = serde_json::from_slice(&bytes)
        .map_err(|error| FolderError::corrupt(&path, error.to_string()))?;
    let living = process.filter(|process| process.identity().is_alive());
    Ok(living.map(|process| process.pid))
}

fn record_of(folder: &MemberFolder) -> PathBuf {
    folder.path().join("coordinator.json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::MemberId;

    fn folder(root: &std::path::Path) -> MemberFolder {
        let folder = MemberFolder::new(root, &MemberId::new("login")).expect("an id");
        fs::create_dir_all(folder.path()).expect("writable");
        folder
    }

    #[test]
    fn one_process_leads_until_it_releases_the_lock() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());
        assert_eq!(leader(&folder).expect("readable"), None);

        let first = Leadership::acquire(&folder).expect("the lock is free");

        assert_eq!(leader(&folder).expect("readable"), Some(std::process::id()));
        let second = Leadership::acquire(&folder);
        assert!(matches!(second, Err(FolderError::Held { .. })));
        drop(first);
        assert_eq!(leader(&folder).expect("readable"), None);
        Leadership::acquire(&folder).expect("the lock is free");
    }

    #[test]
    fn a_corrupt_record_is_kept() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());
        fs::write(record_of(&folder), "garbage").expect("writable");

        let refused = Leadership::acquire(&folder);

        assert!(matches!(refused, Err(FolderError::Corrupt { .. })));
        let left = fs::read_to_string(record_of(&folder)).expect("there");
        assert_eq!(left, "garbage");
    }

    #[test]
    fn a_killed_process_is_no_leader() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());
        let killed = r#"{"pid": 1, "started": "before"}"#;
        fs::write(record_of(&folder), killed).expect("writable");

        assert_eq!(leader(&folder).expect("readable"), None);
    }
}
