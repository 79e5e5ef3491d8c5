//! Lists and discards what is left of a fleet's worktrees.

use std::collections::BTreeSet;
use std::fs;

use super::{IsolationError, Worktrees};

impl Worktrees {
    /// Returns the names of everything left of this fleet, sorted: its worktrees, and branches
    /// whose worktrees are gone.
    ///
    /// # Errors
    ///
    /// Git cannot be run.
    pub async fn remaining(&self) -> Result<Vec<String>, IsolationError> {
        let locked = self.lock().await?;
        let of_fleet = self.location("");
        let refs = format!("refs/heads/{}", of_fleet.branch);
        let command = ["for-each-ref", "--format=%(refname)", &refs];
        let branches = locked.git.run_ok(&self.repo, &command).await?;
        let branches = branches.lines().filter_map(|name| name.strip_prefix(&refs));
        let mut left: BTreeSet<String> = branches.map(str::to_owned).collect();
        for tree in locked.list().await? {
            let below = tree.folder.strip_prefix(&of_fleet.folder).ok();
            let name = below.and_then(|name| name.to_str());
            left.extend(name.filter(|name| !name.is_empty()).map(str::to_owned));
        }
        Ok(left.into_iter().collect())
    }

    /// Removes the worktree `name` and its branch with **everything in it**, as
    /// [`Worktree::discard`](super::Worktree::discard) does, even if only one of the two is left.
    /// Returns whether there was anything.
    ///
    /// # Errors
    ///
    /// [`IsolationError::InUse`] if its owner is another live process, or it cannot be removed.
    pub async fn discard(&self, name: &str) -> Result<bool, IsolationError> {
        if let Some(tree) = self.open_existing(name).await? {
            tree.discard().await?;
            return Ok(true);
        }
        let (locked, place) = (self.lock().await?, self.location(name));
        let at = locked.commit_of(&place.branch).await?;
        let is_there = at.is_some() || fs::symlink_metadata(&place.folder).is_ok();
        if is_there {
            locked.remove(&place, at).await?;
        }
        Ok(is_there)
    }
}
