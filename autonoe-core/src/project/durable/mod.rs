//! Replaces a file so that a power cut leaves the old or the new one.

#[cfg(test)]
mod cache;
mod disk;
#[cfg(test)]
mod lying_disk;
#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;

use disk::{Disk, SystemDisk};

/// Replaces the file at `path` by one with `bytes`, which is written to `temporary` beside it first.
///
/// Once this returns, a crash or a power cut does not undo it. Before that, and
/// after an error, there is the old or the new file, never a part. Two writers
/// at once must not use the same `temporary`.
pub(super) fn replace(path: &Path, temporary: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_on(&SystemDisk, path, temporary, bytes)
}

/// Writes `bytes` to a new file at `path`, with the permissions of the one at `like`.
///
/// Once this returns, a crash or a power cut does not undo it. A crash before that can leave a part.
///
/// # Errors
///
/// [`AlreadyExists`](io::ErrorKind::AlreadyExists), and the file there is left alone. After any other
/// error there is no file.
pub(super) fn create(path: &Path, like: &Path, bytes: &[u8]) -> io::Result<()> {
    let disk = SystemDisk;
    let file = disk.write_new(path, like, bytes);
    let written = file.and_then(|file| disk.sync(&file));
    match written.and_then(|()| disk.sync_folder(folder_of(path))) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            // The error is reported; a part of a file is of no use.
            let _ = disk.remove(path);
            Err(error)
        }
        done => done,
    }
}

/// Returns once the name of the file at `path` is safe.
pub(super) fn sync_folder_of(path: &Path) -> io::Result<()> {
    SystemDisk.sync_folder(folder_of(path))
}

fn replace_on<D: Disk>(disk: &D, path: &Path, temporary: &Path, bytes: &[u8]) -> io::Result<()> {
    let written = write_and_rename(disk, path, temporary, bytes);
    if written.is_err() {
        // A half-written file is of no use to anybody; the error is told.
        let _ = disk.remove(temporary);
    }
    written?;
    // Without this the new name may be lost in a power cut.
    disk.sync_folder(folder_of(path))
}

fn write_and_rename<D: Disk>(
    disk: &D,
    path: &Path,
    temporary: &Path,
    bytes: &[u8],
) -> io::Result<()> {
    // Made anew: what stands there may be half a file, or a symlink that leads elsewhere.
    disk.remove(temporary)?;
    let file = disk.write_new(temporary, path, bytes)?;
    // Before the new name, or a power cut may leave that name with half a file.
    disk.sync(&file)?;
    disk.rename(temporary, path)
}

/// Returns the folder of `path`; a bare name stands in the working directory.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}
