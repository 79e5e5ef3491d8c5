//! What a model answers.

use std::fmt;
use std::time::Duration;

use autonoe_core::TokenUsage;
use futures::stream::BoxStream;

use super::{AssistantMessage, CallUsage, ModelError};

/// What a model answers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelReply {
    /// What it says, thinks and calls.
    pub message: AssistantMessage,
    /// Why it stopped.
    pub stop: StopReason,
    /// What the call used, as far as the provider told.
    pub usage: CallUsage,
    /// The model that answered, when the provider tells it.
    pub model: Option<String>,
    /// The provider's name of the answer.
    pub id: Option<String>,
}

impl ModelReply {
    /// Makes an answer that stopped by itself, and of which nobody told what it used; the rest is
    /// set by `with_*`.
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

    /// Sets why the model stopped.
    #[must_use]
    pub fn with_stop(mut self, stop: StopReason) -> Self {
        self.stop = stop;
        self
    }

    /// Sets what the call used: tokens are all of them.
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

    /// Sets the provider's name of the answer.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Option<String>>) -> Self {
        self.id = id.into();
        self
    }
}

/// An answer as it comes: it ends with one [`ModelEvent::Done`] or one error.
pub type ModelStream = BoxStream<'static, Result<ModelEvent, ModelError>>;

/// A part of an answer, or the whole of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ModelEvent {
    /// The model says more.
    Text(String),
    /// The model thinks more, where it shows that.
    Thinking(String),
    /// The model begins to call a tool. The call itself is in the [`Done`](Self::Done).
    ToolCall {
        /// The call.
        id: String,
        /// The tool.
        name: String,
    },
    /// The provider lives, and tells nothing else.
    Alive,
    /// What the call has used so far, where the provider tells it early. It is a part of what the
    /// [`Done`](Self::Done) says, and counts if none comes.
    Used(TokenUsage),
    /// The call failed and is made again: what came so far counts for nothing. What it used is
    /// in the error and counts.
    Retrying {
        /// Why it failed.
        error: ModelError,
        /// Which try comes now; the first was 1.
        attempt: u32,
        /// After which wait.
        delay: Duration,
    },
    /// The whole answer.
    Done(Box<ModelReply>),
}

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
