//! Worktrees whose project was moved.

use std::fs;
use std::path::Path;

use autonoe_core::replace_file_durably;

use super::locked::{Locked, utf8};
use super::owner::Record;
use super::{IsolationError, WorkPlace};

impl Locked {
    /// Has git find the worktree of `name` where it is now, if it was moved or copied together with
    /// its repository. Returns whether it was.
    ///
    /// A worktree and its repository name each other by whole paths. `git worktree repair` believes
    /// the file `.git` of a worktree, which an agent can write; here the record beside what git
    /// knows about it is believed, and that file has to name the same entry.
    pub(super) fn follow(&self, name: &str, place: &WorkPlace) -> Result<bool, IsolationError> {
        let repository = &self.trees.repository;
        for admin in repository.admins() {
            let Ok(Some(record)) = Record::read(&admin) else {
                continue;
            };
            let is_its = record.fleet == self.trees.fleet()
                && record.name == name
                && record.branch == place.branch;
            if is_its && repository.has_lost(&admin) && names(&place.folder, &admin) {
                let write = |path: &Path, text: String| {
                    replace_file_durably(path, text.as_bytes()).map_err(IsolationError::io(path))
                };
                // This one last: as long as it is not written, the worktree counts as moved.
                let file = place.folder.join(".git");
                write(&file, format!("gitdir: {}\n", utf8(&admin)?))?;
                write(&admin.join("gitdir"), format!("{}\n", utf8(&file)?))?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Tells whether the file `.git` in `folder` names an entry like `admin`, wherever that was.
fn names(folder: &Path, admin: &Path) -> bool {
    let file = folder.join(".git");
    let is_file = file.symlink_metadata().is_ok_and(|found| found.is_file());
    let text = match is_file {
        true => fs::read_to_string(&file).unwrap_or_default(),
        false => return false,
    };
    let said = text.trim_end_matches('\n').strip_prefix("gitdir: ");
    let last_two = |path: &Path| {
        let above = path.parent().and_then(Path::file_name);
        Some((above?.to_owned(), path.file_name()?.to_owned()))
    };
    said.and_then(|said| last_two(Path::new(said)))
        .is_some_and(|said| Some(said) == last_two(admin))
}
