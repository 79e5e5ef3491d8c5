//! Decoding shared by both protocols of OpenAI.

use autonoe_core::agent::TokenUsage;
use serde_json::Value;

use crate::wire::ServerEvent;

/// Content of a streamed event.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::wire) enum Frame {
    /// No content: a keep-alive message.
    Nothing,
    /// End of the stream.
    Done,
    /// A JSON object.
    Object(Value),
    /// Invalid content.
    Invalid,
}

impl Frame {
    /// Parses `event`.
    pub(in crate::wire) fn read(event: &ServerEvent) -> Self {
        match event.data.trim() {
            "" => Self::Nothing,
            "[DONE]" => Self::Done,
            data => match serde_json::from_str(data) {
                Ok(value @ Value::Object(_)) => Self::Object(value),
                _ => Self::Invalid,
            },
        }
    }
}

/// Token counts of these protocols: the prompt includes cached tokens, and the completion includes
/// reasoning tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::wire) struct Counts {
    pub(in crate::wire) prompt: u64,
    pub(in crate::wire) cache_read: u64,
    pub(in crate::wire) cache_write: u64,
    pub(in crate::wire) completion: u64,
    pub(in crate::wire) reasoning: u64,
    pub(in crate::wire) total: Option<u64>,
}

impl Counts {
    /// Reads the counts of `usage`. The protocols only differ in the names of `prompt` and
    /// `completion`. `None` if all counts are zero: every call uses tokens, but some services do
    /// not count them.
    pub(in crate::wire) fn read(usage: &Value, prompt: &str, completion: &str) -> Option<Self> {
        let count = |value: &Value| value.as_u64().unwrap_or(0);
        let prompt_details = &usage[format!("{prompt}_details")];
        let completion_details = &usage[format!("{completion}_details")];
        let counts = Self {
            prompt: count(&usage[prompt]),
            cache_read: count(&prompt_details["cached_tokens"]),
            cache_write: count(&prompt_details["cache_write_tokens"]),
            completion: count(&usage[completion]),
            reasoning: count(&completion_details["reasoning_tokens"]),
            total: usage["total_tokens"].as_u64(),
        };
        (counts.prompt > 0 || counts.completion > 0).then_some(counts)
    }

    /// Returns disjoint counts with the same sum.
    pub(in crate::wire) fn usage(self) -> TokenUsage {
        let cache_read = self.cache_read.min(self.prompt);
        let cache_write = self.cache_write.min(self.prompt - cache_read);
        TokenUsage {
            input: self.prompt - cache_read - cache_write,
            cache_read,
            cache_write,
            reasoning: self.reasoning,
            output: if self.counts_reasoning_apart() {
                self.completion
            } else {
                self.completion - self.reasoning
            },
        }
    }

    /// Returns whether reasoning is not included in the completion, as with some compatible
    /// services. The total reveals this.
    fn counts_reasoning_apart(self) -> bool {
        let with_both = self
            .prompt
            .saturating_add(self.completion)
            .saturating_add(self.reasoning);
        self.reasoning > self.completion || (self.reasoning > 0 && self.total == Some(with_both))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_has_an_object_an_end_marker_or_no_data() {
        let table = [
            ("", Frame::Nothing),
            ("  ", Frame::Nothing),
            ("[DONE]", Frame::Done),
            (r#"{"a": 1}"#, Frame::Object(json!({"a": 1}))),
            ("[1]", Frame::Invalid),
            ("null", Frame::Invalid),
            ("<html>", Frame::Invalid),
            (r#"{"a": "#, Frame::Invalid),
        ];

        for (data, expected) in table {
            let event = ServerEvent {
                name: String::new(),
                data: data.into(),
            };
            assert_eq!(Frame::read(&event), expected, "{data}");
        }
    }

    // Shows: framework/models/usage-of-providers
    #[test]
    fn cached_and_reasoning_tokens_are_counted_once() {
        let usage = json!({
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 5},
            "output_tokens": 10,
            "output_tokens_details": {"reasoning_tokens": 3},
            "total_tokens": 110,
        });

        let counts = Counts::read(&usage, "input_tokens", "output_tokens").expect("counts");

        assert_eq!(
            counts.usage(),
            TokenUsage {
                input: 75,
                cache_read: 20,
                cache_write: 5,
                output: 7,
                reasoning: 3,
            }
        );
    }

    #[test]
    fn reasoning_that_the_total_counts_apart_is_apart() {
        let usage = json!({
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "completion_tokens_details": {"reasoning_tokens": 4},
            "total_tokens": 19,
        });

        let counts = Counts::read(&usage, "prompt_tokens", "completion_tokens").expect("counts");

        assert_eq!((counts.usage().output, counts.usage().reasoning), (5, 4));
    }

    #[test]
    fn usage_without_counts_is_ignored() {
        let odd = json!({"a": -1, "b": "x", "a_details": 3});
        let zero = json!({"a": 0, "b": 0, "total_tokens": 0});
        for usage in [json!(null), json!(1), json!("x"), json!({}), odd, zero] {
            assert_eq!(Counts::read(&usage, "a", "b"), None, "{usage}");
        }
    }

    proptest! {
        #[test]
        fn the_parts_of_a_prompt_are_the_prompt(
            prompt: u64, cache_read: u64, cache_write: u64, completion: u64, reasoning: u64,
            total: Option<u64>,
        ) {
            let counts =
                Counts { prompt, cache_read, cache_write, completion, reasoning, total };

            let usage = counts.usage();

            prop_assert_eq!(usage.prompt(), prompt);
            prop_assert!(usage.completion() >= completion);
        }
    }
}
