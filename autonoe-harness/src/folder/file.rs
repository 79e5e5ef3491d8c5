//! JSON files that are whole or not there.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use autonoe_core::{create_file_durably, create_folder, replace_file_durably};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::FolderError;

/// Many times what any of our files holds.
pub(super) const LARGEST: u64 = 64 * 1024 * 1024;

/// Reads the file at `path`; `None` if there is nothing.
pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, FolderError> {
    let Some(bytes) = read_bytes(path)? else {
        return Ok(None);
    };
    let read = serde_json::from_slice(&bytes);
    read.map(Some)
        .map_err(|error| FolderError::corrupt(path, error.to_string()))
}

/// Reads the bytes of the file at `path`; `None` if there is nothing.
pub(super) fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, FolderError> {
    // Looked at before it is opened: to open a pipe is to wait for its writer.
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => return Err(FolderError::corrupt(path, "it is no file")),
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
        // Somebody took it away in the meantime.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(FolderError::unreadable(path, source)),
    }
}

/// Replaces the file at `path`.
pub(super) fn replace_json(path: &Path, value: &impl Serialize) -> Result<(), FolderError> {
    let bytes = to_bytes(path, value)?;
    let written = replace_file_durably(path, &bytes);
    written.map_err(|source| FolderError::unwritable(path, source))
}

/// Makes the file at `path`; returns `false` if there is one already.
pub(super) fn create_json(path: &Path, value: &impl Serialize) -> Result<bool, FolderError> {
    let bytes = to_bytes(path, value)?;
    match create_file_durably(path, &bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(source) => Err(FolderError::unwritable(path, source)),
    }
}

/// Makes a folder, if it is not there.
pub(super) fn make_folder(path: &Path) -> Result<(), FolderError> {
    create_folder(path).map_err(|source| FolderError::unwritable(path, source))
}

/// Makes a folder that only this user can look into, if it is not there: instructions and orders are
/// nobody else's business.
pub(super) fn make_private_folder(path: &Path) -> Result<(), FolderError> {
    if let Some(above) = path.parent() {
        make_folder(above)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(path) {
        // What is there may be a symlink.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => make_folder(path),
        made => made.map_err(|source| FolderError::unwritable(path, source)),
    }
}

/// Removes the file at `path`; returns whether there was one.
pub(super) fn remove(path: &Path) -> Result<bool, FolderError> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(FolderError::unwritable(path, source)),
    }
}

/// Returns what is written for `value`.
///
/// # Errors
///
/// It is more than could be read again.
pub(super) fn to_bytes(path: &Path, value: &impl Serialize) -> Result<Vec<u8>, FolderError> {
    let mut bytes = serde_json::to_vec_pretty(value)
        .map_err(|error| FolderError::unwritable(path, error.into()))?;
    bytes.push(b'\n');
    if bytes.len() as u64 > LARGEST {
        let error = io::Error::new(io::ErrorKind::FileTooLarge, "nobody could read it again");
        return Err(FolderError::unwritable(path, error));
    }
    Ok(bytes)
}
