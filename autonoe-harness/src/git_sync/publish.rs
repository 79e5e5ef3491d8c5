//! Takes over a run, and publishes its state.

use autonoe_core::project::RunLock;
use autonoe_core::time::{Epoch, IdSource, RandomIds};
use jiff::Timestamp;

use super::SyncError;
use super::commit_trailer::CommitTrailer;
use super::push::PushOutcome;
use super::remote_state::RemoteState;
use super::sync_refs::CURRENT;
use super::sync_repo::SyncRepo;
use crate::isolation::IsolationError;

/// Maximum number of attempts when another host pushes first.
const TRIES: u32 = 5;

impl SyncRepo<'_> {
    /// Takes the run over.
    pub(super) async fn take_over(&self, epoch: Epoch) -> Result<(), SyncError> {
        for _ in 0..TRIES {
            let seen = self.fetch_state().await?;
            let trailer = self.branch_trailer(&seen, Some(epoch)).await?;
            self.checkout(&seen, trailer.as_ref()).await?;
            if trailer.as_ref().is_some_and(|last| last.epoch == epoch) {
                return Ok(());
            }
            let (tip, seen) = match &seen {
                RemoteState::Branch(tip) => (tip, Some(tip.as_str())),
                RemoteState::OnlyBase(base) => (base, None),
            };
            let stamp = CommitTrailer {
                run: self.synced_project.run.clone(),
                epoch,
                claim: self.new_claim()?,
                session: None,
                head: trailer.map_or_else(|| tip.clone(), |last| last.head),
            };
            let message = stamp.message(&format!("Take over with epoch {}", epoch.0));
            let tree = self.tree_of(tip).await?;
            let claim = self.commit(&tree, &[tip], &message).await?;
            if self.push(&claim, seen).await? == PushOutcome::Done {
                return Ok(());
            }
        }
        Err(SyncError::Unreachable {
            remote: self.synced_project.remote.to_string(),
            output: "other pushes to the branch kept interfering".to_owned(),
        })
    }

    /// Returns a unique claim ID.
    fn new_claim(&self) -> Result<String, SyncError> {
        let random = RandomIds::new().map_err(|error| {
            let reason = std::io::Error::other(error);
            IsolationError::io(&self.synced_project.home)(reason)
        })?;
        let random: &dyn IdSource = &random;
        Ok(random.run_id().as_str().to_owned())
    }

    /// Publishes everything in the project.
    pub(super) async fn publish(
        &self,
        epoch: Epoch,
        session: Option<u32>,
    ) -> Result<(), SyncError> {
        let (here, last) = self.taken(epoch).await?;
        // The lock keeps the project unchanged while it is staged.
        let lock = RunLock::acquire(&self.synced_project.project, Timestamp::now())?;
        let agents = self.agents_head().await?;
        let tree = self.stage_all().await?;
        drop(lock);
        let mut parents = vec![here.as_str()];
        let head = agents.as_deref().unwrap_or(&last.head);
        if !self.is_ancestor(head, &here).await? {
            parents.push(head);
        }
        if head == last.head && tree == self.tree_of(&here).await? {
            return Ok(());
        }
        let stamp = CommitTrailer {
            epoch,
            session,
            head: head.to_owned(),
            ..last
        };
        let subject = match session {
            Some(number) => format!("Publish session {number}"),
            None => "Publish".to_owned(),
        };
        let commit = self
            .commit(&tree, &parents, &stamp.message(&subject))
            .await?;
        let PushOutcome::Moved(found) = self.push(&commit, Some(&here)).await? else {
            return Ok(());
        };
        // This fails with the host that was first; otherwise the branch was changed by someone
        // else.
        self.branch_trailer(&found, Some(epoch)).await?;
        let branch = self.synced_project.branch.clone();
        Err(match found {
            RemoteState::Branch(commit) => SyncError::Foreign { branch, commit },
            RemoteState::OnlyBase(_) => SyncError::BranchReset {
                branch,
                commit: here,
            },
        })
    }

    /// Returns the current commit of the project and its trailers, if this host has taken over the
    /// run with that epoch.
    async fn taken(&self, epoch: Epoch) -> Result<(String, CommitTrailer), SyncError> {
        let not_taken = || SyncError::NotTakenOver { epoch };
        let here = self.commit_of(CURRENT).await?.ok_or_else(not_taken)?;
        let last = self.trailer(&here).await?.ok_or_else(not_taken)?;
        let is_ours = self.owns_run().await?;
        if last.epoch > epoch || (last.epoch == epoch && !is_ours) {
            return Err(SyncError::Overtaken {
                branch: self.synced_project.branch.clone(),
                latest: last.epoch,
            });
        }
        if last.epoch == epoch {
            Ok((here, last))
        } else {
            Err(not_taken())
        }
    }
}
