//! `.gitignore` of the state directory.

use std::io::ErrorKind;

use super::{Project, ProjectError, write_new_file};

/// Excludes the state of runs from Git, but not settings and instructions.
///
/// Git would otherwise replace the ledger and the journal during a run: agents use `git add -A`,
/// and the next `git stash` or `git checkout` would restore an old state.
const TEXT: &str = "\
# Written by Autonoe: Git must not track the state of runs.
/.gitignore
/events/
/journal*.jsonl
/status.json
/*.lock
/*.tmp
";

/// Writes the file unless it exists.
///
/// # Errors
///
/// The file cannot be written.
pub(super) fn write_git_ignore(project: &Project) -> Result<(), ProjectError> {
    let path = project.state_dir().join(".gitignore");
    // A symlink counts as an existing file.
    match write_new_file(&path, TEXT.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(ProjectError::unwritable(&path, error))
        }
        _ => Ok(()),
    }
}
