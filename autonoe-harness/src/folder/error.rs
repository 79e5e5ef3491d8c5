//! What can be wrong with the folder of a sub-harness.

use std::io;
use std::path::{Path, PathBuf};

use autonoe_core::InvalidValue;

/// What is wrong with the folder of a sub-harness. What is there is kept as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// No folder can have this id for a name.
    #[error("{id:?} cannot be the id of a sub-harness: {reason}")]
    Id {
        /// The id.
        id: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// There is no sub-harness.
    #[error("there is no sub-harness in {path:?}")]
    NoOrder {
        /// Its folder.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("{path:?} cannot be read")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("{path:?} cannot be written")]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file does not hold what it should.
    #[error("{path:?} is corrupt and was left as it is: {what}")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A value with which no folder could be watched.
    #[error(transparent)]
    InvalidValue(#[from] InvalidValue),
    /// Another process serves the folder, or is about to.
    #[error("{path:?} is held by another process")]
    Held {
        /// The lock.
        path: PathBuf,
    },
}

impl FolderError {
    /// Returns a name of the kind for programs to compare, which stays as it is.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Id { .. } => "bad_id",
            Self::NoOrder { .. } => "no_such_harness",
            Self::Unreadable { .. } => "unreadable",
            Self::Unwritable { .. } => "unwritable",
            Self::Corrupt { .. } => "corrupt",
            Self::InvalidValue(_) => InvalidValue::CODE,
            Self::Held { .. } => "held",
        }
    }

    pub(crate) fn unreadable(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        Self::Unreadable { path, source }
    }

    pub(crate) fn unwritable(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        Self::Unwritable { path, source }
    }

    pub(crate) fn corrupt(path: &Path, what: impl Into<String>) -> Self {
        Self::Corrupt {
            path: path.to_owned(),
            what: what.into(),
        }
    }
}
