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

/// How the names of steps begin that were set aside.
const ASIDE: &str = ".step-broken-";

/// What is being done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "camelCase")]
pub(super) enum Step {
    /// Creates a worktree. After an interruption it is removed: nothing has worked there yet.
    Create {
        folder: PathBuf,
        branch: String,
        /// The commit that it begins at.
        at: String,
        /// What there was in the folder of all worktrees of the repository.
        before: Vec<String>,
    },
    /// Removes a worktree. After an interruption the removal is resumed.
    Remove {
        folder: PathBuf,
        branch: String,
        /// The commit of the branch, if the branch goes, too.
        at: Option<String>,
    },
    /// Updates a checked-out base to what was merged. After an interruption it is brought to one of
    /// the two commits.
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
    ///
    /// One that nobody understands is [set aside](Self::set_aside).
    pub(super) fn broken_off(folder: &Path) -> Result<Option<(Self, SystemTime)>, IsolationError> {
        let path = folder.join(FILE);
        let read = || -> std::io::Result<_> {
            let since = fs::metadata(&path)?.modified()?;
            Ok((fs::read(&path)?, since))
        };
        let (text, since) = match read() {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(IsolationError::io(path)(error)),
        };
        match serde_json::from_slice(&text) {
            Ok(step) => Ok(Some((step, since))),
            Err(error) => {
                Self::set_aside(folder, &error.to_string())?;
                Ok(None)
            }
        }
    }

    /// Puts a step aside that cannot be mended: it must not be in the way of everything else, and
    /// a person may want to see it.
    pub(super) fn set_aside(folder: &Path, why: &str) -> Result<(), IsolationError> {
        let number = Self::aside(folder).len();
        let aside = folder.join(format!("{ASIDE}{number}.json"));
        tracing::error!(why, aside = %aside.display(), "a broken step of worktrees is set aside");
        let path = folder.join(FILE);
        fs::rename(&path, aside).map_err(IsolationError::io(path))
    }

    /// Returns the steps that were set aside.
    pub(super) fn aside(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let is_aside = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with(ASIDE))
        };
        let mut aside: Vec<_> = entries.map(|entry| entry.path()).filter(is_aside).collect();
        aside.sort();
        aside
    }
}
