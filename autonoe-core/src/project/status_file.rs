//! A small file that is replaced as a whole, whatever happens in between.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

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

fn too_large() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 64 MiB")
}

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
    pub(super) fn read(&self) -> io::Result<Option<Vec<u8>>> {
        read_plain_file(&self.path, LARGEST).map_err(|unread| match unread {
            Unread::NotAFile => io::Error::other("it is not a file; move it away"),
            Unread::TooLarge => too_large(),
            Unread::Refused(error) => error,
        })
    }

    /// Waits for the turn to write.
    pub(super) fn turn(&self) -> io::Result<WriteTurn<'_>> {
        let lock = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.lock)?;
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
            return Err(too_large());
        }
        let StatusFile {
            path, temporary, ..
        } = self.file;
        let written = write_durably(path, temporary, bytes);
        if written.is_err() {
            // A half-written file is of no use to anybody; the error is told.
            let _ = fs::remove_file(temporary);
        }
        written?;
        // Without this the new name may be lost in a power cut.
        match path.parent() {
            Some(folder) => File::open(folder)?.sync_all(),
            None => Ok(()),
        }
    }
}

fn write_durably(path: &Path, temporary: &Path, bytes: &[u8]) -> io::Result<()> {
    // Made anew: what stands there may be half a file, or a symlink that leads elsewhere.
    match fs::remove_file(temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(temporary)?;
    if let Ok(found) = fs::metadata(path) {
        file.set_permissions(found.permissions())?;
    }
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(temporary, path)
}
