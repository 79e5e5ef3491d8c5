//! [`UsageTracker`], the token usage of the turns of a session.

use autonoe_core::agent::TokenUsage;
use serde_json::Value;

/// Tracks the token usage of a session. Some agents report the usage of each turn, others the sum
/// of all turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsageTracker {
    /// The earlier usage is known, so a sum determines the usage of a turn.
    Since(TokenUsage),
    /// The amount of earlier usage is unknown.
    UnknownStart,
    /// Reports are per turn, because the reported usage has decreased.
    PerTurn,
}

impl UsageTracker {
    /// Creates the usage of a new session.
    pub(crate) fn new() -> Self {
        Self::Since(TokenUsage::default())
    }

    /// Returns the usage of the turn that `answer` ended; `None` if it is unknown.
    pub(crate) fn turn_usage(&mut self, answer: &Value) -> Option<TokenUsage> {
        let counts = &answer["_meta"]["quota"]["token_count"];
        let used = match standard(&answer["usage"]) {
            // By the protocol it is a sum. Adapters that also send such counts mean the turn by
            // both.
            Some(reported) if counts.is_object() => Some(reported),
            Some(reported) => self.turn_of_sum(reported),
            None => gemini(counts).or_else(|| codex(counts)),
        };
        // No turn uses zero tokens: agents report zero if they do not know.
        used.filter(|used| *used != TokenUsage::default())
    }

    fn turn_of_sum(&mut self, reported: TokenUsage) -> Option<TokenUsage> {
        match *self {
            Self::PerTurn => Some(reported),
            Self::UnknownStart => {
                *self = Self::Since(reported);
                None
            }
            Self::Since(before) => {
                let turn = since(reported, before);
                *self = match turn {
                    Some(_) => Self::Since(reported),
                    None => Self::PerTurn,
                };
                turn.or(Some(reported))
            }
        }
    }
}

/// Parses the usage in the protocol's own fields, a draft: sums over the session.
///
/// The protocol does not define whether cached tokens are part of the input, or thinking tokens of
/// the output. The total resolves that: it is the sum of the counts that do not overlap.
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

/// Parses the usage of one turn of Gemini CLI. Cached tokens are part of the input and not reported
/// separately. Tokens of thoughts are not reported.
fn gemini(counts: &Value) -> Option<TokenUsage> {
    Some(TokenUsage {
        input: counts["input_tokens"].as_u64()?,
        output: counts["output_tokens"].as_u64()?,
        ..TokenUsage::default()
    })
}

/// Parses the usage of the Codex adapter, if the standard fields are missing.
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

/// Returns the usage since `before`; `None` if `total` is not a sum that includes it.
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
            // Overlapping counts are counted once.
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
            // A total that matches no overlap, or a missing one, changes nothing.
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
            assert_eq!(
                UsageTracker::new().turn_usage(&answer),
                expected,
                "{answer}"
            );
        }
    }

    fn reported(tokens: u64) -> Value {
        json!({"usage": {"inputTokens": tokens, "outputTokens": 1}})
    }

    #[test]
    fn adapters_that_count_by_turn_are_understood() {
        let answer = |tokens: u64| {
            let mut answer = reported(tokens);
            answer["_meta"]["quota"]["token_count"] = json!({"inputTokens": tokens});
            answer
        };
        let mut usage_tracker = UsageTracker::new();

        let turns = [1000, 500, 1200].map(|tokens| usage_tracker.turn_usage(&answer(tokens)));

        let input = |turn: &Option<TokenUsage>| turn.map(|used| used.input);
        assert_eq!(
            turns.each_ref().map(input),
            [Some(1000), Some(500), Some(1200)]
        );
    }

    #[test]
    fn a_decreased_count_is_per_turn() {
        let mut usage_tracker = UsageTracker::new();

        let turns = [1000, 500, 700].map(|tokens| usage_tracker.turn_usage(&reported(tokens)));

        let input = |turn: &Option<TokenUsage>| turn.map(|used| used.input);
        assert_eq!(
            turns.each_ref().map(input),
            [Some(1000), Some(500), Some(700)]
        );
    }

    #[test]
    fn the_first_sum_of_a_resumed_conversation_is_not_the_usage_of_a_turn() {
        let mut usage_tracker = UsageTracker::UnknownStart;

        assert_eq!(usage_tracker.turn_usage(&reported(9000)), None);
        assert_eq!(
            usage_tracker
                .turn_usage(&reported(9500))
                .map(|used| used.input),
            Some(500)
        );
    }

    proptest! {
        #[test]
        fn sums_become_turns_that_add_up(turns in proptest::collection::vec(0_u64..1000, 1..9)) {
            let (mut usage_tracker, mut sum, mut reported) = (UsageTracker::new(), 0, 0);
            for turn in &turns {
                sum += turn;
                let answer = json!({"usage": {"inputTokens": sum, "outputTokens": 0}});
                reported += usage_tracker.turn_usage(&answer).unwrap_or_default().input;
            }
            prop_assert_eq!(reported, sum);
        }
    }
}
