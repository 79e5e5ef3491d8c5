//! [`UsageTracker`], the cost of a turn computed from the totals of the process.

use autonoe_core::CostUsd;
use autonoe_core::agent::{CostTotal, TokenUsage};

use crate::wire::ResultMessage;

/// Computes the cost of each turn from the totals of the process.
///
/// The program counts money and tokens over the whole life of its process, sub-agents included, and
/// restarts at zero when the conversation is cleared.
#[derive(Clone, Debug, Default)]
pub struct UsageTracker {
    cost: CostUsd,
    tokens: TokenUsage,
    query: CostTotal,
    turns: u32,
}

/// The usage of one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnCost {
    /// The tokens, including those of sub-agents.
    pub tokens: TokenUsage,
    /// The cost; `None` is unknown.
    pub cost: Option<CostUsd>,
}

impl UsageTracker {
    /// Starts a new query, whose cost is counted from zero.
    pub(super) fn start_query(&mut self) {
        self.query = CostTotal::default();
        self.turns = 0;
    }

    /// Returns the usage of the turn that ended with `result`.
    pub(super) fn turn(&mut self, result: &ResultMessage<'_>) -> TurnCost {
        let total = result.total_cost_usd.map(CostUsd::from_f64);
        let cost = total.and_then(Result::ok).map(|total| {
            let spent = if total < self.cost {
                total
            } else {
                total.saturating_sub(self.cost)
            };
            self.cost = total;
            spent
        });
        let tokens = match result.model_usage.and_then(|usage| usage.0) {
            Some(total) => {
                let spent = since(total, self.tokens);
                self.tokens = total;
                spent
            }
            None => {
                // Nothing was used since the start, or the program does not count by model.
                self.tokens = TokenUsage::default();
                result.usage.map(|usage| usage.0).unwrap_or_default()
            }
        };
        self.query.add(cost);
        self.turns += 1;
        TurnCost { tokens, cost }
    }

    /// Records that a part of the cost is unknown.
    pub(super) fn add_unknown(&mut self) {
        self.query.add(None);
    }

    /// Returns the cost of the query so far; `None` is unknown.
    pub fn query(&self) -> Option<CostUsd> {
        if self.turns == 0 {
            return None;
        }
        self.query.exact()
    }
}

/// Returns the usage since `before`; all of `now` if the count has restarted.
fn since(now: TokenUsage, before: TokenUsage) -> TokenUsage {
    let pairs = [
        (now.input, before.input),
        (now.output, before.output),
        (now.cache_read, before.cache_read),
        (now.cache_write, before.cache_write),
        (now.reasoning, before.reasoning),
    ];
    if pairs.iter().any(|(now, before)| now < before) {
        return now;
    }
    TokenUsage {
        input: now.input - before.input,
        output: now.output - before.output,
        cache_read: now.cache_read - before.cache_read,
        cache_write: now.cache_write - before.cache_write,
        reasoning: now.reasoning - before.reasoning,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Line, Message};

    fn turn(spending: &mut UsageTracker, text: &str) -> (u64, u64, u64, Option<String>) {
        let line = Line::from_text(format!("{{\"type\":\"result\",{text}}}")).expect("a line");
        let Message::Result(result) = line.parse() else {
            panic!("{line:?}")
        };
        let TurnCost { tokens, cost } = spending.turn(&result);
        let cost = cost.map(|cost| cost.to_string());
        (tokens.input, tokens.output, tokens.reasoning, cost)
    }

    fn cost(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn the_cost_of_a_turn_is_the_increase_since_the_last() {
        let mut spending = UsageTracker::default();

        let first = turn(
            &mut spending,
            r#""total_cost_usd":0.0016,"modelUsage":{"a":{"inputTokens":200,"outputTokens":40}},"usage":{"input_tokens":100}"#,
        );
        let second = turn(
            &mut spending,
            r#""total_cost_usd":0.0024000000000000002,"modelUsage":{"a":{"inputTokens":200,"outputTokens":40},"b":{"inputTokens":7,"outputTokens":9,"thinkingTokens":4}}"#,
        );

        assert_eq!(first, (200, 40, 0, cost("$0.0016")));
        assert_eq!(second, (7, 5, 4, cost("$0.0008")));
        assert_eq!(
            spending.query().map(|cost| cost.to_string()),
            cost("$0.0024")
        );
    }

    #[test]
    fn a_cleared_conversation_restarts_at_zero_and_the_sum_continues() {
        let mut spending = UsageTracker::default();

        for (text, expected) in [
            (
                r#""total_cost_usd":0.5,"modelUsage":{"a":{"inputTokens":100}}"#,
                (100, 0, 0, cost("$0.50")),
            ),
            (
                r#""total_cost_usd":0,"modelUsage":{}"#,
                (0, 0, 0, cost("$0.00")),
            ),
            (
                r#""total_cost_usd":0.25,"modelUsage":{"a":{"inputTokens":40}}"#,
                (40, 0, 0, cost("$0.25")),
            ),
            (
                r#""total_cost_usd":0.125,"modelUsage":{"a":{"inputTokens":30}}"#,
                (30, 0, 0, cost("$0.125")),
            ),
        ] {
            assert_eq!(turn(&mut spending, text), expected);
        }

        assert_eq!(
            spending.query().map(|cost| cost.to_string()),
            cost("$0.875")
        );
    }

    #[test]
    fn missing_costs_are_unknown_and_not_zero() {
        let mut spending = UsageTracker::default();

        assert_eq!(spending.query(), None);
        assert_eq!(
            turn(&mut spending, r#""total_cost_usd":0.5"#),
            (0, 0, 0, cost("$0.50"))
        );
        for unknown in ["null", "\"free\"", "-1"] {
            let told = format!("\"total_cost_usd\":{unknown}");
            assert_eq!(turn(&mut spending, &told).3, None, "{unknown}");
        }
        assert_eq!(spending.query(), None);

        spending.start_query();
        assert_eq!(
            turn(
                &mut spending,
                r#""total_cost_usd":0.75,"usage":{"input_tokens":3,"output_tokens":null}"#
            ),
            (3, 0, 0, cost("$0.25"))
        );
        assert_eq!(spending.query().map(|cost| cost.to_string()), cost("$0.25"));
    }
}
