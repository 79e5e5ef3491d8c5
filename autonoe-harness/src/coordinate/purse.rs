//! What members are paid from.

use autonoe_core::{CostTotal, RunId, RunOutcome, Spent};

use crate::{AccountError, Accounts, Allowance, Spending};

/// The account of a fleet, and those of its members below it.
#[derive(Clone, Debug)]
pub(super) struct Purse {
    accounts: Accounts,
    fleet: String,
}

impl Purse {
    pub(super) fn new(accounts: Accounts, fleet: String) -> Self {
        Self { accounts, fleet }
    }

    /// Reserves what a member may spend; or says what is missing.
    ///
    /// Members are known by their runs, so that two fleets can be paid from one tree of accounts.
    pub(super) fn reserve(&mut self, run: &RunId, allowance: Allowance) -> Result<(), String> {
        match self.accounts.reserve(&self.fleet, run.as_str(), allowance) {
            // It was reserved by a coordinator before this one.
            Ok(()) | Err(AccountError::Duplicate(_)) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Charges a member with what it spent, and takes back the rest. Of sessions that nobody counted
    /// none returns.
    pub(super) fn settle(&mut self, run: &RunId, allowance: Allowance, outcome: &RunOutcome) {
        let counted = outcome.sessions.or(allowance.sessions);
        let spending = Spending {
            spent: outcome.spent,
            sessions: counted.unwrap_or_default(),
        };
        self.close(run, &spending);
    }

    /// Takes back all of what a member was to have: it was never started.
    pub(super) fn give_back(&mut self, run: &RunId) {
        self.close(run, &Spending::default());
    }

    /// Takes back nothing of the money: nobody knows what a member spends.
    pub(super) fn write_off(&mut self, run: &RunId, allowance: Allowance) {
        let spent = Spent {
            cost: CostTotal::unknown(),
            ..Spent::default()
        };
        let mut spending = Spending {
            spent,
            sessions: allowance.sessions.unwrap_or_default(),
        };
        spending.spent.tokens.input = allowance.budget.tokens.unwrap_or_default();
        spending.spent.time = allowance.budget.time.unwrap_or_default();
        self.close(run, &spending);
    }

    pub(super) fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    fn close(&mut self, run: &RunId, spending: &Spending) {
        let closed = self
            .accounts
            .spend(run.as_str(), spending)
            .and_then(|()| self.accounts.settle(run.as_str()));
        if let Err(error) = closed {
            // It was not reserved: a member that was found again and could not be paid any more.
            tracing::warn!(%run, %error, "a member of the fleet is charged to the fleet itself");
            if let Err(error) = self.accounts.spend(&self.fleet, spending) {
                tracing::error!(%run, %error, "what a member spent is charged to nobody");
            }
        }
    }
}
