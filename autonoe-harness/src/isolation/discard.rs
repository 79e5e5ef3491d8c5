//! What is left of a fleet, and what of it goes.

use std::collections::BTreeSet;
use std::fs;

use super::{IsolationError, Worktrees};

impl Worktrees {
    /// Returns the names of all that is left of this fleet, sorted: its worktrees, and branches
    /// whose worktrees are gone.
    ///
    /// # Errors
    ///
    /// Git cannot be run.
    pub async fn left(&self) -> Result<Vec<String>, IsolationError> {
        let locked = self.lock().await?;
        let of_fleet = self.place_of("");
        let refs = format!("refs/heads/{}", of_fleet.branch);
        let asked = ["for-each-ref", "--format=%(refname)", &refs];
        let branches = locked.git.ask(&self.repo, &asked).await?;
        let branches = branches.lines().filter_map(|name| name.strip_prefix(&refs));
        let mut left: BTreeSet<String> = branches.map(str::to_owned).collect();
        for tree in locked.list().await? {
            let below = tree.folder.strip_prefix(&of_fleet.folder).ok();
            let name = below.and_then(|name| name.to_str());
            left.extend(name.filter(|name| !name.is_empty()).map(str::to_owned));
        }
        Ok(left.into_iter().collect())
    }

    /// Takes the worktree of `name` and its branch away with **all that is in it**, as
    /// [`Worktree::discard`](super::Worktree::discard) does, also where only one of both is left.
    /// Returns whether there was anything.
    ///
    /// # Errors
    ///
    /// [`IsolationError::InUse`] if who made it lives and is another process, or it cannot be done.
    pub async fn discard(&self, name: &str) -> Result<bool, IsolationError> {
        if let Some(tree) = self.take_up(name).await? {
            tree.discard().await?;
            return Ok(true);
        }
        let (locked, place) = (self.lock().await?, self.place_of(name));
        let at = locked.commit_of(&place.branch).await?;
        let is_there = at.is_some() || fs::symlink_metadata(&place.folder).is_ok();
        if is_there {
            locked.remove(&place, at).await?;
        }
        Ok(is_there)
    }
}
