//! Errors of the state databases.

use std::path::PathBuf;

/// Error of a state database. Stored data is left unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The named object does not exist.
    #[error("there is no {0}")]
    Unknown(String),
    /// Another object of that name exists already.
    #[error("another {0} already exists")]
    Conflict(String),
    /// The data contradicts itself.
    #[error("{0}")]
    Invalid(String),
    /// Another process has taken over the leadership of the fleet.
    #[error("epoch {epoch} no longer owns the fleet {fleet}; another process has taken over")]
    Fenced {
        /// The fleet.
        fleet: String,
        /// The epoch of the refused leader.
        epoch: u64,
    },
    /// Other processes have held the write lock for too long.
    #[error("{path:?} is locked by other processes; try again later")]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The file has another version than this program reads.
    #[error(
        "{path:?} has version {found}, and this program reads version {known}; \
         use the version of Autonoe that wrote it, or move the file away"
    )]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The version that this program reads.
        known: i64,
    },
    /// The file belongs to another program.
    #[error("{path:?} is {found}, not {expected}; it was left unchanged: move it away")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Description of the file.
        found: &'static str,
        /// Expected kind of file.
        expected: &'static str,
    },
    /// The file is damaged.
    #[error("{path:?} is damaged: {reason}; it was left unchanged: move it away or restore a copy")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The problem with it.
        reason: String,
    },
    /// The file could not be read or written.
    #[error("cannot use {path:?}: {doing}")]
    Failed {
        /// The file.
        path: PathBuf,
        /// The operation that failed.
        doing: &'static str,
        /// The error.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
