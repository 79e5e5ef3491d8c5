//! Bringing a project to where its run is.

use autonoe_core::RunLock;
use jiff::Timestamp;

use super::TravelError;
use super::courier::Courier;
use super::seeing::Seen;
use super::stamp::Stamp;
use super::steps::{GOING, HERE, KEPT, OURS, SENT};

/// The tree in which nothing is.
const EMPTY: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

impl Courier<'_> {
    /// Brings the project to what was seen. What is here and nowhere else is kept.
    ///
    /// # Errors
    ///
    /// Somebody works in the project, or the branch was set back.
    pub(super) async fn arrive(
        &self,
        seen: &Seen,
        standing: Option<&Stamp>,
    ) -> Result<(), TravelError> {
        let (Seen::Branch(to) | Seen::OnlyBase(to)) = seen;
        let going = self.commit_of(GOING).await?;
        if going.is_none() && self.is_here(to).await? {
            return Ok(());
        }
        let _lock = RunLock::acquire(&self.travels.project, Timestamp::now())?;
        if let Some(going) = going {
            // Somebody was killed on the way.
            let stamp = self.stamp_of(&going).await?;
            self.go(&going, stamp.as_ref()).await?;
            if self.is_here(to).await? {
                return Ok(());
            }
        }
        self.not_set_back(seen).await?;
        self.may_come(to).await?;
        self.keep_what_is_nowhere_else(to).await?;
        self.set(GOING, to).await?;
        self.go(to, standing).await
    }

    /// Tells whether the project stands on a commit.
    async fn is_here(&self, commit: &str) -> Result<bool, TravelError> {
        if self.commit_of(HERE).await?.as_deref() == Some(commit) {
            return Ok(true);
        }
        // It was pushed from here, by one who was killed before this was written down.
        let is_sent = self.commit_of(SENT).await?.as_deref() == Some(commit);
        if is_sent {
            self.stand_on(commit).await?;
        }
        Ok(is_sent)
    }

    /// Takes note that the remote has a commit of this host, and that the project stands on it.
    pub(super) async fn stand_on(&self, commit: &str) -> Result<(), TravelError> {
        self.set(OURS, commit).await?;
        self.set(HERE, commit).await
    }

    /// Makes sure that the branch has all that it had when it was last seen.
    async fn not_set_back(&self, seen: &Seen) -> Result<(), TravelError> {
        let Some(here) = self.commit_of(HERE).await? else {
            return Ok(());
        };
        if self.stamp_of(&here).await?.is_none() {
            return Ok(());
        }
        let is_set_back = match seen {
            Seen::OnlyBase(_) => true,
            Seen::Branch(tip) => self.is_ancestor(tip, &here).await?,
        };
        match is_set_back {
            false => Ok(()),
            true => Err(TravelError::SetBack {
                branch: self.travels.branch.clone(),
                commit: here,
            }),
        }
    }

    /// Brings files and the repository of agents to a commit. It can be done again.
    async fn go(&self, to: &str, standing: Option<&Stamp>) -> Result<(), TravelError> {
        self.ask(&["read-tree", "--reset", "-u", to]).await?;
        let head = standing.map_or(to, |stamp| &stamp.head);
        self.renew_agents_git(head).await?;
        // What comes from others is not ours, whatever was pushed from here before.
        self.unset(SENT).await?;
        self.unset(OURS).await?;
        self.set(HERE, to).await?;
        self.unset(GOING).await?;
        if let Err(error) = self.clear_aside().await {
            tracing::warn!(%error, "what agents had before is not cleared away");
        }
        Ok(())
    }

    /// Keeps what is in the project and neither where it stands nor where it goes.
    async fn keep_what_is_nowhere_else(&self, to: &str) -> Result<(), TravelError> {
        let here = self.commit_of(HERE).await?;
        let agents = self.agents_head().await?;
        let tree = self.pack().await?;
        let tree = self.pack_what_is_in_the_way(tree, to).await?;
        let mut parents: Vec<&str> = Vec::new();
        let mut is_known = tree == self.tree_of(to).await?;
        match &here {
            None => is_known |= tree == EMPTY,
            Some(here) => {
                is_known |= tree == self.tree_of(here).await?;
                // Of a base that was written anew nothing is ours.
                let is_left = !self.is_ancestor(here, to).await?;
                is_known &= !is_left || self.stamp_of(here).await?.is_none();
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
        match is_known {
            true => Ok(()),
            false => self.keep(&tree, &parents).await,
        }
    }

    async fn keep(&self, tree: &str, parents: &[&str]) -> Result<(), TravelError> {
        let list = ["for-each-ref", "--format=%(tree) %(parent)", KEPT];
        let list = self.ask(&list).await?;
        let what = format!("{tree} {}", parents.join(" "));
        if list.lines().any(|kept| kept == what) {
            return Ok(());
        }
        let number = list.lines().count() + 1;
        let message = "Keep what was on this host and was not published\n";
        let commit = self.commit(tree, parents, message).await?;
        let name = format!("{KEPT}{number}");
        // Never over another one.
        self.ask(&["update-ref", &name, &commit, ""]).await?;
        let place = self.travels.courier_dir();
        tracing::warn!(name, commit, repository = %place.display(), "work of this host that was not published is kept");
        Ok(())
    }
}
