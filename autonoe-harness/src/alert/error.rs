//! Errors of alert logs.

use std::io;
use std::path::PathBuf;

/// Error of an alert log, or of pausing a member on a critical alert.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AlertError {
    /// A log cannot be read or written.
    #[error("the alerts in {path:?} cannot be {doing}")]
    Failed {
        /// The log.
        path: PathBuf,
        /// The operation that failed.
        doing: &'static str,
        /// The I/O error.
        source: io::Error,
    },
    /// The member could not be paused.
    #[error("cannot pause the member in {path:?}")]
    NotPaused {
        /// The folder of the member.
        path: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
}
