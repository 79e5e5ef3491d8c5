//! Why a message ends and what it used.

use serde_json::{Value, json};

/// Why the model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// It has said everything: `end_turn`.
    EndTurn,
    /// It waits for the results of tools: `tool_use`.
    ToolUse,
    /// It reached the limit of the request: `max_tokens`.
    MaxTokens,
    /// It came to a sequence of the request: `stop_sequence`.
    StopSequence,
    /// It asks to go on in another request: `pause_turn`.
    PauseTurn,
    /// It will not answer: `refusal`.
    Refusal,
    /// Any other word.
    Other(String),
}

impl StopReason {
    /// Returns the word of the API.
    pub fn as_str(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::StopSequence => "stop_sequence",
            Self::PauseTurn => "pause_turn",
            Self::Refusal => "refusal",
            Self::Other(word) => word,
        }
    }
}

/// How many tokens a message used. Costs are computed from it.
///
/// ```
/// use autonoe_testkit::model_server::anthropic::Usage;
///
/// let usage = Usage::new(1_200, 80).with_cache_read(40_000).with_cache_creation(500);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    input: u64,
    output: u64,
    cache_creation: u64,
    cache_read: u64,
}

impl Usage {
    /// Uses tokens without any cache.
    pub const fn new(input: u64, output: u64) -> Self {
        Self {
            input,
            output,
            cache_creation: 0,
            cache_read: 0,
        }
    }

    /// Writes so many tokens to the cache as well.
    #[must_use]
    pub const fn with_cache_creation(mut self, tokens: u64) -> Self {
        self.cache_creation = tokens;
        self
    }

    /// Reads so many tokens from the cache as well.
    #[must_use]
    pub const fn with_cache_read(mut self, tokens: u64) -> Self {
        self.cache_read = tokens;
        self
    }

    /// Returns the usage as it is told when a message begins.
    pub(super) fn at_start(self) -> Value {
        Self { output: 1, ..self }.at_end()
    }

    /// Returns the usage as it is told when a message ends.
    pub(super) fn at_end(self) -> Value {
        json!({
            "input_tokens": self.input,
            "cache_creation_input_tokens": self.cache_creation,
            "cache_read_input_tokens": self.cache_read,
            "output_tokens": self.output,
            "service_tier": "standard",
        })
    }
}

/// A hundred tokens in, twenty out.
impl Default for Usage {
    fn default() -> Self {
        Self::new(100, 20)
    }
}
