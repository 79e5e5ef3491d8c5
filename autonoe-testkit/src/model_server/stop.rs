//! Stop reasons and token usage of messages.

/// The reason why the model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageStopReason {
    /// The answer is complete: `end_turn`.
    EndTurn,
    /// The model waits for the results of tools: `tool_use`.
    ToolUse,
    /// The answer reached the limit of the request: `max_tokens`.
    MaxTokens,
    /// The answer reached a stop sequence of the request: `stop_sequence`.
    StopSequence,
    /// The model wants to continue in another request: `pause_turn`.
    PauseTurn,
    /// The model refuses to answer: `refusal`.
    Refusal,
    /// Any other reason.
    Other(String),
}

impl MessageStopReason {
    /// Returns the value in the Messages API.
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

/// The token usage of a message, from which costs are computed.
///
/// Tokens read from or written to a cache are not included in the input. Vendors that include them
/// in their input report the sum.
///
/// ```
/// use autonoe_testkit::model_server::Usage;
///
/// let usage = Usage::new(1_200, 80)
///     .with_cache_read(40_000)
///     .with_cache_creation(500)
///     .with_reasoning(30);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cache_creation: u64,
    pub(super) cache_read: u64,
    pub(super) reasoning: u64,
}

impl Usage {
    /// Creates a usage without a cache.
    pub const fn new(input: u64, output: u64) -> Self {
        Self {
            input,
            output,
            cache_creation: 0,
            cache_read: 0,
            reasoning: 0,
        }
    }

    /// Adds tokens written to the cache.
    #[must_use]
    pub const fn with_cache_creation(mut self, tokens: u64) -> Self {
        self.cache_creation = tokens;
        self
    }

    /// Adds tokens read from the cache.
    #[must_use]
    pub const fn with_cache_read(mut self, tokens: u64) -> Self {
        self.cache_read = tokens;
        self
    }

    /// Sets how many of the output tokens are reasoning.
    #[must_use]
    pub const fn with_reasoning(mut self, tokens: u64) -> Self {
        self.reasoning = tokens;
        self
    }

    /// Returns the input tokens, including those of the cache.
    pub(super) const fn whole_input(self) -> u64 {
        self.input + self.cache_creation + self.cache_read
    }
}

/// A hundred input tokens, twenty output tokens.
impl Default for Usage {
    fn default() -> Self {
        Self::new(100, 20)
    }
}
