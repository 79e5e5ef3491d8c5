//! Relocates worktrees after their project was moved.

use std::fs;
use std::path::Path;

use autonoe_core::project::replace_file_durably;

use super::locked::{LockedWorktrees, utf8};
use super::owner::OwnerRecord;
use super::{IsolationError, WorkLocation};

impl LockedWorktrees {
    /// Updates git's paths of the worktree `name`, if it was moved or copied together with its
    /// repository. Returns whether it was.
    ///
    /// A worktree and its repository refer to each other by absolute paths. `git worktree repair`
    /// trusts the file `.git` of a worktree, which an agent can write. This function trusts the
    /// record in the git directory of the worktree instead, and that file must name the same entry.
    pub(super) fn relocate(
        &self,
        name: &str,
        place: &WorkLocation,
    ) -> Result<bool, IsolationError> {
        let repository = &self.trees.repository;
        for admin in repository.admins() {
            let Ok(Some(record)) = OwnerRecord::read(&admin) else {
                continue;
            };
            let is_its = record.fleet == self.trees.fleet()
                && record.name == name
                && record.branch == place.branch;
            if is_its && repository.has_lost(&admin) && names(&place.folder, &admin) {
                let write = |path: &Path, text: String| {
                    replace_file_durably(path, text.as_bytes()).map_err(IsolationError::io(path))
                };
                // This file last: until it is written, the worktree counts as moved.
                let file = place.folder.join(".git");
                write(&file, format!("gitdir: {}\n", utf8(&admin)?))?;
                write(&admin.join("gitdir"), format!("{}\n", utf8(&file)?))?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns whether the file `.git` in `folder` names an entry like `admin`, in any location.
fn names(folder: &Path, admin: &Path) -> bool {
    let file = folder.join(".git");
    let is_file = file.symlink_metadata().is_ok_and(|found| found.is_file());
    let text = if is_file {
        fs::read_to_string(&file).unwrap_or_default()
    } else {
        return false;
    };
    let target = text.trim_end_matches('\n').strip_prefix("gitdir: ");
    let last_two = |path: &Path| {
        let above = path.parent().and_then(Path::file_name);
        Some((above?.to_owned(), path.file_name()?.to_owned()))
    };
    target
        .and_then(|target| last_two(Path::new(target)))
        .is_some_and(|found| Some(found) == last_two(admin))
}
