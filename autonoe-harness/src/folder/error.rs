//! Errors of member folders.

use std::io;
use std::path::{Path, PathBuf};

use autonoe_core::event::InvalidValue;

/// Error of a member folder. Existing files are left unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// The ID cannot be the name of a folder.
    #[error("{id:?} is not a valid member id: {reason}")]
    Id {
        /// The ID.
        id: String,
        /// The problem with it.
        reason: &'static str,
    },
    /// There is no member.
    #[error("there is no member in {path:?}")]
    NoOrder {
        /// The folder.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("cannot read {path:?}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {path:?}")]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
    /// A file has invalid content.
    #[error("{path:?} is corrupt and was left unchanged: {what}")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The problem with it.
        what: String,
    },
    /// A file has another format version than this program reads.
    #[error(
        "{path:?} has version {found}, and this program reads version {known}; \
         use the version of Autonoe that wrote it"
    )]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version that this program reads.
        known: u32,
    },
    /// A value that no server of a folder can work with.
    #[error(transparent)]
    InvalidValue(#[from] InvalidValue),
    /// Another process serves the folder, or is about to.
    #[error("{path:?} is held by another process")]
    Held {
        /// The lock file.
        path: PathBuf,
    },
}

impl FolderError {
    /// Returns a stable code of the error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Id { .. } => "bad_id",
            Self::NoOrder { .. } => "no_such_member",
            Self::Unreadable { .. } => "unreadable",
            Self::Unwritable { .. } => "unwritable",
            Self::Corrupt { .. } => "corrupt",
            Self::OtherVersion { .. } => "other_version",
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
