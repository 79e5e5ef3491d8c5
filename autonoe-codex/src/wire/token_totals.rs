//! [`TokenTotals`] of a conversation.

use autonoe_core::agent::TokenUsage;
use serde::Deserialize;

/// Tokens of all turns of a conversation so far, or of one model call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TokenTotals {
    /// Tokens of prompts, cached ones included.
    pub input_tokens: u64,
    /// Tokens of prompts that were read from a cache.
    pub cached_input_tokens: u64,
    /// Tokens of prompts that were written to a cache.
    pub cache_write_input_tokens: u64,
    /// Generated tokens, reasoning included.
    pub output_tokens: u64,
    /// Generated tokens of reasoning.
    pub reasoning_output_tokens: u64,
}

impl TokenTotals {
    /// Returns the difference to `before`. A decreased count is zero.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_sub(before.input_tokens),
            cached_input_tokens: self
                .cached_input_tokens
                .saturating_sub(before.cached_input_tokens),
            cache_write_input_tokens: self
                .cache_write_input_tokens
                .saturating_sub(before.cache_write_input_tokens),
            output_tokens: self.output_tokens.saturating_sub(before.output_tokens),
            reasoning_output_tokens: self
                .reasoning_output_tokens
                .saturating_sub(before.reasoning_output_tokens),
        }
    }
}

impl From<TokenTotals> for TokenUsage {
    /// Separates the overlapping counts.
    fn from(totals: TokenTotals) -> Self {
        let cached = totals.cached_input_tokens + totals.cache_write_input_tokens;
        Self {
            input: totals.input_tokens.saturating_sub(cached),
            output: totals
                .output_tokens
                .saturating_sub(totals.reasoning_output_tokens),
            cache_read: totals.cached_input_tokens,
            cache_write: totals.cache_write_input_tokens,
            reasoning: totals.reasoning_output_tokens,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn recorded_counts_overlap_and_their_parts_do_not() {
        let recorded = include_str!("../../tests/recorded/allowed.jsonl");
        let mut seen = 0;
        for line in recorded.lines() {
            let line: Value = serde_json::from_str(line).expect("JSON");
            let usage = &line["got"]["params"]["tokenUsage"]["last"];
            let Some(total) = usage["totalTokens"].as_u64() else {
                continue;
            };
            seen += 1;
            let totals: TokenTotals = serde_json::from_value(usage.clone()).expect("totals");

            let used = TokenUsage::from(totals);

            // The total of the program equals the usage, with nothing counted twice.
            assert_eq!(used.total(), total, "{usage}");
            assert_eq!(used.prompt(), totals.input_tokens, "{usage}");
            assert_eq!(used.completion(), totals.output_tokens, "{usage}");
            assert!(used.cache_read > 0 && used.reasoning > 0, "{usage}");
        }
        assert!(seen > 0, "no totals were reported");
    }
}
