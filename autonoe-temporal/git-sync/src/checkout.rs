//! Checks out the current state of a run into the project on this host.

use autonoe_core::project::RunLock;
use jiff::Timestamp;

use crate::SyncError;
use crate::commit_trailer::CommitTrailer;
use crate::remote_state::RemoteState;
use crate::sync_refs::{CURRENT, PUBLISHED, PUSHING, TARGET, UNPUBLISHED};
use crate::sync_repo::SyncRepo;

/// The empty tree of git.
const EMPTY: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

impl SyncRepo<'_> {
    /// Brings the project to the state on the remote. Unpublished work on this host is kept.
    ///
    /// # Errors
    ///
    /// A session is running in the project, or the branch was set back.
    pub(crate) async fn checkout(
        &self,
        seen: &RemoteState,
        trailer: Option<&CommitTrailer>,
    ) -> Result<(), SyncError> {
        let (RemoteState::Branch(to) | RemoteState::OnlyBase(to)) = seen;
        let pending_target = self.commit_of(TARGET).await?;
        if pending_target.is_none() && self.is_at_commit(to).await? {
            return Ok(());
        }
        let _lock = RunLock::acquire(&self.synced_project.project, Timestamp::now())?;
        if let Some(pending_target) = pending_target {
            // An earlier process was killed during the checkout.
            let trailer = self.trailer(&pending_target).await?;
            self.switch_to(&pending_target, trailer.as_ref()).await?;
            if self.is_at_commit(to).await? {
                return Ok(());
            }
        }
        self.check_not_reset(seen).await?;
        self.check_files(to).await?;
        self.back_up_unique_content(to).await?;
        self.set_ref(TARGET, to).await?;
        self.switch_to(to, trailer).await
    }

    /// Returns whether the project is at a commit.
    async fn is_at_commit(&self, commit: &str) -> Result<bool, SyncError> {
        if self.commit_of(CURRENT).await?.as_deref() == Some(commit) {
            return Ok(true);
        }
        // The commit was pushed from here, by a process that was killed before it recorded that.
        let is_sent = self.commit_of(PUSHING).await?.as_deref() == Some(commit);
        if is_sent {
            self.record_position(commit).await?;
        }
        Ok(is_sent)
    }

    /// Records that the remote has a commit of this host, and that the project is at it.
    pub(crate) async fn record_position(&self, commit: &str) -> Result<(), SyncError> {
        self.set_ref(PUBLISHED, commit).await?;
        self.set_ref(CURRENT, commit).await
    }

    /// Checks that the branch still contains everything that it had when it was last seen.
    async fn check_not_reset(&self, seen: &RemoteState) -> Result<(), SyncError> {
        let Some(here) = self.commit_of(CURRENT).await? else {
            return Ok(());
        };
        if self.trailer(&here).await?.is_none() {
            return Ok(());
        }
        let is_reset = match seen {
            RemoteState::OnlyBase(_) => true,
            RemoteState::Branch(tip) => self.is_ancestor(tip, &here).await?,
        };
        if is_reset {
            Err(SyncError::BranchReset {
                branch: self.synced_project.branch.clone(),
                commit: here,
            })
        } else {
            Ok(())
        }
    }

    /// Brings the files and the repository of agents to a commit. The operation is idempotent.
    async fn switch_to(&self, to: &str, trailer: Option<&CommitTrailer>) -> Result<(), SyncError> {
        self.run_ok(&["read-tree", "--reset", "-u", to]).await?;
        let head = trailer.map_or(to, |trailer| &trailer.head);
        self.replace_agents_repo(head).await?;
        // State from other hosts is not ours, whatever was pushed from here before.
        self.delete_ref(PUSHING).await?;
        self.delete_ref(PUBLISHED).await?;
        self.set_ref(CURRENT, to).await?;
        self.delete_ref(TARGET).await?;
        if let Err(error) = self.clean_quarantine().await {
            tracing::warn!(%error, "cannot remove an old repository of agents");
        }
        Ok(())
    }

    /// Keeps content of the project that is neither in its current commit nor in the target.
    async fn back_up_unique_content(&self, to: &str) -> Result<(), SyncError> {
        let here = self.commit_of(CURRENT).await?;
        let agents = self.agents_head().await?;
        let tree = self.stage_all().await?;
        let tree = self.stage_blocking_files(tree, to).await?;
        let mut parents: Vec<&str> = Vec::new();
        let mut is_known = tree == self.tree_of(to).await?;
        match &here {
            None => is_known |= tree == EMPTY,
            Some(here) => {
                is_known |= tree == self.tree_of(here).await?;
                // Nothing in a rewritten base is ours.
                let is_left = !self.is_ancestor(here, to).await?;
                is_known &= !is_left || self.trailer(here).await?.is_none();
                parents.push(here);
            }
        }
        if let Some(agents) = &agents {
            let mut is_in = self.is_ancestor(agents, to).await?;
            if let Some(here) = &here {
                is_in |= self.is_ancestor(agents, here).await?;
            }
            if !is_in {
                is_known = false;
                parents.push(agents);
            }
        }
        if is_known {
            Ok(())
        } else {
            self.save_unpublished(&tree, &parents).await
        }
    }

    async fn save_unpublished(&self, tree: &str, parents: &[&str]) -> Result<(), SyncError> {
        let list = ["for-each-ref", "--format=%(tree) %(parent)", UNPUBLISHED];
        let list = self.run_ok(&list).await?;
        let content = format!("{tree} {}", parents.join(" "));
        if list.lines().any(|line| line == content) {
            return Ok(());
        }
        let number = list.lines().count() + 1;
        let message = "Keep unpublished work of this host\n";
        let commit = self.commit(tree, parents, message).await?;
        let name = format!("{UNPUBLISHED}{number}");
        // An empty old value: never overwrites an existing ref.
        self.run_ok(&["update-ref", &name, &commit, ""]).await?;
        let place = self.synced_project.sync_repo_dir();
        tracing::warn!(name, commit, repository = %place.display(), "kept unpublished work");
        Ok(())
    }
}
