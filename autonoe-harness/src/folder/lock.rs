//! One process at a time.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

use autonoe_core::open_file_to_append;

use super::FolderError;

/// How long somebody may keep what is held for a moment only.
const PATIENCE: Duration = Duration::from_secs(2);

/// Between two tries.
const NAP: Duration = Duration::from_millis(1);

/// A lock of the operating system on a file, until it is dropped. It cannot be stale.
#[derive(Debug)]
pub(crate) struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Takes the lock at `path`, whose file is never removed.
    pub(crate) fn take(path: &Path) -> Result<Self, FolderError> {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(FolderError::Held {
                path: path.to_owned(),
            }),
            Err(TryLockError::Error(source)) => Err(FolderError::unwritable(path, source)),
        }
    }

    /// Takes the lock at `path` as soon as nobody else has it: for what is held for a moment only.
    ///
    /// # Errors
    ///
    /// [`FolderError::Held`] if somebody keeps it: one that was stopped, or a stranger.
    pub(crate) fn wait(path: &Path) -> Result<Self, FolderError> {
        let begun = Instant::now();
        loop {
            match Self::take(path) {
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

impl super::HarnessFolder {
    /// Takes the right to serve the folder.
    pub(crate) fn lock_to_serve(&self) -> Result<FolderLock, FolderError> {
        FolderLock::take(&self.file("serve.lock"))
    }

    /// Tells whether a process, or a task of this one, serves the folder. That a process lives says
    /// less: it may have let go of the folder.
    pub(crate) fn is_served(&self) -> Result<bool, FolderError> {
        let path = self.file("serve.lock");
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(source) => return Err(FolderError::unreadable(&path, source)),
        };
        // Shared, so that two who look are not in each other's way.
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(source)) => Err(FolderError::unreadable(&path, source)),
        }
    }

    /// Takes the right to start a process that serves the folder.
    pub(crate) fn lock_to_start(&self) -> Result<FolderLock, FolderError> {
        FolderLock::take(&self.file("start.lock"))
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

        assert!(FolderLock::take(&path).is_err());
        assert!(!target.exists());
    }
}
