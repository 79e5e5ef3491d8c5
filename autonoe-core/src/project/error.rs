//! [`ProjectError`], an error of a project directory.

use std::io;
use std::path::{Path, PathBuf};

use super::{FileKind, JournalReadError, RunLockHeld, TextFileError};

/// An error of a project directory, with advice for its repair.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// There is no such directory.
    #[error("there is no directory {path:?}; create it, or name another one")]
    NoDirectory {
        /// The path.
        path: PathBuf,
    },
    /// The path of the project directory is not a directory.
    #[error("{path:?} is {}; name the directory of a project", found.instead_of("a directory"))]
    NotADirectory {
        /// The path.
        path: PathBuf,
        /// The kind of the file at the path.
        found: FileKind,
    },
    /// The specification is missing.
    #[error("there is no file {path:?}; create it and describe what to build")]
    NoSpecification {
        /// The path.
        path: PathBuf,
    },
    /// The specification is blank.
    #[error("{path:?} is blank; describe in it what to build")]
    BlankSpecification {
        /// The path.
        path: PathBuf,
    },
    /// The specification cannot be read as a text.
    #[error(transparent)]
    Text(#[from] TextFileError),
    /// There is no folder at the path of one of Autonoe's folders.
    #[error("{path:?} is {}; move it away", found.instead_of("a folder"))]
    NotAFolder {
        /// The path.
        path: PathBuf,
        /// The kind of the file at the path.
        found: FileKind,
    },
    /// There is no regular file at the path of one of Autonoe's files.
    #[error("{path:?} is {}; move it away", found.instead_of("a file"))]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// The kind of the file at the path.
        found: FileKind,
    },
    /// A journal ends neither with a line nor with the beginning of one.
    #[error("{path:?} ends with something that is not a journal entry; repair it or move it away")]
    CorruptLogEnd {
        /// The path.
        path: PathBuf,
    },
    /// A file or folder of Autonoe was moved or removed while it was in use.
    #[error(
        "{path:?} is gone: it was moved or removed while a run was in progress; put it back and \
         start again"
    )]
    Removed {
        /// The path.
        path: PathBuf,
    },
    /// A file or folder of Autonoe was replaced while it was in use.
    #[error(
        "{path:?} was replaced while a run was in progress; decide which version to keep, and \
         start again"
    )]
    Replaced {
        /// The path.
        path: PathBuf,
    },
    /// A file or folder cannot be read.
    #[error("{path:?} cannot be read; check its owner and permissions")]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file or folder cannot be written to.
    #[error(
        "{path:?} cannot be written to; check its owner, its permissions and the free disk \
         space"
    )]
    Unwritable {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalReadError),
    /// Another run holds the run lock.
    #[error(transparent)]
    Locked(#[from] RunLockHeld),
}

impl ProjectError {
    pub(super) fn unreadable(path: &Path, source: io::Error) -> Self {
        Self::Unreadable {
            path: path.to_owned(),
            source,
        }
    }

    pub(super) fn unwritable(path: &Path, source: io::Error) -> Self {
        Self::Unwritable {
            path: path.to_owned(),
            source,
        }
    }
}
