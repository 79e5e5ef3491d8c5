//! [`TokenUsage`], the tokens that a model used.

use std::ops::{Add, AddAssign};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tokens that a model used. The five counts do not overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TokenUsage {
    /// Prompt tokens that were neither read from nor written to a cache.
    pub input: u64,
    /// Generated tokens other than reasoning.
    pub output: u64,
    /// Prompt tokens read from a cache.
    pub cache_read: u64,
    /// Prompt tokens written to a cache.
    pub cache_write: u64,
    /// Generated tokens of hidden reasoning, if the provider reports them separately.
    pub reasoning: u64,
}

impl TokenUsage {
    /// Returns the tokens of the prompt, including cached ones.
    pub fn prompt(&self) -> u64 {
        self.input
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
    }

    /// Returns the generated tokens, including reasoning.
    pub fn completion(&self) -> u64 {
        self.output.saturating_add(self.reasoning)
    }

    /// Returns all tokens.
    pub fn total(&self) -> u64 {
        self.prompt().saturating_add(self.completion())
    }
}

impl Add for TokenUsage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            reasoning: self.reasoning.saturating_add(other.reasoning),
        }
    }
}

impl AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: framework/models/token-usage-prompt-completion-total
    // Shows: framework/models/usage-names
    #[test]
    fn prompt_completion_and_total_count_each_token_once() {
        let usage = TokenUsage {
            input: 1,
            output: 20,
            cache_read: 300,
            cache_write: 4000,
            reasoning: 50_000,
        };

        assert_eq!(usage.prompt(), 4301);
        assert_eq!(usage.completion(), 50_020);
        assert_eq!(usage.total(), 54_321);
    }
}
