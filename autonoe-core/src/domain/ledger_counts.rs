//! How many deliverables stand where.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Deliverable, DeliverableStatus};

/// How many deliverables stand where. Deprecated ones count only as such.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LedgerCounts {
    /// Those that the specification asks for: pending, passed and blocked.
    pub total: usize,
    /// Those that passed.
    pub passed: usize,
    /// Those that external constraints prevent.
    pub blocked: usize,
    /// Those that the specification dropped; they are not in `total`.
    pub deprecated: usize,
}

impl LedgerCounts {
    pub(super) fn of(deliverables: &[Deliverable]) -> Self {
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

    /// Returns how many are still to be worked on.
    pub fn pending(&self) -> usize {
        self.total
            .saturating_sub(self.passed)
            .saturating_sub(self.blocked)
    }

    /// Tells whether the ledger has no record at all, not even a deprecated one.
    pub fn is_empty(&self) -> bool {
        self.total == 0 && self.deprecated == 0
    }

    /// Tells whether all deliverables that can be done are done, and not all are blocked.
    ///
    /// A ledger with only deprecated ones is done; an empty one is not.
    pub fn all_achievable_passed(&self) -> bool {
        !self.is_empty() && self.pending() == 0 && !self.all_blocked()
    }

    /// Tells whether there are deliverables and every one of them is blocked.
    pub fn all_blocked(&self) -> bool {
        self.total > 0 && self.blocked == self.total
    }
}
