//! What can be wrong with a project directory.

use std::io;
use std::path::{Path, PathBuf};

use super::{FileKind, RunLockHeld, TextFileError};

/// What is wrong with a project directory, and how to mend it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// There is no such directory.
    #[error("there is no directory {path:?}; make it, or name another one")]
    NoDirectory {
        /// The path.
        path: PathBuf,
    },
    /// Something else stands where the directory should be.
    #[error("{path:?} is {}; name the directory of a project", found.instead_of("a directory"))]
    NotADirectory {
        /// The path.
        path: PathBuf,
        /// What stands there.
        found: FileKind,
    },
    /// The specification is missing.
    #[error("there is no file {path:?}; write down there what is to be built")]
    NoSpecification {
        /// The path.
        path: PathBuf,
    },
    /// The specification says nothing.
    #[error("{path:?} is blank; write down there what is to be built")]
    BlankSpecification {
        /// The path.
        path: PathBuf,
    },
    /// The specification cannot be read as a text.
    #[error(transparent)]
    Text(#[from] TextFileError),
    /// Something else stands in the place of a folder of ours.
    #[error("{path:?} is {}; move it away", found.instead_of("a folder"))]
    NotAFolder {
        /// The path.
        path: PathBuf,
        /// What stands there.
        found: FileKind,
    },
    /// Something else stands in the place of a file of ours.
    #[error("{path:?} is {}; move it away", found.instead_of("a file"))]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What stands there.
        found: FileKind,
    },
    /// A journal does not end with a line of ours, nor with the beginning of one.
    #[error("{path:?} ends with something that is no line of a journal; mend it or move it away")]
    ForeignEnd {
        /// The path.
        path: PathBuf,
    },
    /// Something of ours was moved away or removed while it was in use.
    #[error(
        "{path:?} is gone: it was moved away or removed while a run was under way; \
         put it back and start again"
    )]
    Gone {
        /// The path.
        path: PathBuf,
    },
    /// Something else was put in the place of what was in use.
    #[error(
        "{path:?} was replaced by something else while a run was under way; \
         look which of them you want to keep, and start again"
    )]
    Replaced {
        /// The path.
        path: PathBuf,
    },
    /// Something cannot be read.
    #[error("{path:?} cannot be read; check its owner and permissions")]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something cannot be written to.
    #[error("{path:?} cannot be written to; check its owner and permissions, and the space left")]
    Unwritable {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another run is under way.
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
