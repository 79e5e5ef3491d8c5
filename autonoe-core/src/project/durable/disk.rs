//! What a file that must survive a power cut asks of a disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// The few things that are done to a disk to replace a file.
///
/// Only what was synced survives a power cut: bytes by [`sync`](Self::sync),
/// names by [`sync_folder`](Self::sync_folder). Of everything else any part may
/// be there afterwards, except that a rename happens as a whole or not at all.
pub(super) trait Disk {
    /// A file that was written.
    type File;

    /// Removes the file at `path`, if there is one.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes a file at `path`, where there must be none, that holds `bytes`
    /// and has the permissions of the one at `like`, if there is one.
    fn write_new(&self, path: &Path, like: &Path, bytes: &[u8]) -> io::Result<Self::File>;

    /// Returns once the bytes of `file` are safe.
    fn sync(&self, file: &Self::File) -> io::Result<()>;

    /// Gives the file at `from` the name `to`, which another one may have had.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Returns once the names in `folder` are safe.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
}

/// The disk of the operating system.
#[derive(Clone, Copy, Debug)]
pub(super) struct SystemDisk;

impl Disk for SystemDisk {
    type File = File;

    fn remove(&self, path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn write_new(&self, path: &Path, like: &Path, bytes: &[u8]) -> io::Result<File> {
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        if let Ok(found) = fs::symlink_metadata(like)
            && found.is_file()
        {
            file.set_permissions(found.permissions())?;
        }
        file.write_all(bytes)?;
        Ok(file)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }
}
