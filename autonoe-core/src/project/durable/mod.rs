//! Replaces a file so that a power cut leaves either the old or the new one.

#[cfg(test)]
mod cache;
mod disk;
#[cfg(test)]
mod faulty_disk;
#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;

pub(super) use disk::sync_folder;
use disk::{Disk, SystemDisk};

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
