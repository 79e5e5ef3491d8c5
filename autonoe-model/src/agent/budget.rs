//! What a session has used, and whether that is too much.

use autonoe_core::{Budget, BudgetKind, CostTotal, CostUsd, Spent, TokenUsage};

use crate::contract::ModelIdentity;
use crate::price::PriceTable;

/// What a session has used so far.
#[derive(Debug)]
pub(super) struct Account {
    prices: PriceTable,
    budget: Budget,
    spent: Spent,
}

impl Account {
    pub(super) fn new(prices: PriceTable, budget: Budget) -> Self {
        Self {
            prices,
            budget,
            spent: Spent::default(),
        }
    }

    /// Writes down what a call used, and returns what it cost.
    pub(super) fn used(&mut self, model: &ModelIdentity, tokens: TokenUsage) -> Option<CostUsd> {
        let cost = self.prices.cost(model, &tokens);
        self.spent.tokens += tokens;
        self.spent.cost.add(cost);
        cost
    }

    /// Writes down a call that was not heard to its end: only a part of what it used is known.
    pub(super) fn broke_off(&mut self, tokens: TokenUsage) {
        self.spent.tokens += tokens;
        self.spent.cost.add(None);
    }

    /// Returns what the session cost; `None` if a part of it is unknown.
    pub(super) fn cost(&self) -> Option<CostUsd> {
        let CostTotal {
            known_usd,
            unknown_parts,
            ..
        } = self.spent.cost;
        (unknown_parts == 0).then_some(known_usd)
    }

    /// Returns what is spent of the budget, if something is. Time is kept by who runs the session.
    pub(super) fn exhausted(&self) -> Option<BudgetKind> {
        self.budget.exhausted(&self.spent)
    }
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn a_session_with_a_model_of_unknown_price_costs_an_unknown_amount() {
        let mut account = Account::new(prices(), Budget::default());
        assert_eq!(account.cost(), Some(CostUsd::ZERO));

        let cost = account.used(&ModelIdentity::new("p", "known"), tokens(1_000_000));
        assert_eq!(cost, Some(CostUsd::from_cents(100)));
        assert_eq!(account.cost(), Some(CostUsd::from_cents(100)));

        assert_eq!(
            account.used(&ModelIdentity::new("p", "other"), tokens(1)),
            None
        );
        assert_eq!(account.cost(), None);
    }

    #[test]
    fn a_budget_is_spent_when_nothing_is_left_of_it() {
        let known = ModelIdentity::new("p", "known");
        let mut account = Account::new(prices(), Budget::default().with_tokens(10));

        account.used(&known, tokens(9));
        assert_eq!(account.exhausted(), None);
        account.used(&known, tokens(1));
        assert_eq!(account.exhausted(), Some(BudgetKind::Tokens));
    }
}
