//! Why alerts cannot be kept or read.

use std::io;
use std::path::PathBuf;

/// Why alerts cannot be kept or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AlertError {
    /// A log cannot be read or written.
    #[error("the alerts in {path:?} cannot be {doing}")]
    Failed {
        /// The log.
        path: PathBuf,
        /// What was to be done.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A sub-harness was to be paused, and that cannot be asked for.
    #[error("the sub-harness in {path:?} cannot be paused")]
    NotPaused {
        /// Its folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}
