//! `.gitignore` of the state directory.

use std::io::ErrorKind;
use std::path::Path;

use super::{ProjectError, read_text_file, replace_file_durably, write_new_file};

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
/requests/
/live.json
/status.json
/status.foreign-*.json
/status.fenced-*.json
/*.lock
/*.tmp
";

/// The maximum size of a file that is updated, in bytes.
const LARGEST: u64 = 64 * 1024;

/// Writes the file in the state directory `dir`. An existing one gets the lines that are missing,
/// unless a person wrote it.
///
/// # Errors
///
/// The file cannot be written.
pub(super) fn write_git_ignore(dir: &Path) -> Result<(), ProjectError> {
    let path = dir.join(".gitignore");
    // A symlink counts as an existing file.
    match write_new_file(&path, TEXT.as_bytes()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => add_missing_lines(&path),
        Err(error) => Err(ProjectError::unwritable(&path, error)),
    }
}

fn add_missing_lines(path: &Path) -> Result<(), ProjectError> {
    let is_by_autonoe = |text: &String| text.lines().next() == TEXT.lines().next();
    let Ok(Some(text)) = read_text_file(path, LARGEST).map(|text| text.filter(is_by_autonoe))
    else {
        return Ok(());
    };
    let missing: Vec<_> = TEXT
        .lines()
        .filter(|line| text.lines().all(|found| found != *line))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let separator = if text.ends_with('\n') { "" } else { "\n" };
    let whole = format!("{text}{separator}{}\n", missing.join("\n"));
    replace_file_durably(path, whole.as_bytes())
        .map_err(|error| ProjectError::unwritable(path, error))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn missing_lines_are_added_to_a_file_of_autonoe() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join(".gitignore");
        let older = TEXT.replace("/conversations/\n", "");
        for (found, expected) in [
            (None, TEXT.to_owned()),
            (Some(TEXT), TEXT.to_owned()),
            (Some(older.as_str()), format!("{older}/conversations/\n")),
            (Some("/mine\n"), "/mine\n".to_owned()),
        ] {
            let _ = fs::remove_file(&path);
            if let Some(text) = found {
                fs::write(&path, text).expect("written");
            }

            write_git_ignore(dir.path()).expect("it is written");

            assert_eq!(fs::read_to_string(&path).expect("it is there"), expected);
        }
    }
}
