//! The ledger and what is saved with it.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::{Ledger, LedgerCounts, VerificationTracker};

/// The ledger and the verification progress: what is saved in one write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LedgerState {
    /// The deliverables.
    pub ledger: Ledger,
    /// How far a sync has got.
    pub verification: VerificationTracker,
}

impl LedgerState {
    /// Makes the state of a project without deliverables.
    pub fn new(today: Date) -> Self {
        Self {
            ledger: Ledger::new(today),
            verification: VerificationTracker::default(),
        }
    }

    /// Returns the numbers that decisions are made on.
    pub fn view(&self) -> LedgerView {
        LedgerView {
            counts: self.ledger.counts(),
            verified: self.verification.verified_count(&self.ledger),
        }
    }
}

/// The numbers of a ledger that decisions are made on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LedgerView {
    /// How many deliverables stand where.
    pub counts: LedgerCounts,
    /// How many of those that count were verified by a sync.
    pub verified: usize,
}

impl LedgerView {
    /// Tells whether every deliverable that counts was verified, and there is a record at all.
    pub fn all_verified(&self) -> bool {
        !self.counts.is_empty() && self.verified == self.counts.total
    }
}
