//! Why a model stopped.

use std::fmt;

/// Why a model stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// It has said all that it wants to say.
    #[default]
    EndTurn,
    /// It waits for the results of its calls.
    ToolUse,
    /// The answer is as long as it may be.
    MaxTokens,
    /// What it read and wrote fills its memory.
    ContextFull,
    /// It refuses to answer, or its answer was withheld.
    Refused,
    /// It paused a long turn: send the conversation again, and it goes on.
    Paused,
    /// Its provider stopped it and kept what it wrote, or could not read it: a call that was
    /// malformed, for example. In the provider's words.
    Failed(String),
    /// Something else, in the provider's words.
    Other(String),
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::ContextFull => "context_full",
            Self::Refused => "refused",
            Self::Paused => "paused",
            Self::Failed(words) | Self::Other(words) => words,
        })
    }
}
