//! Usage account of a session and its check against the budget.

use autonoe_core::agent::{BudgetKind, BudgetUsage, CostTotal};
use autonoe_core::{Budget, CostUsd};

use crate::contract::{CallUsage, ModelIdentity};
use crate::price::PriceTable;

/// Maximum number of calls with unknown usage before a budget counts as exhausted.
const MAX_UNKNOWN: u32 = 3;

/// Usage of a session so far.
#[derive(Debug)]
pub(super) struct Account {
    prices: PriceTable,
    budget: Budget,
    spent: BudgetUsage,
    /// Number of calls whose total usage is unknown.
    uncounted: u32,
}

impl Account {
    pub(super) fn new(prices: PriceTable, budget: Budget) -> Self {
        Self {
            prices,
            budget,
            spent: BudgetUsage::default(),
            uncounted: 0,
        }
    }

    /// Records the usage of a call. Returns its cost, or `None` if a part of it is unknown.
    pub(super) fn record(&mut self, model: &ModelIdentity, used: CallUsage) -> Option<CostUsd> {
        let known = self.prices.cost(model, &used.known());
        self.spent.tokens += used.known();
        match used {
            CallUsage::Complete(_) => {
                self.spent.cost.add(known);
                known
            }
            CallUsage::AtLeast(_) => {
                let least = known.unwrap_or(CostUsd::ZERO);
                self.spent.cost.merge(CostTotal::at_least(least));
                self.uncounted = self.uncounted.saturating_add(1);
                None
            }
        }
    }

    /// Returns the cost of the session, or `None` if a part of it is unknown.
    pub(super) fn cost(&self) -> Option<CostUsd> {
        self.spent.cost.exact()
    }

    /// Returns whether the budget limits cost or tokens.
    pub(super) fn is_limited(&self) -> bool {
        self.budget.cost_usd.is_some() || self.budget.tokens.is_some()
    }

    /// Returns the budget that is exhausted, or that cannot be enforced any more because too much
    /// usage is unknown. The session runner enforces the time budget.
    pub(super) fn exhausted(&self) -> Option<BudgetKind> {
        let is_a_guess = |unknown| unknown > MAX_UNKNOWN;
        let money = self.budget.cost_usd.is_some() && is_a_guess(self.spent.cost.unknown_parts);
        let tokens = self.budget.tokens.is_some() && is_a_guess(self.uncounted);
        self.budget
            .exhausted(&self.spent)
            .or(money.then_some(BudgetKind::Cost))
            .or(tokens.then_some(BudgetKind::Tokens))
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::agent::TokenUsage;

    use super::*;

    fn prices() -> PriceTable {
        serde_json::from_str(r#"{"known": {"input": "1", "output": "2"}}"#).expect("prices")
    }

    fn tokens(count: u64) -> TokenUsage {
        TokenUsage {
            input: count,
            ..TokenUsage::default()
        }
    }

    fn reported(count: u64) -> CallUsage {
        tokens(count).into()
    }

    #[test]
    fn a_session_with_a_model_of_unknown_price_costs_an_unknown_amount() {
        let mut account = Account::new(prices(), Budget::default());
        assert_eq!(account.cost(), Some(CostUsd::ZERO));

        let cost = account.record(&ModelIdentity::new("p", "known"), reported(1_000_000));
        assert_eq!(cost, Some(CostUsd::from_cents(100)));
        assert_eq!(account.cost(), Some(CostUsd::from_cents(100)));

        assert_eq!(
            account.record(&ModelIdentity::new("p", "other"), reported(1)),
            None
        );
        assert_eq!(account.cost(), None);
    }

    #[test]
    fn a_budget_is_spent_when_nothing_is_left_of_it() {
        let known = ModelIdentity::new("p", "known");
        let mut account = Account::new(prices(), Budget::default().with_tokens(10));

        account.record(&known, reported(9));
        assert_eq!(account.exhausted(), None);
        account.record(&known, reported(1));
        assert_eq!(account.exhausted(), Some(BudgetKind::Tokens));
    }

    #[test]
    fn a_budget_needs_exact_costs() {
        let known = ModelIdentity::new("p", "known");
        let dollar = Budget::default().with_cost(CostUsd::from_cents(100));
        for (budget, spent) in [
            (dollar, Some(BudgetKind::Cost)),
            (Budget::default().with_tokens(10), Some(BudgetKind::Tokens)),
            (Budget::default(), None),
        ] {
            let mut account = Account::new(prices(), budget);
            for _ in 0..MAX_UNKNOWN {
                assert_eq!(account.record(&known, CallUsage::UNKNOWN), None);
                assert_eq!(account.exhausted(), None, "{budget:?}");
            }

            account.record(&known, CallUsage::UNKNOWN);

            assert_eq!(account.exhausted(), spent, "{budget:?}");
            assert_eq!(account.cost(), None);
        }
    }

    #[test]
    fn known_usage_of_interrupted_answer_counts_against_budget() {
        let budget = Budget::default().with_cost(CostUsd::from_cents(100));
        let mut account = Account::new(prices(), budget);

        let cut = CallUsage::AtLeast(tokens(1_000_000));
        account.record(&ModelIdentity::new("p", "known"), cut);

        assert_eq!(account.exhausted(), Some(BudgetKind::Cost));
    }
}
