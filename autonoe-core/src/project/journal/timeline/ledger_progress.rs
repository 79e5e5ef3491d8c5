//! How the ledger stands between two times at which it was counted.

use std::collections::HashMap;

use crate::domain::{DeliverableId, DeliverableStatus, LedgerCounts, LedgerView, StatusChange};

/// How the ledger stands, by the changes since it was last counted.
///
/// What it cannot know (the status of a deliverable that was dropped and had
/// not been heard of) is right again with the next count.
#[derive(Debug, Default)]
pub(super) struct LedgerProgress {
    view: LedgerView,
    known: HashMap<DeliverableId, DeliverableStatus>,
}

impl LedgerProgress {
    /// Takes note of a count.
    pub(super) fn found(&mut self, view: LedgerView) {
        self.view = view;
    }

    /// Takes note of a change, and returns how the ledger stands.
    pub(super) fn changed(&mut self, change: &StatusChange) -> LedgerView {
        match change.previous {
            Some(previous) => self.leaves(previous),
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

    /// Takes note of a deliverable that was dropped, and returns how the ledger stands.
    pub(super) fn deprecated(&mut self, id: &DeliverableId) -> LedgerView {
        if let Some(status) = self.known.remove(id) {
            self.leaves(status);
        }
        let LedgerCounts {
            total, deprecated, ..
        } = &mut self.view.counts;
        *total = total.saturating_sub(1);
        *deprecated += 1;
        self.view
    }

    /// Takes note of a deliverable that was verified, and returns how the ledger stands.
    pub(super) fn verified(&mut self) -> LedgerView {
        let all = self.view.counts.total;
        self.view.verified = (self.view.verified + 1).min(all);
        self.view
    }

    fn leaves(&mut self, status: DeliverableStatus) {
        let counts = &mut self.view.counts;
        let count = match status {
            DeliverableStatus::Passed => &mut counts.passed,
            DeliverableStatus::Blocked => &mut counts.blocked,
            DeliverableStatus::Pending => return,
        };
        *count = count.saturating_sub(1);
    }
}
