//! Budget of a verification, shared by its criteria and judges.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use autonoe_core::Budget;
use autonoe_core::agent::{BudgetUsage, CostTotal, TokenUsage};

use super::{Account, AccountError, Allowance, BudgetedKind, Spending};

/// The account of a verification. The default has no limit.
///
/// A criterion or a judge that runs a session opens it here, which reserves the free part of the
/// budget. A session that is opened and dropped is charged with an unknown cost.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_core::agent::{CostTotal, TokenUsage};
/// use autonoe_core::CostUsd;
/// use autonoe_harness::budget::VerificationBudget;
/// use autonoe_harness::Allowance;
///
/// let budget = VerificationBudget::new(Allowance::default().sessions(1));
///
/// let session = budget.open().expect("it can be paid");
/// let cost = CostTotal::known(CostUsd::from_cents(3));
/// session.settle(cost, TokenUsage::default(), Duration::from_secs(20));
///
/// assert_eq!(budget.spending().spent.cost, cost);
/// assert!(budget.open().is_err());
/// ```
#[derive(Debug, Default)]
pub struct VerificationBudget(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    account: Account,
    /// The number of opened sessions; the names of reservations.
    opened: u64,
}

/// A session paid from a [`VerificationBudget`].
#[derive(Debug)]
#[must_use]
pub struct PaidSession<'a> {
    state: &'a Mutex<State>,
    reservation: String,
    budget: Budget,
    is_settled: bool,
}

impl VerificationBudget {
    /// Opens an account with `allowance`.
    pub fn new(allowance: Allowance) -> Self {
        Self(Mutex::new(State {
            account: Account::new(allowance),
            opened: 0,
        }))
    }

    /// Opens a session, with the free part of the budget as its limits. It stays reserved until the
    /// session is closed: two sessions cannot spend the same money.
    ///
    /// # Errors
    ///
    /// The returned kind is exhausted or reserved.
    pub fn open(&self) -> Result<PaidSession<'_>, BudgetedKind> {
        let mut state = lock(&self.0);
        if let Some(kind) = state.account.exhausted() {
            return Err(kind);
        }
        let budget = state.account.free().budget;
        state.opened += 1;
        let reservation = state.opened.to_string();
        let requested = Allowance::new(budget).sessions(1);
        match state.account.reserve(reservation.clone(), requested) {
            Ok(()) => Ok(PaidSession {
                state: &self.0,
                reservation,
                budget,
                is_settled: false,
            }),
            Err(AccountError::InsufficientBudget { kind, .. }) => Err(kind),
            Err(AccountError::Duplicate(_)) => unreachable!("reservations are numbered"),
        }
    }

    /// Returns the spending so far.
    pub fn spending(&self) -> Spending {
        lock(&self.0).account.spent()
    }
}

impl PaidSession<'_> {
    /// Returns the limits of the session.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Charges the spending of the session.
    pub fn settle(mut self, cost: CostTotal, tokens: TokenUsage, time: Duration) {
        self.close(BudgetUsage { cost, tokens, time }, 1);
    }

    /// Closes a session that did not start, without charging it.
    pub fn release(mut self) {
        self.close(BudgetUsage::default(), 0);
    }

    fn close(&mut self, spent: BudgetUsage, sessions: u64) {
        self.is_settled = true;
        let spending = Spending { spent, sessions };
        lock(self.state)
            .account
            .close_reservation(&self.reservation, &spending);
    }
}

impl Drop for PaidSession<'_> {
    fn drop(&mut self) {
        if !self.is_settled {
            let spent = BudgetUsage {
                cost: CostTotal::unknown(),
                ..BudgetUsage::default()
            };
            self.close(spent, 1);
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_session_is_charged_with_an_unknown_cost() {
        let money = Budget::default().with_cost(autonoe_core::CostUsd::from_cents(100));
        let budget = VerificationBudget::new(Allowance::new(money));

        drop(budget.open().expect("it can be paid"));

        assert_eq!(budget.spending().spent.cost, CostTotal::unknown());
        assert_eq!(budget.open().err(), Some(BudgetedKind::Cost));
    }

    #[test]
    fn two_open_sessions_do_not_spend_the_same_money() {
        let cents = autonoe_core::CostUsd::from_cents;
        let budget =
            VerificationBudget::new(Allowance::new(Budget::default().with_cost(cents(100))));

        let first = budget.open().expect("it can be paid");
        assert_eq!(budget.open().err(), Some(BudgetedKind::Cost));
        first.settle(
            CostTotal::known(cents(30)),
            TokenUsage::default(),
            Duration::ZERO,
        );

        let second = budget.open().expect("the rest is free again");
        assert_eq!(second.budget().cost_usd, Some(cents(70)));
        second.release();
    }

    #[test]
    fn a_session_that_did_not_start_is_not_charged() {
        let budget = VerificationBudget::new(Allowance::default().sessions(1));

        budget.open().expect("it can be paid").release();

        assert_eq!(budget.spending(), Spending::default());
        assert!(budget.open().is_ok());
    }
}
