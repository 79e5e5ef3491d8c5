//! What was used, from totals.

use autonoe_core::TokenUsage;

use crate::wire::TokenTotals;

/// What was used, from totals of the whole conversation.
///
/// ```
/// use autonoe_codex::events::Spending;
/// use autonoe_codex::wire::TokenTotals;
///
/// let totals = |input: u64| -> TokenTotals {
///     serde_json::from_value(serde_json::json!({"inputTokens": input})).expect("totals")
/// };
/// let mut spending = Spending::default();
///
/// // The turns before this session were paid for before it.
/// assert_eq!(spending.spend(totals(500), totals(100)).input, 100);
/// assert_eq!(spending.spend(totals(530), totals(30)).input, 30);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Spending {
    total: Option<TokenTotals>,
}

impl Spending {
    /// Takes note of a total that is about an earlier turn.
    pub fn inherit(&mut self, total: TokenTotals) {
        self.total = Some(total);
    }

    /// Returns what was used since the last total, when the last call of the model used `last`.
    pub fn spend(&mut self, total: TokenTotals, last: TokenTotals) -> TokenUsage {
        let before = self.total.unwrap_or_else(|| total.since(last));
        self.total = Some(total);
        total.since(before).into()
    }
}
