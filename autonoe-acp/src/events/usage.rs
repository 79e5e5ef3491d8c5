//! What a turn used, in the dialects of agents.

use autonoe_core::TokenUsage;
use serde_json::Value;

/// What the turns of a session used. Some agents tell each turn, others the sum of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spending {
    /// What was used before is known, so a sum tells what the turn used.
    Since(TokenUsage),
    /// Something was used before, and nobody knows how much.
    SinceLongAgo,
    /// What is told is of one turn: it has become less.
    ByTurn,
}

impl Spending {
    /// Nothing was used yet.
    pub(crate) fn new() -> Self {
        Self::Since(TokenUsage::default())
    }

    /// Returns what the turn used that `answer` ended; `None` if that cannot be told.
    pub(crate) fn of_turn(&mut self, answer: &Value) -> Option<TokenUsage> {
        let counts = &answer["_meta"]["quota"]["token_count"];
        let used = match standard(&answer["usage"]) {
            // By the protocol it is a sum. Adapters that know such counts mean the turn by both.
            Some(told) if counts.is_object() => Some(told),
            Some(told) => self.of_sum(told),
            None => gemini(counts).or_else(|| codex(counts)),
        };
        // No turn uses nothing: it is what is said where nothing is known.
        used.filter(|used| *used != TokenUsage::default())
    }

    fn of_sum(&mut self, told: TokenUsage) -> Option<TokenUsage> {
        match *self {
            Self::ByTurn => Some(told),
            Self::SinceLongAgo => {
                *self = Self::Since(told);
                None
            }
            Self::Since(before) => {
                let turn = since(told, before);
                *self = match turn {
                    Some(_) => Self::Since(told),
                    None => Self::ByTurn,
                };
                turn.or(Some(told))
            }
        }
    }
}

/// The protocol's own words, a draft: sums over the session.
///
/// It does not say whether what was cached is in the input, or what was thought in the output.
/// The total tells: it is the sum of what does not overlap.
fn standard(usage: &Value) -> Option<TokenUsage> {
    let count = |field: &str| usage[field].as_u64();
    let mut used = TokenUsage {
        input: count("inputTokens")?,
        output: count("outputTokens")?,
        cache_read: count("cachedReadTokens").unwrap_or_default(),
        cache_write: count("cachedWriteTokens").unwrap_or_default(),
        reasoning: count("thoughtTokens").unwrap_or_default(),
    };
    let cached = used.cache_read.saturating_add(used.cache_write);
    let twice = used
        .total()
        .saturating_sub(count("totalTokens").unwrap_or(u64::MAX));
    if twice > 0 && (twice == cached || twice == cached.saturating_add(used.reasoning)) {
        used.input = used.input.saturating_sub(cached);
    }
    if twice > 0 && (twice == used.reasoning || twice == cached.saturating_add(used.reasoning)) {
        used.output = used.output.saturating_sub(used.reasoning);
    }
    Some(used)
}

/// Gemini CLI: one turn. What came from a cache is in the input and not told apart, and tokens of
/// thoughts are not told.
fn gemini(counts: &Value) -> Option<TokenUsage> {
    Some(TokenUsage {
        input: counts["input_tokens"].as_u64()?,
        output: counts["output_tokens"].as_u64()?,
        ..TokenUsage::default()
    })
}

/// The adapter of Codex, where the standard words are left out.
fn codex(counts: &Value) -> Option<TokenUsage> {
    let count = |field: &str| counts[field].as_u64();
    let reasoning = count("reasoningOutputTokens").unwrap_or_default();
    Some(TokenUsage {
        input: count("inputTokens")?,
        output: count("outputTokens")?.saturating_sub(reasoning),
        cache_read: count("cachedInputTokens").unwrap_or_default(),
        cache_write: 0,
        reasoning,
    })
}

