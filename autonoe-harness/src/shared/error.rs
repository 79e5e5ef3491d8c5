//! What cannot be shared.

use std::io;
use std::path::PathBuf;

use super::ArtifactName;
use crate::StateError;

/// Why something cannot be shared, or what was shared cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SharedError {
    /// What is kept cannot be read or written.
    #[error(transparent)]
    State(#[from] StateError),
    /// Nobody has published anything under the name.
    #[error("there is no artifact {0}")]
    Unknown(ArtifactName),
    /// What is to be published, or was, is no plain file: a folder, a pipe or a symlink.
    #[error("{0:?} is not a file")]
    NotAFile(PathBuf),
    /// What is in a published file is not what was published.
    #[error("the artifact {name} was changed after it was published; its path is {path:?}")]
    Changed {
        /// Its name.
        name: ArtifactName,
        /// Where it is.
        path: PathBuf,
    },
    /// A file cannot be read or written.
    #[error("{path:?} cannot be {doing}")]
    Failed {
        /// The file.
        path: PathBuf,
        /// What was to be done.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
}
