//! Why a message ends and what it used.

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
    /// Returns the word of the Messages API.
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
/// What is read from a cache or written to it comes on top of the input. Vendors that count
/// it as a part of their input are told the sum.
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
    /// Uses tokens without any cache.
    pub const fn new(input: u64, output: u64) -> Self {
        Self {
            input,
            output,
            cache_creation: 0,
            cache_read: 0,
            reasoning: 0,
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

    /// Thinks with so many tokens of the output.
    #[must_use]
    pub const fn with_reasoning(mut self, tokens: u64) -> Self {
        self.reasoning = tokens;
        self
    }

    /// Returns the tokens of the input, those of a cache among them.
    pub(super) const fn whole_input(self) -> u64 {
        self.input + self.cache_creation + self.cache_read
    }
}

/// A hundred tokens in, twenty out.
impl Default for Usage {
    fn default() -> Self {
        Self::new(100, 20)
    }
}
