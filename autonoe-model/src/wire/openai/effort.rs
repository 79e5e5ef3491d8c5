//! From tokens to think with to an effort to think with.

use autonoe_core::ThinkingBudget;

/// The least tokens of each effort, the most first. Only the three that every reasoning model
/// knows: `minimal`, `none` and `xhigh` come and go from model to model.
const EFFORTS: [(u32, &str); 3] = [(16_384, "high"), (4_096, "medium"), (0, "low")];

/// Returns the effort that comes nearest to a budget of tokens.
pub(in crate::wire) fn effort(budget: ThinkingBudget) -> &'static str {
    let found = EFFORTS
        .iter()
        .find(|(least, _)| budget.tokens() >= *least)
        .map(|(_, effort)| *effort);
    found.unwrap_or("low")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_of_tokens_becomes_an_effort() {
        let table = [
            (ThinkingBudget::LEAST, "low"),
            (4_095, "low"),
            (4_096, "medium"),
            (ThinkingBudget::default().tokens(), "medium"),
            (16_383, "medium"),
            (16_384, "high"),
            (u32::MAX, "high"),
        ];

        for (tokens, expected) in table {
            let budget = ThinkingBudget::new(tokens).expect("it is enough");
            assert_eq!(effort(budget), expected, "{tokens} tokens");
        }
    }
}
