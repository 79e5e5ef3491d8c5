//! [`ModelReply`] and [`ModelEvent`]: answer of a model, complete and streamed, with its [`CallUsage`].

use std::fmt;
use std::ops::{Add, AddAssign};
use std::time::Duration;

use autonoe_core::agent::TokenUsage;
use futures::stream::BoxStream;

use super::error::ModelError;
use super::message::AssistantMessage;

/// Complete answer of a model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelReply {
    /// Text, thinking and calls.
    pub message: AssistantMessage,
    /// Reason that the model stopped.
    pub stop: StopReason,
    /// Usage of the call, as reported by the provider.
    pub usage: CallUsage,
    /// Model that answered, if the provider reports it.
    pub model: Option<String>,
    /// Provider's ID of the answer.
    pub id: Option<String>,
}

impl ModelReply {
    /// Creates an answer that ended normally, with unknown usage. The remaining fields are set by
    /// `with_*`.
    pub fn new(message: AssistantMessage) -> Self {
        let stop = match message.calls().next() {
            Some(_) => StopReason::ToolUse,
            None => StopReason::EndTurn,
        };
        Self {
            message,
            stop,
            usage: CallUsage::UNKNOWN,
            model: None,
            id: None,
        }
    }

    /// Sets the reason that the model stopped.
    #[must_use]
    pub fn with_stop(mut self, stop: StopReason) -> Self {
        self.stop = stop;
        self
    }

    /// Sets the usage of the call. A plain [`TokenUsage`] counts as complete.
    #[must_use]
    pub fn with_usage(mut self, usage: impl Into<CallUsage>) -> Self {
        self.usage = usage.into();
        self
    }

    /// Sets the model that answered.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<Option<String>>) -> Self {
        self.model = model.into();
        self
    }

    /// Sets the provider's ID of the answer.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Option<String>>) -> Self {
        self.id = id.into();
        self
    }
}

/// Streamed answer. It ends with one [`ModelEvent::Done`] or one error.
pub type ModelStream = BoxStream<'static, Result<ModelEvent, ModelError>>;

/// Part of a streamed answer, or the complete answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ModelEvent {
    /// Piece of text.
    Text(String),
    /// Piece of thinking, if the provider streams it.
    Thinking(String),
    /// Start of a tool call. The complete call is in [`Done`](Self::Done).
    ToolCall {
        /// ID of the call.
        id: String,
        /// Name of the tool.
        name: String,
    },
    /// Sign of activity without content.
    Heartbeat,
    /// Usage so far, if the provider reports it early. Included in the usage of
    /// [`Done`](Self::Done), and counts if the answer ends without one.
    Usage(TokenUsage),
    /// The call failed and is retried: discard the parts so far. The usage in the error still
    /// counts.
    Retrying {
        /// Reason of the failure.
        error: ModelError,
        /// Number of the next attempt; the first was 1.
        attempt: u32,
        /// Delay before the next attempt.
        delay: Duration,
    },
    /// Complete answer.
    Done(Box<ModelReply>),
}

/// Reason that a model stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// The model finished its answer.
    #[default]
    EndTurn,
    /// The model waits for the results of its calls.
    ToolUse,
    /// The answer reached its maximum length.
    MaxTokens,
    /// The conversation and the answer fill the model's context.
    ContextFull,
    /// The model refused to answer, or the provider withheld the answer.
    Refused,
    /// The provider paused a long turn: send the conversation again to continue.
    Paused,
    /// The provider stopped the model and discarded or could not parse its output, for example a
    /// malformed call. In the provider's words.
    Failed(String),
    /// Another reason, in the provider's words.
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

/// Tracks the known usage of a call in progress.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meter {
    has_started: bool,
    known: TokenUsage,
}

impl Meter {
    /// Processes an event of an answer.
    pub(crate) fn on_event(&mut self, event: &ModelEvent) {
        self.has_started = true;
        if let ModelEvent::Usage(tokens) = event {
            self.known = *tokens;
        }
    }

    /// Returns the usage of an interrupted answer.
    pub(crate) fn interrupted(&self) -> CallUsage {
        CallUsage::AtLeast(self.known)
    }

    /// Returns the usage of a failed attempt. An attempt that had started has used something,
    /// whatever the error says.
    pub(crate) fn failed(&self, error: &ModelError) -> CallUsage {
        match error.usage {
            reported if !self.has_started => reported,
            CallUsage::NOTHING => self.interrupted(),
            CallUsage::AtLeast(reported) if reported.total() < self.known.total() => {
                self.interrupted()
            }
            reported => reported,
        }
    }
}

