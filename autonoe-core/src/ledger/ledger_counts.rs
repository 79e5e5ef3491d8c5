//! [`LedgerCounts`], the number of deliverables in each status.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ledger::{Deliverable, DeliverableStatus};

/// Number of deliverables in each status. Deprecated ones only count as deprecated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LedgerCounts {
    /// Deliverables that the specification requires: pending, passed and blocked.
    pub total: usize,
    /// Passed deliverables.
    pub passed: usize,
    /// Deliverables blocked by external constraints.
    pub blocked: usize,
    /// Deliverables dropped from the specification; not included in `total`.
    pub deprecated: usize,
}

impl LedgerCounts {
    pub(super) fn count(deliverables: &[Deliverable]) -> Self {
        let mut counts = Self::default();
        for deliverable in deliverables {
            if !deliverable.is_active() {
                counts.deprecated += 1;
                continue;
            }
            counts.total += 1;
            match deliverable.status() {
                DeliverableStatus::Passed => counts.passed += 1,
                DeliverableStatus::Blocked => counts.blocked += 1,
                DeliverableStatus::Pending => {}
            }
        }
        counts
    }

    /// Returns the number of pending deliverables.
    pub fn pending(&self) -> usize {
        self.total
            .saturating_sub(self.passed)
            .saturating_sub(self.blocked)
    }

    /// Returns whether the ledger has no deliverables at all, not even deprecated ones.
    pub fn is_empty(&self) -> bool {
        self.total == 0 && self.deprecated == 0
    }

    /// Returns whether every achievable deliverable has passed, and not all are blocked.
    ///
    /// A ledger with only deprecated deliverables is done; an empty one is not.
    pub fn all_achievable_passed(&self) -> bool {
        !self.is_empty() && self.pending() == 0 && !self.all_blocked()
    }

    /// Returns whether there are deliverables and every one of them is blocked.
    pub fn all_blocked(&self) -> bool {
        self.total > 0 && self.blocked == self.total
    }
}
