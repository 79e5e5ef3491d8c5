//! What is being done to worktrees, written down so that a kill in the middle can be mended.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::IsolationError;
use super::owner::write_whole;

/// Where the step under way is written down. There is one at a time: who does it holds the lock.
const FILE: &str = ".step.json";

/// What is being done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "camelCase")]
pub(super) enum Step {
    /// A worktree is made. Broken off, it is taken away: nobody has worked there yet.
    Create {
        folder: PathBuf,
        branch: String,
        /// The commit that it begins at.
        at: String,
        /// What there was in the folder of all worktrees of the repository.
        before: Vec<String>,
    },
    /// A worktree is taken away. Broken off, it is gone on with.
    Remove {
        folder: PathBuf,
        branch: String,
        /// The commit of the branch, if the branch goes, too.
        at: Option<String>,
    },
    /// A base that is checked out gets what was merged. Broken off, it is brought to one of the two.
    Advance {
        folder: PathBuf,
        base: String,
        from: String,
        to: String,
    },
}

impl Step {
    /// Writes down what is about to be done.
    pub(super) fn begin(&self, folder: &Path) -> Result<(), IsolationError> {
        write_whole(&folder.join(FILE), self)
    }

    /// Takes note that it is done.
    pub(super) fn end(folder: &Path) -> Result<(), IsolationError> {
        let path = folder.join(FILE);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(IsolationError::io(path)(error))
            }
            _ => Ok(()),
        }
    }

    /// Returns what somebody was about to do who was killed, and when that was.
    pub(super) fn broken_off(folder: &Path) -> Result<Option<(Self, SystemTime)>, IsolationError> {
        let path = folder.join(FILE);
        let read = || -> std::io::Result<_> {
            let since = fs::metadata(&path)?.modified()?;
            Ok((serde_json::from_slice(&fs::read(&path)?)?, since))
        };
        match read() {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(IsolationError::io(path)(error)),
        }
    }
}
