//! [`BudgetWatch`] reports budgets that are nearly spent.

use crate::agent::{Budget, BudgetKind, BudgetUsage};
use crate::event::{Events, RunEventKind};

/// Emits [`RunEventKind::BudgetNearlySpent`] once for each part of a budget.
#[derive(Debug, Default)]
pub(crate) struct BudgetWatch {
    /// The parts that were nearly spent at the last check.
    reported: Vec<BudgetKind>,
}

impl BudgetWatch {
    /// Creates a watch for a resumed run, which has reported what it had spent by then.
    pub(crate) fn resumed(budget: &Budget, spent: &BudgetUsage) -> Self {
        Self {
            reported: budget.nearly_spent(spent),
        }
    }

    /// Reports the parts that are nearly spent since the last check. A part whose limit was raised
    /// is reported again when it is nearly spent again.
    pub(crate) fn check(&mut self, budget: &Budget, spent: &BudgetUsage, events: &Events) {
        let nearly = budget.nearly_spent(spent);
        for budget in &nearly {
            if !self.reported.contains(budget) {
                events.emit(RunEventKind::BudgetNearlySpent { budget: *budget });
            }
        }
        self.reported = nearly;
    }
}
