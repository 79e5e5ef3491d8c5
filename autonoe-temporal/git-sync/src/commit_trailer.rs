//! Trailers in the commit messages of a run, and the ownership of its branch.

use std::cmp::Ordering;

use autonoe_core::RunId;
use autonoe_core::time::Epoch;

use crate::SyncError;
use crate::remote_state::RemoteState;
use crate::sync_refs::{PUBLISHED, PUSHING};
use crate::sync_repo::SyncRepo;

const RUN: &str = "Autonoe-Run";

const EPOCH: &str = "Autonoe-Epoch";

const CLAIM: &str = "Autonoe-Claim";

const SESSION: &str = "Autonoe-Session";

const HEAD: &str = "Autonoe-Head";

/// Metadata of a run in a commit, as trailers of its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommitTrailer {
    pub(crate) run: RunId,
    /// The epoch of the host that created the commit.
    pub(crate) epoch: Epoch,
    /// A unique ID. Without it, two hosts could create the same commit in the same second, and both
    /// would see it on the remote as their own.
    pub(crate) claim: String,
    /// The session after which the commit was created, if any.
    pub(crate) session: Option<u32>,
    /// The commit of the agents' repository. It is an ancestor of this commit.
    pub(crate) head: String,
}

impl CommitTrailer {
    /// Returns a commit message with this subject.
    pub(crate) fn message(&self, subject: &str) -> String {
        let Self {
            run,
            epoch: Epoch(epoch),
            claim,
            session,
            head,
        } = self;
        let session = session.map(|number| format!("{SESSION}: {number}\n"));
        let session = session.unwrap_or_default();
        format!(
            "{subject}\n\n{RUN}: {run}\n{EPOCH}: {epoch}\n{CLAIM}: {claim}\n{session}{HEAD}: {head}\n"
        )
    }

    /// Parses the message of a commit; `None` if it does not belong to `run`.
    ///
    /// Only the last paragraph is read, and each trailer must occur once: a repeated trailer was
    /// written by someone else.
    pub(crate) fn parse(message: &str, run: &RunId) -> Option<Self> {
        let (_, last) = message.trim_end().rsplit_once("\n\n")?;
        let value = |name: &str| {
            let mut values = last.lines().filter_map(|line| {
                let (key, value) = line.split_once(": ")?;
                (key == name).then_some(value)
            });
            values.next().filter(|_| values.next().is_none())
        };
        if value(RUN)? != run.as_str() {
            return None;
        }
        let session = match value(SESSION) {
            None => None,
            Some(number) => Some(number.parse().ok()?),
        };
        let head = value(HEAD).filter(|head| head.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        Some(Self {
            run: run.clone(),
            epoch: Epoch(value(EPOCH)?.parse().ok()?),
            claim: value(CLAIM)?.to_owned(),
            session,
            head: head.to_owned(),
        })
    }
}

/// Maximum number of foreign commits searched for the last one of the run.
const SEARCH_LIMIT: &str = "--max-count=10000";

impl SyncRepo<'_> {
    /// Returns the trailers of a commit; `None` if it does not belong to the run.
    pub(crate) async fn trailer(&self, commit: &str) -> Result<Option<CommitTrailer>, SyncError> {
        let commit = self.run_ok(&["cat-file", "commit", commit]).await?;
        let message = commit.split_once("\n\n").map(|(_, message)| message);
        Ok(message.and_then(|message| CommitTrailer::parse(message, &self.synced_project.run)))
    }

    /// Returns the trailers of the last commit of the branch; `None` if there is no branch yet.
    ///
    /// # Errors
    ///
    /// Another host has a higher epoch than `epoch`, or the same one; or the branch ends with
    /// foreign commits.
    pub(crate) async fn branch_trailer(
        &self,
        seen: &RemoteState,
        epoch: Option<Epoch>,
    ) -> Result<Option<CommitTrailer>, SyncError> {
        let RemoteState::Branch(tip) = seen else {
            return Ok(None);
        };
        let trailer = self.trailer(tip).await?;
        let last = match &trailer {
            Some(trailer) => Some(trailer.epoch),
            None => self.last_epoch(tip).await?,
        };
        if let (Some(latest), Some(epoch)) = (last, epoch) {
            let is_overtaken = match latest.cmp(&epoch) {
                Ordering::Greater => true,
                Ordering::Equal if trailer.is_some() => !self.is_own_commit(tip).await?,
                _ => false,
            };
            if is_overtaken {
                let branch = self.synced_project.branch.clone();
                return Err(SyncError::Overtaken { branch, latest });
            }
        }
        match trailer {
            Some(trailer) => Ok(Some(trailer)),
            None => Err(SyncError::Foreign {
                branch: self.synced_project.branch.clone(),
                commit: tip.clone(),
            }),
        }
    }

    /// Returns whether this host has created a commit since it last checked out one of another
    /// host.
    async fn is_own_commit(&self, commit: &str) -> Result<bool, SyncError> {
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
            SEARCH_LIMIT,
            "--format=%B%x00",
            tip,
        ];
        let messages = self.run_ok(&messages).await?;
        let mut trailers = messages.split('\0').filter_map(|message| {
            CommitTrailer::parse(message.trim_start(), &self.synced_project.run)
        });
        Ok(trailers.next().map(|trailer| trailer.epoch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trailer(session: Option<u32>) -> CommitTrailer {
        CommitTrailer {
            run: RunId::new("shop"),
            epoch: Epoch(7),
            claim: "c1".to_owned(),
            session,
            head: "ab12".to_owned(),
        }
    }

    #[test]
    fn trailers_survive_a_round_trip() {
        for trailer in [trailer(None), trailer(Some(3))] {
            let message = trailer.message("Keep what session 3 did");

            assert_eq!(CommitTrailer::parse(&message, &trailer.run), Some(trailer));
        }
    }

    #[test]
    fn foreign_trailers_are_refused() {
        let own = trailer(None).message("Take over");
        for message in [
            "Fix a typo".to_owned(),
            own.replace("shop", "other"),
            format!("{own}\nSigned-off-by: Ada"),
            own.replace("Epoch: 7", "Epoch: seven"),
            own.replace("ab12", "--all"),
            format!("{own}Autonoe-Epoch: 9\n"),
        ] {
            assert_eq!(
                CommitTrailer::parse(&message, &RunId::new("shop")),
                None,
                "{message}"
            );
        }
    }
}
