//! Why state cannot be read or written.

use std::path::PathBuf;

use crate::TaskId;

/// Why state cannot be read or written. What is kept was left as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// There is no such thing.
    #[error("there is no {0}")]
    Unknown(String),
    /// There is another one of that name already.
    #[error("there is another {0} already")]
    Conflict(String),
    /// What is to be kept contradicts itself.
    #[error("{0}")]
    Invalid(String),
    /// Somebody else has taken over what this was about.
    #[error("the claim on {what} of epoch {epoch} is not valid any more")]
    Fenced {
        /// What was claimed, for people.
        what: String,
        /// The epoch of the claim that was refused.
        epoch: u64,
    },
    /// Others have been writing for too long.
    #[error("{path:?} is being written by others for too long")]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The file is of a version that is not known here.
    #[error(
        "{path:?} is of version {found}, and this program knows versions up to {known}; \
         use the version of Autonoe that wrote it, or move the file away"
    )]
    NewerVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version that is known here.
        known: i64,
    },
    /// The file is somebody else's.
    #[error("{path:?} is {what}, not {expected}; it was left as it is: move it away")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is.
        what: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// The file is damaged.
    #[error(
        "{path:?} is damaged: {reason}; it was left as it is: move it away or bring back a copy"
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file could not be read or written.
    #[error("{path:?} could not be used: {doing}")]
    Failed {
        /// The file.
        path: PathBuf,
        /// What was to be done.
        doing: &'static str,
        /// What went wrong there.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl StateError {
    pub(crate) fn fenced(what: impl std::fmt::Display, epoch: u64) -> Self {
        Self::Fenced {
            what: what.to_string(),
            epoch,
        }
    }

    pub(crate) fn unknown_task(id: &TaskId) -> Self {
        Self::Unknown(format!("task {id}"))
    }
}
