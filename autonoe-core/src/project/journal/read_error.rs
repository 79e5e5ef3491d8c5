//! Errors of reading a journal.

use std::io;
use std::path::{Path, PathBuf};

use crate::project::FileKind;
use crate::project::plain_file::Unread;

/// Why a journal cannot be read. It was left as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalReadError {
    /// The file cannot be read.
    #[error("the journal {path:?} cannot be read; check its owner and permissions")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something else stands in the place of the file.
    #[error("the journal {path:?} is {}; move it away", found.instead_of("a file"))]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What stands there.
        found: FileKind,
    },
    /// The file is too large to be a journal.
    #[error("the journal {path:?} is larger than 256 MiB; move it away")]
    TooLarge {
        /// The path.
        path: PathBuf,
    },
    /// A line is not what it should be.
    #[error(
        "line {number} of the journal {path:?} cannot be understood; \
         it was left as it is: repair it or move the file away"
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        number: usize,
        /// What is wrong with it.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A line of a version that this program does not know, most likely a newer one.
    #[error(
        "line {number} of the journal {path:?} is of version {version}, which is not known here; \
         use the version of Autonoe that wrote it, or move the file away"
    )]
    UnknownVersion {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        number: usize,
        /// The version.
        version: u32,
    },
}

/// Says why the journal at `path` cannot be read.
pub(super) fn unread(path: &Path, unread: Unread) -> JournalReadError {
    let path = path.to_owned();
    match unread {
        Unread::NotAFile(found) => JournalReadError::NotAFile { path, found },
        Unread::TooLarge => JournalReadError::TooLarge { path },
        Unread::Refused(source) => JournalReadError::Unreadable { path, source },
    }
}

/// Says what is wrong with a line.
pub(super) fn corrupt(path: &Path, number: usize, what: impl Into<String>) -> JournalReadError {
    JournalReadError::Corrupt {
        path: path.to_owned(),
        number,
        source: what.into().into(),
    }
}
