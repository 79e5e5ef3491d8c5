//! Taking a run over, and publishing what was done.

use autonoe_core::{Epoch, IdSource, RandomIds, RunLock};
use jiff::Timestamp;

use super::TravelError;
use super::courier::Courier;
use super::pushing::Pushed;
use super::seeing::Seen;
use super::stamp::Stamp;
use super::steps::HERE;
use crate::IsolationError;

/// How often it is tried again when somebody else was first.
const TRIES: u32 = 5;

impl Courier<'_> {
    /// Takes the run over.
    pub(super) async fn take(&self, epoch: Epoch) -> Result<(), TravelError> {
        for _ in 0..TRIES {
            let seen = self.see().await?;
            let standing = self.standing(&seen, Some(epoch)).await?;
            self.arrive(&seen, standing.as_ref()).await?;
            if standing.as_ref().is_some_and(|last| last.epoch == epoch) {
                return Ok(());
            }
            let (tip, seen) = match &seen {
                Seen::Branch(tip) => (tip, Some(tip.as_str())),
                Seen::OnlyBase(base) => (base, None),
            };
            let stamp = Stamp {
                run: self.travels.run.clone(),
                epoch,
                claim: self.new_claim()?,
                session: None,
                head: standing.map_or_else(|| tip.clone(), |last| last.head),
            };
            let message = stamp.message(&format!("Take over with epoch {}", epoch.0));
            let tree = self.tree_of(tip).await?;
            let claim = self.commit(&tree, &[tip], &message).await?;
            if self.push(&claim, seen).await? == Pushed::Done {
                return Ok(());
            }
        }
        Err(TravelError::Away {
            remote: self.travels.remote.to_string(),
            said: "others push to the branch again and again".to_owned(),
        })
    }

    /// Makes a number that nobody else has.
    fn new_claim(&self) -> Result<String, TravelError> {
        let random = RandomIds::new().map_err(|error| {
            let reason = std::io::Error::other(error);
            IsolationError::io(&self.travels.home)(reason)
        })?;
        let random: &dyn IdSource = &random;
        Ok(random.run_id().as_str().to_owned())
    }

    /// Publishes all that is in the project.
    pub(super) async fn publish(
        &self,
        epoch: Epoch,
        session: Option<u32>,
    ) -> Result<(), TravelError> {
        let (here, last) = self.taken(epoch).await?;
        // Nobody changes anything while it is packed.
        let lock = RunLock::acquire(&self.travels.project, Timestamp::now())?;
        let agents = self.agents_head().await?;
        let tree = self.pack().await?;
        drop(lock);
        let mut parents = vec![here.as_str()];
        let head = agents.as_deref().unwrap_or(&last.head);
        if !self.is_ancestor(head, &here).await? {
            parents.push(head);
        }
        if head == last.head && tree == self.tree_of(&here).await? {
            return Ok(());
        }
        let stamp = Stamp {
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
        let Pushed::Moved(found) = self.push(&commit, Some(&here)).await? else {
            return Ok(());
        };
        // Whoever was there first is named by this, or was there without a right to.
        self.standing(&found, Some(epoch)).await?;
        let branch = self.travels.branch.clone();
        Err(match found {
            Seen::Branch(commit) => TravelError::Foreign { branch, commit },
            Seen::OnlyBase(_) => TravelError::SetBack {
                branch,
                commit: here,
            },
        })
    }

    /// Returns where the project stands, if this host has taken the run over with that epoch.
    async fn taken(&self, epoch: Epoch) -> Result<(String, Stamp), TravelError> {
        let not_taken = || TravelError::NotTaken { epoch };
        let here = self.commit_of(HERE).await?.ok_or_else(not_taken)?;
        let last = self.stamp_of(&here).await?.ok_or_else(not_taken)?;
        let is_ours = self.has_the_run().await?;
        if last.epoch > epoch || (last.epoch == epoch && !is_ours) {
            return Err(TravelError::Overtaken {
                branch: self.travels.branch.clone(),
                latest: last.epoch,
            });
        }
        match last.epoch == epoch {
            true => Ok((here, last)),
            false => Err(not_taken()),
        }
    }
}
