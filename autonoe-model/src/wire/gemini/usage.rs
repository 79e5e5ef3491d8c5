//! The tokens that an answer used.

use autonoe_core::TokenUsage;
use serde_json::Value;

/// The counts of the API as they stand. Each report counts from the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    prompt: u64,
    tool_use_prompt: u64,
    cached: u64,
    candidates: u64,
    thoughts: u64,
}

impl Usage {
    /// Takes a report.
    pub(super) fn update(&mut self, report: &Value) {
        for (count, told) in [
            (&mut self.prompt, &report["promptTokenCount"]),
            (
                &mut self.tool_use_prompt,
                &report["toolUsePromptTokenCount"],
            ),
            (&mut self.cached, &report["cachedContentTokenCount"]),
            (&mut self.candidates, &report["candidatesTokenCount"]),
            (&mut self.thoughts, &report["thoughtsTokenCount"]),
        ] {
            *count = told.as_u64().unwrap_or(*count);
        }
    }

    /// Returns counts that do not overlap: what is cached is a part of the prompt of the API.
    pub(super) fn tokens(self) -> TokenUsage {
        let cache_read = self.cached.min(self.prompt);
        TokenUsage {
            input: (self.prompt - cache_read).saturating_add(self.tool_use_prompt),
            output: self.candidates,
            cache_read,
            cache_write: 0,
            reasoning: self.thoughts,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_overlaps_in_the_api_is_counted_once() {
        let mut usage = Usage::default();
        usage.update(&json!({"promptTokenCount": 100, "totalTokenCount": 100}));
        usage.update(&json!({
            "promptTokenCount": 100, "cachedContentTokenCount": 20, "candidatesTokenCount": 10,
            "thoughtsTokenCount": 3, "toolUsePromptTokenCount": 7, "totalTokenCount": 120,
        }));

        let expected = TokenUsage {
            input: 87,
            output: 10,
            cache_read: 20,
            cache_write: 0,
            reasoning: 3,
        };
        assert_eq!(usage.tokens(), expected);
        assert_eq!(usage.tokens().total(), 120);
    }

    #[test]
    fn nonsense_counts_for_nothing() {
        let mut usage = Usage::default();
        usage.update(&json!({"promptTokenCount": -1, "cachedContentTokenCount": 9}));
        usage.update(&Value::Null);

        assert_eq!(usage.tokens(), TokenUsage::default());
    }
}
