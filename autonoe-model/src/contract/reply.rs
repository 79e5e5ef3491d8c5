//! What a model answers.

use super::{AssistantMessage, CallUsage, StopReason};

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
