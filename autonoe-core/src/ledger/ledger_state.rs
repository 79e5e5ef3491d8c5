//! [`LedgerState`], the ledger with its verification progress, saved in one write.

use std::collections::BTreeSet;

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ledger::{DeliverableId, Ledger, LedgerCounts, LedgerError};

/// Ledger and verification progress, saved in one write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LedgerState {
    /// The deliverables.
    pub ledger: Ledger,
    /// Verification progress of the current sync.
    pub verification: VerificationTracker,
}

impl LedgerState {
    /// Creates the state of a project without deliverables.
    pub fn new(today: Date) -> Self {
        Self {
            ledger: Ledger::new(today),
            verification: VerificationTracker::default(),
        }
    }

    /// Returns the counts that decisions are based on.
    pub fn view(&self) -> LedgerView {
        LedgerView {
            counts: self.ledger.counts(),
            verified: self.verification.verified_count(&self.ledger),
        }
    }
}

/// Counts of a ledger that decisions are based on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LedgerView {
    /// Number of deliverables in each status.
    pub counts: LedgerCounts,
    /// Number of active deliverables that a sync has verified.
    pub verified: usize,
}

impl LedgerView {
    /// Returns whether every active deliverable was verified and the ledger is not empty.
    pub fn all_verified(&self) -> bool {
        !self.counts.is_empty() && self.verified == self.counts.total
    }
}

/// Tracks which deliverables a sync has verified.
///
/// Verified means checked against the code, whatever the result. The tracker is saved together with
/// the ledger, so that an interrupted sync resumes where it stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerificationTracker {
    /// Verified deliverables.
    verified: BTreeSet<DeliverableId>,
    /// Whether a sync has verified every deliverable; the next sync then starts over.
    #[serde(default)]
    finished: bool,
}

impl VerificationTracker {
    /// Marks a deliverable of `ledger` as verified. Marking it again is not an error.
    ///
    /// # Errors
    ///
    /// The deliverable does not exist or is deprecated.
    pub fn verify(&mut self, id: &DeliverableId, ledger: &Ledger) -> Result<(), LedgerError> {
        let deliverable = ledger
            .get(id)
            .ok_or_else(|| LedgerError::NotFound { id: id.clone() })?;
        if !deliverable.is_active() {
            return Err(LedgerError::Deprecated { id: id.clone() });
        }
        self.verified.insert(id.clone());
        self.finished = self.all_verified(ledger);
        Ok(())
    }

    /// Returns whether a deliverable was verified.
    pub fn is_verified(&self, id: &DeliverableId) -> bool {
        self.verified.contains(id)
    }

    /// Counts the active deliverables of `ledger` that were verified.
    pub fn verified_count(&self, ledger: &Ledger) -> usize {
        ledger
            .active()
            .filter(|deliverable| self.is_verified(deliverable.id()))
            .count()
    }

    /// Returns whether every active deliverable of `ledger` was verified.
    ///
    /// An empty ledger never counts as verified, because nothing was checked.
    pub fn all_verified(&self, ledger: &Ledger) -> bool {
        !ledger.deliverables().is_empty()
            && ledger
                .active()
                .all(|deliverable| self.is_verified(deliverable.id()))
    }

    /// Discards all progress if an earlier sync finished; keeps it otherwise.
    ///
    /// Returns whether any progress was discarded.
    pub fn reset_if_finished(&mut self, ledger: &Ledger) -> bool {
        let is_finished = (self.finished || self.all_verified(ledger)) && !self.verified.is_empty();
        if is_finished {
            *self = Self::default();
        }
        is_finished
    }

    /// Discards all progress, because the code is about to change.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns whether nothing has been verified yet.
    pub fn is_empty(&self) -> bool {
        self.verified.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::ledger::Deliverable;

    fn id(text: &str) -> DeliverableId {
        DeliverableId::new(text).expect("a valid id")
    }

    fn ledger(ids: &[&str]) -> Ledger {
        let today = date(2026, 1, 1);
        let mut ledger = Ledger::new(today);
        for text in ids {
            let deliverable = Deliverable::new(id(text), "x", ["y"]).expect("valid");
            ledger.create([deliverable], today).expect("a new id");
        }
        ledger
    }

    #[test]
    fn an_empty_ledger_is_never_verified() {
        assert!(!VerificationTracker::default().all_verified(&ledger(&[])));
    }

    #[test]
    fn an_interrupted_sync_resumes_and_a_finished_one_starts_over() {
        let ledger = ledger(&["A", "B"]);
        let mut tracker = VerificationTracker::default();
        tracker.verify(&id("A"), &ledger).expect("it exists");

        assert!(!tracker.reset_if_finished(&ledger));
        assert_eq!(tracker.verified_count(&ledger), 1);

        tracker.verify(&id("B"), &ledger).expect("it exists");
        assert!(tracker.all_verified(&ledger));
        assert!(tracker.reset_if_finished(&ledger));
        assert_eq!(tracker.verified_count(&ledger), 0);
    }

    #[test]
    fn a_finished_sync_starts_over_even_when_deliverables_were_added() {
        let mut tracker = VerificationTracker::default();
        tracker
            .verify(&id("A"), &ledger(&["A"]))
            .expect("it exists");

        assert!(tracker.reset_if_finished(&ledger(&["A", "B"])));
    }

    #[test]
    fn unknown_and_deprecated_deliverables_cannot_be_verified() {
        let mut ledger = ledger(&["A"]);
        ledger
            .deprecate(&id("A"), date(2026, 1, 2))
            .expect("it exists");
        let mut tracker = VerificationTracker::default();

        assert_eq!(
            tracker.verify(&id("A"), &ledger),
            Err(LedgerError::Deprecated { id: id("A") })
        );
        assert_eq!(
            tracker.verify(&id("Z"), &ledger),
            Err(LedgerError::NotFound { id: id("Z") })
        );
    }
}
