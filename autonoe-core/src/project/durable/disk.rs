//! [`Disk`], the disk operations that replace a file durably.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// The disk operations that replace a file.
///
/// Only synced data survives a power cut: bytes by [`sync`](Self::sync), names by
/// [`sync_folder`](Self::sync_folder). Any part of the rest may survive, except that a rename
/// happens completely or not at all.
pub(super) trait Disk {
    /// A written file.
    type File;

    /// Removes the file at `path`, if there is one.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Creates a file at `path` with the content `bytes` and the permissions of the file at `like`,
    /// if there is one. Fails if there is already a file at `path`.
    fn write_new(&self, path: &Path, like: &Path, bytes: &[u8]) -> io::Result<Self::File>;

    /// Returns once the bytes of `file` are durable.
    fn sync(&self, file: &Self::File) -> io::Result<()>;

    /// Renames the file at `from` to `to`, replacing the file there.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Returns once the names in `folder` are durable.
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
        sync_folder(folder)
    }
}

/// Returns once the names in `folder` are durable.
#[cfg(unix)]
pub(in crate::project) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Does nothing: other systems cannot open a folder to sync it. A power cut may lose a new name.
#[cfg(not(unix))]
pub(in crate::project) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
