//! A small file that is replaced as a whole, whatever happens in between.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::durable;
use super::no_follow::open_file_to_append;
use super::plain_file::{Unread, read_plain_file};

/// A file that is only ever replaced as a whole, by one writer at a time.
///
/// Readers take no lock: they see the old or the new file, never a part.
/// Writers take turns on a lock file that is never removed and never renamed;
/// a lock on the file itself would be on something that the next writer
/// replaces. Because they take turns, the temporary file can have a fixed
/// name, so a kill leaves at most one behind, which the next write replaces.
#[derive(Clone, Debug)]
pub(super) struct StatusFile {
    path: PathBuf,
    temporary: PathBuf,
    lock: PathBuf,
}

/// The largest file that is read, and so the largest that is written.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The right to write, until it is dropped.
pub(super) struct WriteTurn<'a> {
    file: &'a StatusFile,
    _lock: File,
}

impl StatusFile {
    /// Takes the file at `path`; its lock and temporary file stand beside it.
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

    /// Returns what the file holds, or `None` if there is none.
    pub(super) fn read(&self) -> Result<Option<Vec<u8>>, Unread> {
        read_plain_file(&self.path, LARGEST)
    }

    /// Waits for the turn to write.
    pub(super) fn turn(&self) -> io::Result<WriteTurn<'_>> {
        let lock = open_file_to_append(&self.lock)?;
        lock.lock()?;
        Ok(WriteTurn {
            file: self,
            _lock: lock,
        })
    }
}

impl WriteTurn<'_> {
    /// Replaces the file by one with `bytes`. Once this returns, a crash or a
    /// power cut does not undo it.
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

        let turn = StatusFile::new(dir.path().join("status.json")).turn().err();

        let error = turn.expect("a symlink").to_string();
        assert_eq!(error, "it is a symlink and not a file");
        assert!(!target.exists());
    }
}
