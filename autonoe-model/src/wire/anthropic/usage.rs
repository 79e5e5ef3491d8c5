//! The tokens that a message used.

use autonoe_core::TokenUsage;
use serde_json::Value;

/// The counts of the API as they stand. Each report counts from the beginning of the message,
/// and may leave out what has not changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    input: u64,
    cache_creation: u64,
    cache_read: u64,
    output: u64,
    thinking: u64,
}

impl Usage {
    /// Takes a report.
    pub(super) fn update(&mut self, report: &Value) {
        let thinking = &report["output_tokens_details"]["thinking_tokens"];
        for (count, told) in [
            (&mut self.input, &report["input_tokens"]),
            (
                &mut self.cache_creation,
                &report["cache_creation_input_tokens"],
            ),
            (&mut self.cache_read, &report["cache_read_input_tokens"]),
            (&mut self.output, &report["output_tokens"]),
            (&mut self.thinking, thinking),
        ] {
            *count = told.as_u64().unwrap_or(*count);
        }
    }

    /// Returns counts that do not overlap: thinking is a part of the output of the API.
    pub(super) fn tokens(self) -> TokenUsage {
        let reasoning = self.thinking.min(self.output);
        TokenUsage {
            input: self.input,
            output: self.output - reasoning,
            cache_read: self.cache_read,
            cache_write: self.cache_creation,
            reasoning,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reports_replace_and_do_not_add() {
        let mut usage = Usage::default();
        usage.update(&json!({
            "input_tokens": 10, "cache_creation_input_tokens": 20,
            "cache_read_input_tokens": 30, "output_tokens": 1,
        }));
        usage.update(&json!({"output_tokens": 50, "cache_read_input_tokens": null}));
        usage.update(&json!({
            "output_tokens": 90, "output_tokens_details": {"thinking_tokens": 60},
        }));

        let expected = TokenUsage {
            input: 10,
            output: 30,
            cache_read: 30,
            cache_write: 20,
            reasoning: 60,
        };
        assert_eq!(usage.tokens(), expected);
        assert_eq!(usage.tokens().total(), 150);
    }

    #[test]
    fn nonsense_counts_for_nothing() {
        let mut usage = Usage::default();
        usage.update(&json!({"input_tokens": -1, "output_tokens": "many"}));
        usage.update(&Value::Null);
        usage.update(&json!({"output_tokens_details": {"thinking_tokens": 5}}));

        assert_eq!(usage.tokens(), TokenUsage::default());
    }
}