/// Token usage of a call, as reported by its provider.
///
/// Providers without counts and incomplete answers leave a part of the usage unreported. Unreported
/// usage is unknown and never zero.
///
/// ```
/// use autonoe_core::agent::TokenUsage;
/// use autonoe_model::contract::{AssistantMessage, CallUsage};
/// use autonoe_model::ModelReply;
///
/// let reply = ModelReply::new(AssistantMessage::text("Yes."));
/// assert_eq!(reply.usage, CallUsage::UNKNOWN);
///
/// let tokens = TokenUsage { input: 7, output: 2, ..TokenUsage::default() };
/// let reply = reply.with_usage(tokens);
/// assert_eq!(reply.usage.complete(), Some(tokens));
/// assert_eq!((reply.usage + CallUsage::UNKNOWN).complete(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallUsage {
    /// Complete usage.
    Complete(TokenUsage),
    /// Lower bound; the rest is unknown.
    AtLeast(TokenUsage),
}

const NO_TOKENS: TokenUsage = TokenUsage {
    input: 0,
    output: 0,
    cache_read: 0,
    cache_write: 0,
    reasoning: 0,
};

impl CallUsage {
    /// The call used nothing, because no model has started.
    pub const NOTHING: Self = Self::Complete(NO_TOKENS);

    /// The usage of the call is unknown.
    pub const UNKNOWN: Self = Self::AtLeast(NO_TOKENS);

    /// Returns the known tokens, which may be a part of the usage.
    pub fn known(&self) -> TokenUsage {
        match self {
            Self::Complete(tokens) | Self::AtLeast(tokens) => *tokens,
        }
    }

    /// Returns the complete usage, or `None` if a part of it is unknown.
    pub fn complete(&self) -> Option<TokenUsage> {
        match self {
            Self::Complete(tokens) => Some(*tokens),
            Self::AtLeast(_) => None,
        }
    }
}

impl Default for CallUsage {
    /// Unknown usage.
    fn default() -> Self {
        Self::UNKNOWN
    }
}

impl From<TokenUsage> for CallUsage {
    fn from(tokens: TokenUsage) -> Self {
        Self::Complete(tokens)
    }
}

impl Add for CallUsage {
    type Output = Self;

    /// Adds the usage of two calls. If a part is unknown, the sum is a lower bound.
    fn add(self, other: Self) -> Self {
        let known = self.known() + other.known();
        match (self, other) {
            (Self::Complete(_), Self::Complete(_)) => Self::Complete(known),
            _ => Self::AtLeast(known),
        }
    }
}

impl AddAssign for CallUsage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ModelErrorCode;

    fn tokens(input: u64) -> TokenUsage {
        TokenUsage {
            input,
            ..TokenUsage::default()
        }
    }

    #[test]
    fn a_started_attempt_never_has_zero_usage() {
        let text = ModelEvent::Text("x".into());
        let used = ModelEvent::Usage(tokens(9));
        let limited = || ModelError::new(ModelErrorCode::RateLimited, "busy");
        let cut = || ModelError::new(ModelErrorCode::NetworkError, "cut");
        for (events, error, expected) in [
            (vec![], limited(), CallUsage::NOTHING),
            (vec![], cut(), CallUsage::UNKNOWN),
            (vec![&text], limited(), CallUsage::UNKNOWN),
            (vec![&used], limited(), CallUsage::AtLeast(tokens(9))),
            (vec![&used], cut(), CallUsage::AtLeast(tokens(9))),
            (
                vec![&used],
                cut().with_usage(tokens(11)),
                CallUsage::AtLeast(tokens(11)),
            ),
        ] {
            let mut meter = Meter::default();
            for event in &events {
                meter.on_event(event);
            }
            assert_eq!(meter.failed(&error), expected, "{events:?} {error:?}");
        }
    }

    #[test]
    fn sum_with_incomplete_part_is_incomplete() {
        let (complete, least) = (
            CallUsage::Complete(tokens(3)),
            CallUsage::AtLeast(tokens(4)),
        );
        for (one, other, sum) in [
            (complete, complete, CallUsage::Complete(tokens(6))),
            (complete, least, CallUsage::AtLeast(tokens(7))),
            (least, complete, CallUsage::AtLeast(tokens(7))),
            (least, least, CallUsage::AtLeast(tokens(8))),
            (complete, CallUsage::NOTHING, complete),
            (complete, CallUsage::UNKNOWN, CallUsage::AtLeast(tokens(3))),
        ] {
            assert_eq!(one + other, sum, "{one:?} {other:?}");
        }
    }
}
