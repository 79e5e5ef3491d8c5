//! Write-ahead record of the current worktree operation, to repair it after a kill.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::IsolationError;
use super::owner::write_json_durably;

/// File of the current step. There is one at a time: its process holds the lock.
const FILE: &str = ".step.json";

/// Prefix of the names of quarantined steps.
const ASIDE: &str = ".step-broken-";

/// An operation on worktrees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "camelCase")]
pub(super) enum WorktreeOperation {
    /// Creates a worktree. After an interruption it is removed: nothing has worked there yet.
    Create {
        folder: PathBuf,
        branch: String,
        /// The start commit.
        at: String,
        /// The names of the worktrees' git directories before the step.
        before: Vec<String>,
    },
    /// Removes a worktree. After an interruption the removal is resumed.
    Remove {
        folder: PathBuf,
        branch: String,
        /// The commit of the branch, if the branch is removed, too.
        at: Option<String>,
    },
    /// Updates a checked-out base to a merge. After an interruption it is brought to one of the two
    /// commits.
    Advance {
        folder: PathBuf,
        base: String,
        from: String,
        to: String,
    },
}

impl WorktreeOperation {
    /// Records the step before it starts.
    pub(super) fn begin(&self, folder: &Path) -> Result<(), IsolationError> {
        write_json_durably(&folder.join(FILE), self)
    }

    /// Deletes the record of the step.
    pub(super) fn end(folder: &Path) -> Result<(), IsolationError> {
        let path = folder.join(FILE);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(IsolationError::io(path)(error))
            }
            _ => Ok(()),
        }
    }

    /// Returns an interrupted step, and its start time.
    ///
    /// A step that cannot be parsed is [quarantined](Self::set_aside).
    pub(super) fn interrupted(folder: &Path) -> Result<Option<(Self, SystemTime)>, IsolationError> {
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
                Self::quarantine(folder, &error.to_string())?;
                Ok(None)
            }
        }
    }

    /// Quarantines a step that cannot be repaired: it must not block everything else, and a person
    /// may want to inspect it.
    pub(super) fn quarantine(folder: &Path, why: &str) -> Result<(), IsolationError> {
        let number = Self::quarantined(folder).len();
        let aside = folder.join(format!("{ASIDE}{number}.json"));
        tracing::error!(why, aside = %aside.display(), "moved an unreadable record aside");
        let path = folder.join(FILE);
        fs::rename(&path, aside).map_err(IsolationError::io(path))
    }

    /// Returns the quarantined steps.
    pub(super) fn quarantined(folder: &Path) -> Vec<PathBuf> {
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
