//! Whose work the branch of a run has.

use std::cmp::Ordering;

use autonoe_core::Epoch;

use super::TravelError;
use super::courier::Courier;
use super::seeing::Seen;
use super::stamp::Stamp;
use super::steps::{OURS, SENT};

/// So many commits of others are looked through for the last one of the run.
const LOOKED_THROUGH: &str = "--max-count=10000";

impl Courier<'_> {
    /// Returns what the end of the branch says about the run; `None` if there is no branch yet.
    ///
    /// # Errors
    ///
    /// Somebody has a higher epoch than `asked`, or the same and is not this host; or the branch ends
    /// with work of others.
    pub(super) async fn standing(
        &self,
        seen: &Seen,
        asked: Option<Epoch>,
    ) -> Result<Option<Stamp>, TravelError> {
        let Seen::Branch(tip) = seen else {
            return Ok(None);
        };
        let stamp = self.stamp_of(tip).await?;
        let last = match &stamp {
            Some(stamp) => Some(stamp.epoch),
            None => self.last_epoch(tip).await?,
        };
        if let (Some(latest), Some(asked)) = (last, asked) {
            let is_overtaken = match latest.cmp(&asked) {
                Ordering::Greater => true,
                Ordering::Equal if stamp.is_some() => !self.is_ours(tip).await?,
                _ => false,
            };
            if is_overtaken {
                let branch = self.travels.branch.clone();
                return Err(TravelError::Overtaken { branch, latest });
            }
        }
        match stamp {
            Some(stamp) => Ok(Some(stamp)),
            None => Err(TravelError::Foreign {
                branch: self.travels.branch.clone(),
                commit: tip.clone(),
            }),
        }
    }

    /// Tells whether this host has made a commit, since it was last brought to one of another.
    async fn is_ours(&self, commit: &str) -> Result<bool, TravelError> {
        for name in [OURS, SENT] {
            if self.commit_of(name).await?.as_deref() == Some(commit) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the epoch of the last commit of the run below work of others.
    async fn last_epoch(&self, tip: &str) -> Result<Option<Epoch>, TravelError> {
        // What agents commit is never a first parent, whatever they write into their messages.
        let messages = [
            "log",
            "--first-parent",
            LOOKED_THROUGH,
            "--format=%B%x00",
            tip,
        ];
        let messages = self.ask(&messages).await?;
        let mut stamps = messages
            .split('\0')
            .filter_map(|message| Stamp::read(message.trim_start(), &self.travels.run));
        Ok(stamps.next().map(|stamp| stamp.epoch))
    }
}
