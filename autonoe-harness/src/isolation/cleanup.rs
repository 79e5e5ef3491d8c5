//! Cleanup of worktrees without a live owner, and of the remaining worktrees of a fleet.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use super::owner::{OwnerRecord, WorktreeOperation, claim};
use super::{IsolationError, WorkLocation, Worktrees};

/// Report of a cleanup of worktrees without a live owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CleanupReport {
    /// Worktrees without work of their own, which were removed.
    pub removed: Vec<WorkLocation>,
    /// Worktrees that were retained.
    pub retained: Vec<RetainedWorktree>,
    /// Records of interrupted steps that could not be repaired, for a person to inspect. They block
    /// nothing.
    pub quarantined: Vec<PathBuf>,
}

/// A worktree that was retained.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetainedWorktree {
    /// The location of the worktree.
    pub place: WorkLocation,
    /// The reason.
    pub reason: String,
}

impl Worktrees {
    /// Removes the unclaimed worktrees of all fleets, as far as no work is lost. Claimed worktrees
    /// are skipped.
    ///
    /// # Errors
    ///
    /// Git cannot be run. A worktree that cannot be removed is not an error: it is kept.
    pub async fn clean_up(&self) -> Result<CleanupReport, IsolationError> {
        let locked = self.lock().await?;
        let mut swept = CleanupReport {
            quarantined: WorktreeOperation::quarantined(&self.folder),
            ..CleanupReport::default()
        };
        for tree in locked.list().await? {
            if !tree.folder.starts_with(&self.folder) {
                continue;
            }
            let branch = tree.branch.unwrap_or_default();
            let mut place = WorkLocation {
                branch: branch.trim_start_matches("refs/heads/").to_owned(),
                folder: tree.folder.clone(),
            };
            let outcome = async {
                if !tree.folder.exists() {
                    // The folder was removed; committed work is on the branch.
                    locked.remove(&place, None).await?;
                    return Ok(true);
                }
                let admin = locked.admin_of(&tree.folder)?;
                let Some(record) = OwnerRecord::read(&admin)? else {
                    return Err(IsolationError::Exists(place.clone()));
                };
                let Some(_claim) = claim(&admin)? else {
                    return Ok(false);
                };
                place.branch = record.branch;
                locked.repair_worktree(&place, &admin).await?;
                let at = locked.check_merged(&place, &record.base).await?;
                locked.remove(&place, Some(at)).await?;
                Ok(true)
            };
            match outcome.await {
                Ok(true) => swept.removed.push(place),
                Ok(false) => {}
                Err(error) => {
                    let reason = error.to_string();
                    swept.retained.push(RetainedWorktree { place, reason });
                }
            }
        }
        Ok(swept)
    }
}

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
