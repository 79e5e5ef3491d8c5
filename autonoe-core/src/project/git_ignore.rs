//! `.gitignore` of the state directory.

use std::io::ErrorKind;
use std::path::Path;

use super::{ProjectError, write_new_file};

/// Excludes the state of runs from Git, but not settings and instructions.
///
/// Git would otherwise replace the ledger and the journal during a run: agents use `git add -A`,
/// and the next `git stash` or `git checkout` would restore an old state.
const TEXT: &str = "\
# Written by Autonoe: Git must not track the state of runs.
# This file is ignored as well: otherwise `git clean` and `git stash -u` would remove it, and the
# next command would take the state.
/.gitignore
/journal*.jsonl
/conversations/
/status.json
/status.foreign-*.json
/status.fenced-*.json
/*.lock
/*.tmp
";

/// Writes the file in the state directory `dir`, unless it exists.
///
/// # Errors
///
/// The file cannot be written.
pub(super) fn write_git_ignore(dir: &Path) -> Result<(), ProjectError> {
    let path = dir.join(".gitignore");
    // A symlink counts as an existing file.
    match write_new_file(&path, TEXT.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(ProjectError::unwritable(&path, error))
        }
        _ => Ok(()),
    }
}
