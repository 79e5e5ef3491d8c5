//! What a task loop has spent.

use autonoe_core::{Budget, Spent};

use crate::{Accounts, Allowance, BudgetedKind, ExecutionResult, Spending};

const ALL: &str = "work";
const ITERATION: &str = "iteration";

/// What a task loop has spent, and what it may.
#[derive(Debug)]
pub(super) struct Account {
    accounts: Accounts,
    spent: Spent,
    dearest: Spending,
}

impl Account {
    pub(super) fn new(allowance: Allowance) -> Self {
        Self {
            accounts: Accounts::new(ALL, allowance),
            spent: Spent::default(),
            dearest: Spending::default(),
        }
    }

    pub(super) fn spent(&self) -> Spent {
        self.spent
    }

    /// Returns what the dearest iteration took, each kind for itself.
    pub(super) fn dearest(&self) -> Spending {
        self.dearest
    }

    pub(super) fn free(&self) -> Allowance {
        self.accounts.free(ALL).unwrap_or_default()
    }

    /// Returns what is spent to the last.
    pub(super) fn exhausted(&self) -> Option<BudgetedKind> {
        let free = self.free().amounts();
        let mut kinds = BudgetedKind::ALL.into_iter().zip(free);
        kinds
            .find(|(_, free)| *free == Some(0))
            .map(|(kind, _)| kind)
    }

    /// Reserves what an iteration may spend.
    ///
    /// # Errors
    ///
    /// Nothing is left of that.
    pub(super) fn begin(&mut self) -> Result<Budget, BudgetedKind> {
        if let Some(kind) = self.exhausted() {
            return Err(kind);
        }
        let free = self.free();
        let asked = Allowance {
            sessions: free.sessions.map(|_| 1),
            ..free
        };
        let reserved = self.accounts.reserve(ALL, ITERATION, asked);
        reserved.map_err(|_| BudgetedKind::Sessions)?;
        Ok(asked.budget)
    }

    /// Charges what the iteration spent; `None` if it did not begin. The rest is free again.
    pub(super) fn end(&mut self, result: Option<&ExecutionResult>) {
        if let Some(result) = result {
            let spending = Spending {
                spent: Spent {
                    cost: result.cost,
                    tokens: result.tokens,
                    time: result.duration,
                },
                sessions: 1,
            };
            self.note(&spending);
        }
        let settled = self.accounts.settle(ITERATION);
        debug_assert!(settled.is_ok(), "{settled:?}");
    }

    fn note(&mut self, spending: &Spending) {
        let charged = self.accounts.spend(ITERATION, spending);
        debug_assert!(charged.is_ok(), "{charged:?}");
        let (spent, one) = (&mut self.spent, &spending.spent);
        spent.cost.merge(one.cost);
        spent.tokens += one.tokens;
        spent.time += one.time;
        let most = &mut self.dearest.spent;
        if one.cost.known_usd > most.cost.known_usd {
            most.cost = one.cost;
        }
        if one.tokens.total() > most.tokens.total() {
            most.tokens = one.tokens;
        }
        most.time = most.time.max(one.time);
        self.dearest.sessions = 1;
    }
}
