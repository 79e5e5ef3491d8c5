//! What a task loop has spent.

use std::time::Duration;

use autonoe_core::{Budget, CostTotal, CostUsd, Spent};

use super::WorkSoFar;
use crate::{Accounts, Allowance, BudgetedKind, ExecutionResult, Spending};

const ALL: &str = "work";
const ITERATION: &str = "iteration";

/// What a task loop has spent, and what it may.
#[derive(Debug)]
pub(super) struct Account {
    accounts: Accounts,
    tally: Tally,
}

/// What iterations took together, and what the dearest took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) all: Spending,
    /// Each kind for itself.
    pub(super) dearest: Spending,
}

impl Account {
    /// Opens an account with what earlier lives of the run left of the allowance.
    ///
    /// What an iteration took that a kill cut off is known to nobody, and one that was interrupted
    /// may not have told it. It is taken for as dear as the dearest that is known, or, where none
    /// is, for its part of an allowance that is for so many `turns`: for nothing would be wrong, and
    /// for all that was left would end every run that is killed or left once.
    pub(super) fn after(allowance: Allowance, turns: u32, so_far: &WorkSoFar) -> Self {
        let told = so_far.told_spending();
        let mut accounts = Accounts::new(ALL, allowance);
        charge(&mut accounts, &told.all);
        let mut tally = told;
        let guess = guess(told.dearest, allowance, turns);
        let cut_off = (0..so_far.cut_off()).map(|_| Spending {
            sessions: 1,
            ..guess
        });
        // How long it took, and that it was a session, is in what was told of it.
        let mut untold_of_one = guess;
        (untold_of_one.spent.time, untold_of_one.sessions) = (Duration::ZERO, 0);
        let untold = (0..so_far.untold()).map(|_| untold_of_one);
        for guess in cut_off.chain(untold) {
            let charged = accounts.spend(ALL, &guess);
            debug_assert!(charged.is_ok(), "{charged:?}");
            tally.all.spent.cost.add(None);
            tally.all.sessions = tally.all.sessions.saturating_add(guess.sessions);
        }
        Self { accounts, tally }
    }

    pub(super) fn spent(&self) -> Spent {
        self.tally.all.spent
    }

    /// Returns how many sessions there were.
    pub(super) fn sessions(&self) -> u64 {
        self.tally.all.sessions
    }

    /// Returns what the dearest iteration took, each kind for itself.
    pub(super) fn dearest(&self) -> Spending {
        self.tally.dearest
    }

    pub(super) fn free(&self) -> Allowance {
        self.accounts.free(ALL).unwrap_or_default()
    }

    /// Returns what is spent to the last.
    pub(super) fn exhausted(&self) -> Option<BudgetedKind> {
        self.free().exhausted()
    }

    /// Charges what was spent beside iterations.
    pub(super) fn charge(&mut self, spending: &Spending) {
        charge(&mut self.accounts, spending);
        self.tally.all.merge(spending);
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
    pub(super) fn end(&mut self, spending: Option<&Spending>) {
        if let Some(spending) = spending {
            let charged = self.accounts.spend(ITERATION, spending);
            debug_assert!(charged.is_ok(), "{charged:?}");
            self.tally.add(spending);
        }
        let settled = self.accounts.settle(ITERATION);
        debug_assert!(settled.is_ok(), "{settled:?}");
    }
}

/// Returns what an iteration is taken to have spent of which nobody knows it.
fn guess(dearest: Spending, allowance: Allowance, turns: u32) -> Spending {
    let mut guess = dearest;
    let part = |all: u64| all / u64::from(turns.max(1));
    if guess.spent.cost.known_usd == CostUsd::ZERO {
        let all = allowance.budget.cost_usd.map_or(0, CostUsd::picos);
        guess.spent.cost = CostTotal::known(CostUsd::from_picos(part(all)));
    }
    if guess.spent.tokens.total() == 0 {
        guess.spent.tokens.input = part(allowance.budget.tokens.unwrap_or_default());
    }
    guess
}

/// Charges all with what was spent. Where nobody knows how much that was, nothing is left.
fn charge(accounts: &mut Accounts, spending: &Spending) {
    let free = accounts.free(ALL).unwrap_or_default();
    let charged = accounts
        .reserve(ALL, ITERATION, free)
        .and_then(|()| accounts.spend(ITERATION, spending))
        .and_then(|()| accounts.settle(ITERATION));
    debug_assert!(charged.is_ok(), "{charged:?}");
}

/// Returns what an execution took.
pub(super) fn spending(result: &ExecutionResult) -> Spending {
    Spending {
        spent: Spent {
            cost: result.cost,
            tokens: result.tokens,
            time: result.duration,
        },
        sessions: 1,
    }
}

impl Tally {
    /// Adds what an iteration took.
    pub(super) fn add(&mut self, iteration: &Spending) {
        self.all.merge(iteration);
        let one = &iteration.spent;
        let most = &mut self.dearest.spent;
        if one.cost.known_usd > most.cost.known_usd {
            most.cost = one.cost;
        }
        if one.tokens.total() > most.tokens.total() {
            most.tokens = one.tokens;
        }
        most.time = most.time.max(one.time);
        self.dearest.sessions = self.dearest.sessions.max(iteration.sessions);
    }
}
