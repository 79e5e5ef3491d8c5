//! Ownership of the branch of a run: which host made its last commit.

use std::cmp::Ordering;

use autonoe_core::time::Epoch;

use super::SyncError;
use super::commit_trailer::CommitTrailer;
use super::remote_state::RemoteState;
use super::sync_refs::{PUBLISHED, PUSHING};
use super::sync_repo::SyncRepo;

/// Maximum number of foreign commits searched for the last one of the run.
const LOOKED_THROUGH: &str = "--max-count=10000";

impl SyncRepo<'_> {
    /// Returns the trailers of the last commit of the branch; `None` if there is no branch yet.
    ///
    /// # Errors
    ///
    /// Another host has a higher epoch than `epoch`, or the same one; or the branch ends with
    /// foreign commits.
    pub(super) async fn branch_trailer(
        &self,
        seen: &RemoteState,
        epoch: Option<Epoch>,
    ) -> Result<Option<CommitTrailer>, SyncError> {
        let RemoteState::Branch(tip) = seen else {
            return Ok(None);
        };
        let stamp = self.trailer(tip).await?;
        let last = match &stamp {
            Some(stamp) => Some(stamp.epoch),
            None => self.last_epoch(tip).await?,
        };
        if let (Some(latest), Some(epoch)) = (last, epoch) {
            let is_overtaken = match latest.cmp(&epoch) {
                Ordering::Greater => true,
                Ordering::Equal if stamp.is_some() => !self.is_ours(tip).await?,
                _ => false,
            };
            if is_overtaken {
                let branch = self.synced_project.branch.clone();
                return Err(SyncError::Overtaken { branch, latest });
            }
        }
        match stamp {
            Some(stamp) => Ok(Some(stamp)),
            None => Err(SyncError::Foreign {
                branch: self.synced_project.branch.clone(),
                commit: tip.clone(),
            }),
        }
    }

    /// Returns whether this host has created a commit since it last checked out one of another
    /// host.
    async fn is_ours(&self, commit: &str) -> Result<bool, SyncError> {
        for name in [PUBLISHED, PUSHING] {
            if self.commit_of(name).await?.as_deref() == Some(commit) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the epoch of the last commit of the run below foreign commits.
    async fn last_epoch(&self, tip: &str) -> Result<Option<Epoch>, SyncError> {
        // Commits of agents are never first parents, so their messages cannot forge trailers.
        let messages = [
            "log",
            "--first-parent",
            LOOKED_THROUGH,
            "--format=%B%x00",
            tip,
        ];
        let messages = self.run_ok(&messages).await?;
        let mut stamps = messages.split('\0').filter_map(|message| {
            CommitTrailer::parse(message.trim_start(), &self.synced_project.run)
        });
        Ok(stamps.next().map(|stamp| stamp.epoch))
    }
}
