//! Replaces a file so that a power cut leaves either the old or the new one.

#[cfg(test)]
mod faulty_disk;
#[cfg(test)]
mod tests;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Replaces the file at `path` by one with `bytes`, which is first written to `temporary` beside
/// it.
///
/// Once this returns, a crash or a power cut does not undo it. Before that, and after an error,
/// there is the old or the new file, never a part. Concurrent writers must not use the same
/// `temporary`.
pub(super) fn replace(path: &Path, temporary: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_on(&SystemDisk, path, temporary, bytes)
}

/// Writes `bytes` to a new file at `path`, with the permissions of the file at `like`.
///
/// Once this returns, a crash or a power cut does not undo it. A crash before that can leave a
/// part.
///
/// # Errors
///
/// [`AlreadyExists`](io::ErrorKind::AlreadyExists), and the existing file stays unchanged. After
/// any other error there is no file.
pub(super) fn create(path: &Path, like: &Path, bytes: &[u8]) -> io::Result<()> {
    let disk = SystemDisk;
    let file = disk.write_new(path, like, bytes);
    let written = file.and_then(|file| disk.sync(&file));
    match written.and_then(|()| disk.sync_folder(parent_folder(path))) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            // The error is returned; a partial file is useless.
            let _ = disk.remove(path);
            Err(error)
        }
        done => done,
    }
}

/// Returns once the name of the file at `path` is durable. Does nothing where a folder cannot be
/// synced.
pub(super) fn sync_parent_folder(path: &Path) -> io::Result<()> {
    SystemDisk.sync_folder(parent_folder(path))
}

fn replace_on<D: Disk>(disk: &D, path: &Path, temporary: &Path, bytes: &[u8]) -> io::Result<()> {
    let written = write_and_rename(disk, path, temporary, bytes);
    if written.is_err() {
        // A partial file is useless; the error is returned.
        let _ = disk.remove(temporary);
    }
    written?;
    // Without this the new name may be lost in a power cut.
    disk.sync_folder(parent_folder(path))
}

fn write_and_rename<D: Disk>(
    disk: &D,
    path: &Path,
    temporary: &Path,
    bytes: &[u8],
) -> io::Result<()> {
    // Created anew: an existing file may be partial, or a symlink to another place.
    disk.remove(temporary)?;
    let file = disk.write_new(temporary, path, bytes)?;
    // Before the rename, or a power cut may leave the new name with a partial file.
    disk.sync(&file)?;
    disk.rename(temporary, path)
}

/// Returns the folder of `path`; a bare name is in the working directory.
fn parent_folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// The disk operations that replace a file.
///
/// Only synced data survives a power cut: bytes by [`sync`](Self::sync), names by
/// [`sync_folder`](Self::sync_folder). Any part of the rest may survive, except that a rename
/// happens completely or not at all.
trait Disk {
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
struct SystemDisk;

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
