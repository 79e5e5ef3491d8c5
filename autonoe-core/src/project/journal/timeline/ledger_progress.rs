//! [`LedgerProgress`], the state of the ledger between two recorded counts.

use std::collections::HashMap;

use crate::ledger::{DeliverableId, DeliverableStatus, LedgerCounts, LedgerView, StatusChange};

/// The state of the ledger, from the changes since its last recorded count.
///
/// An unknown value (the status of a deprecated deliverable without a recorded change) is corrected
/// by the next count.
#[derive(Clone, Debug, Default)]
pub(super) struct LedgerProgress {
    view: LedgerView,
    known: HashMap<DeliverableId, DeliverableStatus>,
}

impl LedgerProgress {
    /// Sets the counts.
    pub(super) fn found(&mut self, view: LedgerView) {
        self.view = view;
    }

    /// Applies a status change and returns the new counts.
    pub(super) fn changed(&mut self, change: &StatusChange) -> LedgerView {
        match change.previous {
            Some(previous) => self.decrement(previous),
            None => self.view.counts.total += 1,
        }
        match change.status {
            DeliverableStatus::Passed => self.view.counts.passed += 1,
            DeliverableStatus::Blocked => self.view.counts.blocked += 1,
            DeliverableStatus::Pending => {}
        }
        self.known.insert(change.id.clone(), change.status);
        self.view
    }

    /// Applies the deprecation of a deliverable and returns the new counts.
    pub(super) fn deprecated(&mut self, id: &DeliverableId) -> LedgerView {
        if let Some(status) = self.known.remove(id) {
            self.decrement(status);
        }
        let LedgerCounts {
            total, deprecated, ..
        } = &mut self.view.counts;
        *total = total.saturating_sub(1);
        *deprecated += 1;
        self.view
    }

    /// Applies the verification of a deliverable and returns the new counts.
    pub(super) fn verified(&mut self) -> LedgerView {
        let all = self.view.counts.total;
        self.view.verified = (self.view.verified + 1).min(all);
        self.view
    }

    fn decrement(&mut self, status: DeliverableStatus) {
        let counts = &mut self.view.counts;
        let count = match status {
            DeliverableStatus::Passed => &mut counts.passed,
            DeliverableStatus::Blocked => &mut counts.blocked,
            DeliverableStatus::Pending => return,
        };
        *count = count.saturating_sub(1);
    }
}
