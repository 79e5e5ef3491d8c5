//! File locks: one process at a time.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

use autonoe_core::project::open_file_to_append;

use super::FolderError;

/// Time to wait for a lock that is only held for moments.
const PATIENCE: Duration = Duration::from_secs(2);

/// Delay between two attempts.
const NAP: Duration = Duration::from_millis(1);

/// Lock of the operating system on a file, held until it is dropped. It cannot become stale.
#[derive(Debug)]
pub(crate) struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Acquires the lock at `path`. The file is never removed.
    pub(crate) fn acquire(path: &Path) -> Result<Self, FolderError> {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(FolderError::Held {
                path: path.to_owned(),
            }),
            Err(TryLockError::Error(source)) => Err(FolderError::unwritable(path, source)),
        }
    }

    /// Acquires the lock at `path`, waiting up to two seconds: for locks that are only held for
    /// moments.
    ///
    /// # Errors
    ///
    /// [`FolderError::Held`] if another process keeps it: one that is suspended, or an unrelated
    /// program.
    pub(crate) fn acquire_waiting(path: &Path) -> Result<Self, FolderError> {
        let begun = Instant::now();
        loop {
            match Self::acquire(path) {
                Err(FolderError::Held { .. }) if begun.elapsed() < PATIENCE => {
                    std::thread::sleep(NAP);
                }
                taken => return taken,
            }
        }
    }
}

fn open(path: &Path) -> Result<File, FolderError> {
    open_file_to_append(path).map_err(|source| FolderError::unwritable(path, source))
}

impl super::MemberFolder {
    /// Acquires the right to serve the folder.
    pub(crate) fn lock_to_serve(&self) -> Result<FolderLock, FolderError> {
        FolderLock::acquire(&self.file("serve.lock"))
    }

    /// Returns whether a process, or a task of this one, serves the folder. A live process is not
    /// enough: it may have released the folder.
    pub(crate) fn is_served(&self) -> Result<bool, FolderError> {
        let path = self.file("serve.lock");
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(source) => return Err(FolderError::unreadable(&path, source)),
        };
        // Shared, so that two readers do not block each other.
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(source)) => Err(FolderError::unreadable(&path, source)),
        }
    }

    /// Acquires the right to start a process that serves the folder.
    pub(crate) fn lock_to_start(&self) -> Result<FolderLock, FolderError> {
        FolderLock::acquire(&self.file("start.lock"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symlink_in_place_of_the_lock_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, target) = (
            folder.path().join("serve.lock"),
            folder.path().join("target"),
        );
        std::os::unix::fs::symlink(&target, &path).expect("writable");

        assert!(FolderLock::acquire(&path).is_err());
        assert!(!target.exists());
    }
}
