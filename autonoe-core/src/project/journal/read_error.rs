//! [`JournalReadError`], an error of reading a journal.

use std::io;
use std::path::{Path, PathBuf};

use crate::project::FileKind;
use crate::project::safe_read::ReadError;

/// An error of reading a journal. The journal stays unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalReadError {
    /// The file cannot be read.
    #[error("the journal {path:?} cannot be read; check its owner and permissions")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// There is no regular file at the path of the journal.
    #[error("the journal {path:?} is {}; move it away", found.instead_of("a file"))]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// The kind of the file at the path.
        found: FileKind,
    },
    /// The file is too large to be a journal.
    #[error("the journal {path:?} is larger than 256 MiB; move it away")]
    TooLarge {
        /// The path.
        path: PathBuf,
    },
    /// A line cannot be parsed.
    #[error(
        "line {number} of the journal {path:?} cannot be parsed; the file is unchanged: repair \
         it or move it away"
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        number: usize,
        /// The error of the line.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A line of a version that this program does not know, most likely a newer one.
    #[error(
        "line {number} of the journal {path:?} has the unknown version {version}; use the \
         version of Autonoe that wrote it, or move the file away"
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

impl JournalReadError {
    /// Returns the reason without the path of the file.
    pub fn reason(&self) -> String {
        match self {
            Self::Unreadable { source, .. } => source.to_string(),
            Self::NotAFile { found, .. } => format!("it is {}", found.instead_of("a file")),
            Self::TooLarge { .. } => "it is larger than 256 MiB".to_owned(),
            Self::Corrupt { number, source, .. } => format!("line {number}: {source}"),
            Self::UnknownVersion {
                number, version, ..
            } => format!("line {number}: it has version {version}"),
        }
    }
}

/// Creates the error for a journal at `path` that cannot be read.
pub(in crate::project) fn unread(path: &Path, unread: ReadError) -> JournalReadError {
    let path = path.to_owned();
    match unread {
        ReadError::NotAFile(found) => JournalReadError::NotAFile { path, found },
        ReadError::TooLarge => JournalReadError::TooLarge { path },
        ReadError::Refused(source) => JournalReadError::Unreadable { path, source },
    }
}

/// Creates the error for a line that cannot be parsed.
pub(in crate::project) fn corrupt(
    path: &Path,
    number: usize,
    what: impl Into<String>,
) -> JournalReadError {
    JournalReadError::Corrupt {
        path: path.to_owned(),
        number,
        source: what.into().into(),
    }
}
