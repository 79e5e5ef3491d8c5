//! JSON files, which are read and replaced atomically, and file locks.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::{Duration, Instant};

use autonoe_core::project::{
    create_file_durably, create_folder, open_file_to_append, replace_file_durably,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::FolderError;

/// Maximum size of a file in bytes, many times what any of them contains.
pub(super) const LARGEST: u64 = 64 * 1024 * 1024;

/// Reads the JSON file at `path`; `None` if it does not exist.
pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, FolderError> {
    let Some(bytes) = read_bytes(path)? else {
        return Ok(None);
    };
    let read = serde_json::from_slice(&bytes);
    read.map(Some)
        .map_err(|error| FolderError::corrupt(path, error.to_string()))
}

/// The version in a JSON file or line. It is parsed first, because the rest of another version may
/// have another meaning.
#[derive(Deserialize)]
pub(super) struct FormatVersion {
    /// The version; `None` in formats without one.
    pub(super) v: Option<u32>,
}

/// Reads the JSON file at `path`, which has version `known`; `None` if it does not exist.
pub(super) fn read_versioned_json<T: DeserializeOwned>(
    path: &Path,
    known: u32,
) -> Result<Option<T>, FolderError> {
    let Some(bytes) = read_bytes(path)? else {
        return Ok(None);
    };
    let corrupt = |error: serde_json::Error| FolderError::corrupt(path, error.to_string());
    let FormatVersion { v } = serde_json::from_slice(&bytes).map_err(corrupt)?;
    match v {
        Some(found) if found != known => Err(FolderError::OtherVersion {
            path: path.to_owned(),
            found,
            known,
        }),
        _ => serde_json::from_slice(&bytes).map(Some).map_err(corrupt),
    }
}

/// Reads the bytes of the file at `path`; `None` if it does not exist.
pub(super) fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, FolderError> {
    // Checked before it is opened: opening a pipe blocks until there is a writer.
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => {
            return Err(FolderError::corrupt(path, "it is not a file"));
        }
        Ok(found) if found.len() > LARGEST => {
            return Err(FolderError::corrupt(path, "it is too large"));
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(FolderError::unreadable(path, source)),
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LARGEST).read_to_end(&mut bytes));
    match read {
        Ok(_) => Ok(Some(bytes)),
        // The file was removed in the meantime.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(FolderError::unreadable(path, source)),
    }
}

/// Refuses a pipe, because reading it would block, and a symlink, because it may point anywhere.
pub(crate) fn require_regular_file(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(found) if !found.is_file() => Err(io::Error::other("it is not a file")),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Atomically replaces the JSON file at `path`.
pub(super) fn replace_json(path: &Path, value: &impl Serialize) -> Result<(), FolderError> {
    let bytes = to_bytes(path, value)?;
    let written = replace_file_durably(path, &bytes);
    written.map_err(|source| FolderError::unwritable(path, source))
}

/// Creates the file at `path`; returns `false` if it exists already.
pub(super) fn create_json(path: &Path, value: &impl Serialize) -> Result<bool, FolderError> {
    let bytes = to_bytes(path, value)?;
    match create_file_durably(path, &bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(source) => Err(FolderError::unwritable(path, source)),
    }
}

/// Creates a folder, if it is missing.
pub(super) fn make_folder(path: &Path) -> Result<(), FolderError> {
    create_folder(path).map_err(|source| FolderError::unwritable(path, source))
}

/// Creates a folder that only this user can access, if it is missing: instructions and orders are
/// private.
pub(super) fn make_private_folder(path: &Path) -> Result<(), FolderError> {
    if let Some(above) = path.parent() {
        make_folder(above)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(path) {
        // The existing path may be a symlink.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => make_folder(path),
        created => created.map_err(|source| FolderError::unwritable(path, source)),
    }
}

/// Removes the file at `path`; returns whether it existed.
pub(super) fn remove(path: &Path) -> Result<bool, FolderError> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(FolderError::unwritable(path, source)),
    }
}

/// Serialises `value` for the file at `path`.
///
/// # Errors
///
/// The result would be too large to be read again.
pub(super) fn to_bytes(path: &Path, value: &impl Serialize) -> Result<Vec<u8>, FolderError> {
    let mut bytes = serde_json::to_vec_pretty(value)
        .map_err(|error| FolderError::unwritable(path, error.into()))?;
    bytes.push(b'\n');
    if bytes.len() as u64 > LARGEST {
        let error = io::Error::new(io::ErrorKind::FileTooLarge, "it is too large");
        return Err(FolderError::unwritable(path, error));
    }
    Ok(bytes)
}

/// Time to wait for a lock that is only held for moments.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

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
        let started = Instant::now();
        loop {
            match Self::acquire(path) {
                Err(FolderError::Held { .. }) if started.elapsed() < LOCK_TIMEOUT => {
                    std::thread::sleep(NAP);
                }
                acquired => return acquired,
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
