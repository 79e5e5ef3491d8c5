//! Takes over a run, and publishes its state with pushes that never overwrite commits.

use autonoe_core::project::RunLock;
use autonoe_core::time::{Epoch, IdSource, RandomIds};
use autonoe_process::CommandOutput;
use jiff::Timestamp;

use crate::commit_trailer::CommitTrailer;
use crate::remote_state::RemoteState;
use crate::sync_refs::{CURRENT, PUSHING, TIP};
use crate::sync_repo::SyncRepo;
use crate::{SyncError, SyncRemote, SyncedProject};
use autonoe_harness::isolation::{IsolationError, output_text, text};

/// Maximum number of attempts when another host pushes first.
const TRIES: u32 = 5;

impl SyncRepo<'_> {
    /// Takes the run over.
    pub(crate) async fn take_over(&self, epoch: Epoch) -> Result<(), SyncError> {
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
            let (parent, tree) = match (&self.synced_project.task_specification, seen) {
                (Some(specification), None) => self.start_task(tip, specification).await?,
                _ => (tip.clone(), self.tree_of(tip).await?),
            };
            let trailer = CommitTrailer {
                run: self.synced_project.run.clone(),
                epoch,
                claim: self.new_claim()?,
                session: None,
                head: trailer.map_or_else(|| parent.clone(), |last| last.head),
            };
            let message = trailer.message(&format!("Take over with epoch {}", epoch.0));
            let claim = self.commit(&tree, &[&parent], &message).await?;
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
    pub(crate) async fn publish(
        &self,
        epoch: Epoch,
        session: Option<u32>,
    ) -> Result<(), SyncError> {
        let (here, last) = self.acquired_commit(epoch).await?;
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
        let trailer = CommitTrailer {
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
            .commit(&tree, &parents, &trailer.message(&subject))
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
    async fn acquired_commit(&self, epoch: Epoch) -> Result<(String, CommitTrailer), SyncError> {
        let not_taken_over = || SyncError::NotTakenOver { epoch };
        let here = self.commit_of(CURRENT).await?.ok_or_else(not_taken_over)?;
        let last = self.trailer(&here).await?.ok_or_else(not_taken_over)?;
        let owns_run = self.owns_run().await?;
        if last.epoch > epoch || (last.epoch == epoch && !owns_run) {
            return Err(SyncError::Overtaken {
                branch: self.synced_project.branch.clone(),
                latest: last.epoch,
            });
        }
        if last.epoch == epoch {
            Ok((here, last))
        } else {
            Err(not_taken_over())
        }
    }
}

/// Outcome of a push that did not fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PushOutcome {
    Done,
    /// Another host pushed first: the current state of the branch.
    Moved(RemoteState),
}

impl SyncRepo<'_> {
    /// Moves the branch of the run to a commit, if it is still at `seen`: `None` if there was no
    /// branch. The project is at the commit then.
    ///
    /// The commit must be a descendant of `seen`, so that nothing is removed from the branch.
    pub(crate) async fn push(
        &self,
        commit: &str,
        seen: Option<&str>,
    ) -> Result<PushOutcome, SyncError> {
        // Recorded before the push, so that a later process knows its owner after a kill.
        self.set_ref(PUSHING, commit).await?;
        let SyncedProject { remote, branch, .. } = self.synced_project;
        let refs = (commit, &*format!("refs/heads/{branch}"));
        let output = remote.push(&self.git, self.folder(), refs, seen).await?;
        if output.is_success() {
            return self.pushed(commit).await;
        }
        // A response can get lost, so the branch is read instead.
        let found = match self.fetch_state().await {
            Ok(found) => found,
            Err(SyncError::Unreachable { .. }) => return Err(remote.unreachable_error(&output)),
            Err(error) => return Err(error),
        };
        let tip = match &found {
            RemoteState::Branch(tip) => Some(tip.as_str()),
            RemoteState::OnlyBase(_) => None,
        };
        if tip == Some(commit) {
            self.pushed(commit).await
        } else if tip == seen {
            Err(remote.push_error(branch, &output))
        } else {
            Ok(PushOutcome::Moved(found))
        }
    }

    async fn pushed(&self, commit: &str) -> Result<PushOutcome, SyncError> {
        self.set_ref(TIP, commit).await?;
        self.record_position(commit).await?;
        Ok(PushOutcome::Done)
    }
}

impl SyncRemote {
    /// Returns the error of a push that had no effect although no other host pushed.
    pub(crate) fn push_error(&self, branch: &str, output: &CommandOutput) -> SyncError {
        if is_final(&text(&output.stdout)) {
            SyncError::Refused {
                remote: self.to_string(),
                branch: branch.to_owned(),
                output: self.redact(&output_text(output)),
            }
        } else {
            self.unreachable_error(output)
        }
    }
}

/// Returns whether the remote has refused the push for good.
fn is_final(porcelain: &str) -> bool {
    let mut lines = porcelain.lines().filter(|line| line.starts_with("!\t"));
    let Some(line) = lines.find(|line| line.contains("[remote rejected]")) else {
        return false;
    };
    // Another host was pushing at that moment, or the remote could not write.
    let passing = ["cannot lock ref", "failed to update ref", "unpacker error"];
    !passing.iter().any(|reason| line.contains(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_distinguished_from_a_broken_connection() {
        let line = |reason: &str| format!("To /srv/x\n!\ta:refs/heads/b\t{reason}\nDone\n");
        for (porcelain, expected) in [
            (String::new(), false),
            (line("[rejected] (stale info)"), false),
            (line("[remote rejected] (pre-receive hook declined)"), true),
            (line("[remote rejected] (failed to update ref)"), false),
            (
                line("[remote rejected] (cannot lock ref 'refs/heads/b')"),
                false,
            ),
            (line("[remote rejected] (unpacker error)"), false),
        ] {
            assert_eq!(is_final(&porcelain), expected, "{porcelain}");
        }
    }
}
