//! What a sub-harness is asked for by files: to hold, and to end.

use std::io;

use autonoe_core::replace_file_durably;

use super::file::{create_json, read_json, remove};
use super::{FolderError, HarnessFolder};

/// The name of the file that asks a sub-harness to hold.
const PAUSE: &str = "pause";

/// The name of the file that asks a sub-harness to end, and says why.
const STOP: &str = "stop";

impl HarnessFolder {
    /// Asks the sub-harness to begin nothing more until it is resumed.
    ///
    /// # Errors
    ///
    /// The folder cannot be written.
    pub fn request_pause(&self) -> Result<(), FolderError> {
        let path = self.file(PAUSE);
        let written = replace_file_durably(&path, b"");
        written.map_err(|source| FolderError::unwritable(&path, source))
    }

    /// Asks the sub-harness to go on.
    ///
    /// # Errors
    ///
    /// The folder cannot be written.
    pub fn request_resume(&self) -> Result<(), FolderError> {
        remove(&self.file(PAUSE)).map(|_| ())
    }

    /// Asks the sub-harness to end. The first reason stands.
    ///
    /// # Errors
    ///
    /// The folder cannot be written.
    pub fn request_stop(&self, reason: &str) -> Result<(), FolderError> {
        create_json(&self.file(STOP), &reason).map(|_| ())
    }

    /// Tells whether it was asked to hold.
    pub fn is_pause_requested(&self) -> Result<bool, FolderError> {
        let path = self.file(PAUSE);
        match path.symlink_metadata() {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(FolderError::unreadable(&path, source)),
        }
    }

    /// Returns why it was asked to end, if it was. A file that holds no reason asks all the same.
    pub fn stop_requested(&self) -> Result<Option<String>, FolderError> {
        let reason = read_json(&self.file(STOP));
        match reason {
            Err(FolderError::Corrupt { .. }) => Ok(Some("a stop file was put there".to_owned())),
            reason => reason,
        }
    }
}
