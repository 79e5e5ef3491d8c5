//! `.gitignore` of the state directory.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};

use super::{Project, ProjectError};

/// Excludes the state of runs from Git, and keeps settings and instructions in.
///
/// Git would otherwise change the ledger and the journal under a run: `git add -A` is in every
/// agent's repertoire, and the next `git stash` or `git checkout` would bring back an old state.
const TEXT: &str = "\
# Written by Autonoe: Git must not track the state of runs.
/.gitignore
/events/
/journal*.jsonl
/status.json
/*.lock
/*.tmp
";

/// Writes the file unless there is one.
///
/// # Errors
///
/// It cannot be written.
pub(super) fn write_git_ignore(project: &Project) -> Result<(), ProjectError> {
    let path = project.state_dir().join(".gitignore");
    // A symlink counts as a file that is there.
    let created = OpenOptions::new().write(true).create_new(true).open(&path);
    match created.and_then(|mut file| file.write_all(TEXT.as_bytes())) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(ProjectError::unwritable(&path, error))
        }
        _ => Ok(()),
    }
}
