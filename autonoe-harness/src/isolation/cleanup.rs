//! Cleans up worktrees without a live owner.

use std::path::PathBuf;

use super::owner::{OwnerRecord, claim};
use super::step::WorktreeOperation;
use super::{IsolationError, WorkLocation, Worktrees};

/// Report of a cleanup of worktrees without a live owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CleanupReport {
    /// Worktrees without work of their own, which were removed.
    pub removed: Vec<WorkLocation>,
    /// Worktrees that were kept.
    pub kept: Vec<KeptWorktree>,
    /// Records of interrupted steps that could not be repaired, for a person to inspect. They block
    /// nothing.
    pub quarantined: Vec<PathBuf>,
}

/// A worktree that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptWorktree {
    /// The location of the worktree.
    pub place: WorkLocation,
    /// The reason.
    pub why: String,
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
                    let why = error.to_string();
                    swept.kept.push(KeptWorktree { place, why });
                }
            }
        }
        Ok(swept)
    }
}
