//! What a model answers.

use autonoe_core::TokenUsage;

use super::{AssistantMessage, StopReason};

/// What a model answers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelReply {
    /// What it says, thinks and calls.
    pub message: AssistantMessage,
    /// Why it stopped.
    pub stop: StopReason,
    /// The tokens that the call used.
    pub usage: TokenUsage,
    /// The model that answered, when the provider tells it.
    pub model: Option<String>,
    /// The provider's name of the answer.
    pub id: Option<String>,
}

impl ModelReply {
    /// Makes an answer that stopped by itself and cost nothing; the rest is set by `with_*`.
    pub fn new(message: AssistantMessage) -> Self {
        let stop = match message.calls().next() {
            Some(_) => StopReason::ToolUse,
            None => StopReason::EndTurn,
        };
        Self {
            message,
            stop,
            usage: TokenUsage::default(),
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

    /// Sets the tokens that the call used.
    #[must_use]
    pub fn with_usage(mut self, usage: TokenUsage) -> Self {
        self.usage = usage;
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
