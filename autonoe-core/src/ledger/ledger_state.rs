//! [`LedgerState`], the ledger with its verification progress, saved in one write.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::ledger::{Ledger, LedgerCounts, VerificationTracker};

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
