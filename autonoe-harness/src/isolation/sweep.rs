//! Worktrees whose owners are gone.

use std::path::PathBuf;

use super::owner::{Record, claim};
use super::step::Step;
use super::{IsolationError, WorkPlace, Worktrees};

/// What became of worktrees whose owners are gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Swept {
    /// Those that had no work of their own. They are gone.
    pub removed: Vec<WorkPlace>,
    /// Those that were left as they are.
    pub kept: Vec<KeptWorktree>,
    /// Files that say what somebody was about to do who was killed, and that could not be mended: for
    /// a person to look at. They are in nobody's way.
    pub set_aside: Vec<PathBuf>,
}

/// A worktree that was left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptWorktree {
    /// Where it is.
    pub place: WorkPlace,
    /// Why.
    pub why: String,
}

impl Worktrees {
    /// Removes the worktrees in which nobody works any more, of all fleets, as far as nothing is lost
    /// by that. Those in which somebody works are not looked at.
    ///
    /// # Errors
    ///
    /// Git cannot be run. That a worktree cannot be removed is no error: it is kept.
    pub async fn sweep(&self) -> Result<Swept, IsolationError> {
        let locked = self.lock().await?;
        let mut swept = Swept {
            set_aside: Step::aside(&self.folder),
            ..Swept::default()
        };
        for tree in locked.list().await? {
            if !tree.folder.starts_with(&self.folder) {
                continue;
            }
            let branch = tree.branch.unwrap_or_default();
            let mut place = WorkPlace {
                branch: branch.trim_start_matches("refs/heads/").to_owned(),
                folder: tree.folder.clone(),
            };
            let outcome = async {
                if !tree.folder.exists() {
                    // Somebody removed the folder; what was committed is on the branch.
                    locked.remove(&place, None).await?;
                    return Ok(true);
                }
                let admin = locked.admin_of(&tree.folder)?;
                let Some(record) = Record::read(&admin)? else {
                    return Err(IsolationError::Exists(place.clone()));
                };
                let Some(_claim) = claim(&admin)? else {
                    return Ok(false);
                };
                place.branch = record.branch;
                locked.mend_worktree(&place, &admin).await?;
                let at = locked.nothing_to_lose(&place, &record.base).await?;
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
