//! What cannot be done with a sub-harness.

use crate::{FolderError, HarnessId};

/// What cannot be done with a sub-harness.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HandleError {
    /// It has ended and takes nothing more.
    #[error("the sub-harness {0} has ended")]
    Ended(HarnessId),
    /// Its folder cannot be read or written.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Processes of it live on, although they were killed.
    #[error("{left} processes of the sub-harness {id} cannot be killed")]
    Unkillable {
        /// Who it is.
        id: HarnessId,
        /// How many live.
        left: usize,
    },
}

impl HandleError {
    /// Returns a name of the kind for programs to compare, which stays as it is.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Ended(_) => "ended",
            Self::Folder(error) => error.code(),
            Self::Unkillable { .. } => "unkillable",
        }
    }
}