/// Returns what was used since `before`; `None` if `total` is no sum of it and more.
fn since(total: TokenUsage, before: TokenUsage) -> Option<TokenUsage> {
    Some(TokenUsage {
        input: total.input.checked_sub(before.input)?,
        output: total.output.checked_sub(before.output)?,
        cache_read: total.cache_read.checked_sub(before.cache_read)?,
        cache_write: total.cache_write.checked_sub(before.cache_write)?,
        reasoning: total.reasoning.checked_sub(before.reasoning)?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn each_dialect_is_understood_and_silence_is_not_zero() {
        let tokens = |input, output, cache_read, reasoning| TokenUsage {
            input,
            output,
            cache_read,
            reasoning,
            ..TokenUsage::default()
        };
        for (answer, expected) in [
            (json!({"stopReason": "end_turn"}), None),
            (json!({"_meta": {"quota": {"token_count": {}}}}), None),
            (
                json!({"_meta": {"quota": {"token_count": {"input_tokens": 0, "output_tokens": 0}}}}),
                None,
            ),
            (
                json!({"_meta": {"quota": {"token_count":
                    {"input_tokens": 3500, "output_tokens": 170}, "model_usage": []}}}),
                Some(tokens(3500, 170, 0, 0)),
            ),
            (
                json!({"_meta": {"quota": {"token_count": {"totalTokens": 130, "inputTokens": 20,
                    "cachedInputTokens": 80, "outputTokens": 30, "reasoningOutputTokens": 10}}}}),
                Some(tokens(20, 20, 80, 10)),
            ),
            (
                json!({"usage": {"totalTokens": 9, "inputTokens": 4, "cachedReadTokens": 2,
                    "outputTokens": 2, "thoughtTokens": 1}}),
                Some(tokens(4, 2, 2, 1)),
            ),
            // What overlaps is counted once.
            (
                json!({"usage": {"totalTokens": 130, "inputTokens": 100, "cachedReadTokens": 80,
                    "outputTokens": 30, "thoughtTokens": 10}}),
                Some(tokens(20, 20, 80, 10)),
            ),
            (
                json!({"usage": {"totalTokens": 140, "inputTokens": 100, "cachedReadTokens": 80,
                    "outputTokens": 30, "thoughtTokens": 10}}),
                Some(tokens(20, 30, 80, 10)),
            ),
            (
                json!({"usage": {"totalTokens": 130, "inputTokens": 20, "cachedReadTokens": 80,
                    "outputTokens": 30, "thoughtTokens": 10}}),
                Some(tokens(20, 20, 80, 10)),
            ),
            // A total that fits nothing, or none, changes nothing.
            (
                json!({"usage": {"totalTokens": 5, "inputTokens": 4, "cachedReadTokens": 2,
                    "outputTokens": 2, "thoughtTokens": 1}}),
                Some(tokens(4, 2, 2, 1)),
            ),
            (
                json!({"usage": {"inputTokens": 4, "cachedReadTokens": 2, "outputTokens": 2}}),
                Some(tokens(4, 2, 2, 0)),
            ),
        ] {
            assert_eq!(Spending::new().of_turn(&answer), expected, "{answer}");
        }
    }

    fn told(tokens: u64) -> Value {
        json!({"usage": {"inputTokens": tokens, "outputTokens": 1}})
    }

    #[test]
    fn adapters_that_count_by_turn_are_understood() {
        let answer = |tokens: u64| {
            let mut answer = told(tokens);
            answer["_meta"]["quota"]["token_count"] = json!({"inputTokens": tokens});
            answer
        };
        let mut spending = Spending::new();

        let turns = [1000, 500, 1200].map(|tokens| spending.of_turn(&answer(tokens)));

        let input = |turn: &Option<TokenUsage>| turn.map(|used| used.input);
        assert_eq!(
            turns.each_ref().map(input),
            [Some(1000), Some(500), Some(1200)]
        );
    }

    #[test]
    fn what_becomes_less_was_no_sum() {
        let mut spending = Spending::new();

        let turns = [1000, 500, 700].map(|tokens| spending.of_turn(&told(tokens)));

        let input = |turn: &Option<TokenUsage>| turn.map(|used| used.input);
        assert_eq!(
            turns.each_ref().map(input),
            [Some(1000), Some(500), Some(700)]
        );
    }

    #[test]
    fn of_a_conversation_that_goes_on_the_first_sum_is_not_what_a_turn_used() {
        let mut spending = Spending::SinceLongAgo;

        assert_eq!(spending.of_turn(&told(9000)), None);
        assert_eq!(
            spending.of_turn(&told(9500)).map(|used| used.input),
            Some(500)
        );
    }

    proptest! {
        #[test]
        fn sums_become_turns_that_add_up(turns in proptest::collection::vec(0_u64..1000, 1..9)) {
            let (mut spending, mut sum, mut told) = (Spending::new(), 0, 0);
            for turn in &turns {
                sum += turn;
                let answer = json!({"usage": {"inputTokens": sum, "outputTokens": 0}});
                told += spending.of_turn(&answer).unwrap_or_default().input;
            }
            prop_assert_eq!(told, sum);
        }
    }
}
