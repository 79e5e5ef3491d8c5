//! [`StatusFile`], a small file that is replaced atomically by one writer at a time.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::durable;
use super::no_follow::open_file_to_append;
use super::safe_read::{ReadError, read_file};

/// A file that is only ever replaced completely, by one writer at a time.
///
/// Readers take no lock: they see the old or the new file, never a part. Writers take turns with a
/// lock file that is never removed or renamed; a lock on the file itself would be lost when the
/// next writer replaces it. Because they take turns, the temporary file can have a fixed name, so a
/// kill leaves at most one behind, which the next write replaces.
#[derive(Clone, Debug)]
pub(super) struct StatusFile {
    path: PathBuf,
    temporary: PathBuf,
    lock: PathBuf,
}

/// The maximum size of the file for reading and writing, in bytes.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The right to write, until it is dropped.
pub(super) struct WriteLock<'a> {
    file: &'a StatusFile,
    _lock: File,
}

impl StatusFile {
    /// Uses the file at `path`; its lock and temporary file are beside it.
    pub(super) fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self {
            temporary: path.with_extension("json.tmp"),
            lock: path.with_extension("lock"),
            path,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the content of the file, or `None` if there is none.
    pub(super) fn read(&self) -> Result<Option<Vec<u8>>, ReadError> {
        read_file(&self.path, LARGEST)
    }

    /// Waits for the write lock.
    pub(super) fn lock(&self) -> io::Result<WriteLock<'_>> {
        let lock = open_file_to_append(&self.lock)?;
        lock.lock()?;
        Ok(WriteLock {
            file: self,
            _lock: lock,
        })
    }
}

impl WriteLock<'_> {
    /// Replaces the content of the file by `bytes`. Once this returns, a crash or a power cut does
    /// not undo it.
    pub(super) fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() as u64 > LARGEST {
            let message = "it would be larger than 64 MiB";
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        durable::replace(&self.file.path, &self.file.temporary, bytes)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_symlink_in_place_of_the_lock_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let target = dir.path().join("target");
        std::os::unix::fs::symlink(&target, dir.path().join("status.lock")).expect("writable");

        let turn = StatusFile::new(dir.path().join("status.json")).lock().err();

        let error = turn.expect("a symlink").to_string();
        assert_eq!(error, "it is a symlink and not a file");
        assert!(!target.exists());
    }
}
