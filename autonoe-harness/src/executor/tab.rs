//! What looking at a result may spend, and what it took.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use autonoe_core::{Budget, CostTotal, Spent, TokenUsage};

use crate::{Allowance, BudgetedKind, Spending};

/// What it may spend to find out whether a result holds, and what that took.
///
/// A criterion or a judge that has a session opens it here. What is opened and dropped is charged
/// as a session whose cost is unknown.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_core::{CostTotal, CostUsd, TokenUsage};
/// use autonoe_harness::{Allowance, VerificationTab};
///
/// let tab = VerificationTab::new(Allowance::default().with_sessions(1));
///
/// let session = tab.open().expect("it can be paid");
/// let cost = CostTotal::known(CostUsd::from_cents(3));
/// session.settle(cost, TokenUsage::default(), Duration::from_secs(20));
///
/// assert_eq!(tab.spending().spent.cost, cost);
/// assert!(tab.open().is_err());
/// ```
#[derive(Debug, Default)]
pub struct VerificationTab {
    allowance: Allowance,
    spending: Mutex<Spending>,
}

/// A session that a [`VerificationTab`] pays.
#[derive(Debug)]
#[must_use]
pub struct TabSession<'a> {
    tab: &'a VerificationTab,
    budget: Budget,
    is_settled: bool,
}

impl VerificationTab {
    /// Makes a tab on which that much may be put.
    pub fn new(allowance: Allowance) -> Self {
        Self {
            allowance,
            spending: Mutex::default(),
        }
    }

    /// Begins a session.
    ///
    /// # Errors
    ///
    /// Nothing is left of that.
    pub fn open(&self) -> Result<TabSession<'_>, BudgetedKind> {
        let left = self.allowance.minus(&self.spending());
        match left.exhausted() {
            Some(kind) => Err(kind),
            None => Ok(TabSession {
                tab: self,
                budget: left.budget,
                is_settled: false,
            }),
        }
    }

    /// Returns what was spent.
    pub fn spending(&self) -> Spending {
        *self.noted()
    }

    fn charge(&self, cost: CostTotal, tokens: TokenUsage, time: Duration) {
        let spent = Spent { cost, tokens, time };
        let session = Spending { spent, sessions: 1 };
        self.noted().merge(&session);
    }

    fn noted(&self) -> MutexGuard<'_, Spending> {
        self.spending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TabSession<'_> {
    /// Returns what the session may spend.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Puts on the tab what the session took.
    pub fn settle(mut self, cost: CostTotal, tokens: TokenUsage, time: Duration) {
        self.is_settled = true;
        self.tab.charge(cost, tokens, time);
    }

    /// Notes that the session did not begin, and took nothing.
    pub fn did_not_begin(mut self) {
        self.is_settled = true;
    }
}

impl Drop for TabSession<'_> {
    fn drop(&mut self) {
        if !self.is_settled {
            let nothing = (TokenUsage::default(), Duration::ZERO);
            self.tab.charge(CostTotal::unknown(), nothing.0, nothing.1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_was_spent_and_nobody_knows_how_much() {
        let budget = Budget::default().with_cost(autonoe_core::CostUsd::from_cents(100));
        let tab = VerificationTab::new(Allowance::new(budget));

        drop(tab.open().expect("it can be paid"));

        assert_eq!(tab.spending().spent.cost, CostTotal::unknown());
        assert_eq!(tab.open().err(), Some(BudgetedKind::Cost));
    }

    #[test]
    fn what_did_not_begin_takes_nothing() {
        let tab = VerificationTab::new(Allowance::default().with_sessions(1));

        tab.open().expect("it can be paid").did_not_begin();

        assert_eq!(tab.spending(), Spending::default());
        assert!(tab.open().is_ok());
    }
}
