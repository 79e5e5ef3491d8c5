//! [`ModelUse`], a call of a model in a script.

use std::fmt;

use autonoe_core::CostUsd;
use autonoe_core::agent::{ModelAnswer, ModelCallRequest, ModelMessages, ModelPart, TokenUsage};
use autonoe_core::event::{Events, Failure};
use serde_json::json;

/// A call of a model in a script. Observers receive it, and the agent sends the answer.
///
/// ```
/// use autonoe_core::agent::TokenUsage;
/// use autonoe_core::CostUsd;
/// use autonoe_scripted::{ModelUse, SessionScript};
///
/// let used = TokenUsage { input: 10, output: 5, ..TokenUsage::default() };
/// let script = SessionScript::new("talks")
///     .calls_model(ModelUse::new("a-model", "Hello.").using(used, Some(CostUsd::from_cents(1))))
///     .ends();
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelUse {
    /// The model.
    pub model: String,
    /// The provider of the model.
    pub provider: String,
    /// The number of messages in the request.
    pub messages: usize,
    /// The answer, or the error.
    pub answer: Result<String, Failure>,
    /// The token usage of the call.
    pub tokens: TokenUsage,
    /// The cost of the call, if it is known.
    pub cost: Option<CostUsd>,
}

impl ModelUse {
    /// Creates a call of `model` with one message, which costs nothing.
    pub fn new(model: impl Into<String>, answer: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            provider: "scripted".to_owned(),
            messages: 1,
            answer: Ok(answer.into()),
            tokens: TokenUsage::default(),
            cost: Some(CostUsd::ZERO),
        }
    }

    /// Sets the number of messages in the request.
    #[must_use]
    pub fn with_messages(mut self, count: usize) -> Self {
        self.messages = count;
        self
    }

    /// Sets the usage and the cost of the call.
    #[must_use]
    pub fn using(mut self, tokens: TokenUsage, cost: Option<CostUsd>) -> Self {
        self.tokens = tokens;
        self.cost = cost;
        self
    }

    /// Makes the call fail.
    #[must_use]
    pub fn failing(mut self, error: Failure) -> Self {
        self.answer = Err(error);
        self
    }

    /// Emits the call to observers, with the answer word by word.
    pub(crate) fn emit(&self, events: &Events) {
        let part = json!({"type": "text", "content": "a scripted message"});
        let message = json!({"role": "user", "parts": [part]});
        let messages = || json!(vec![message.clone(); self.messages]);
        let messages = ModelMessages::new(self.messages, &messages);
        let request = ModelCallRequest::new(&self.model, messages).with_provider(&self.provider);
        let call = events.model_call(&request);
        match &self.answer {
            Ok(answer) => {
                for word in answer.split_inclusive(' ') {
                    call.chunk(ModelPart::Text, word);
                }
                let ended = ModelAnswer::new(answer, self.tokens).with_cost(self.cost);
                call.ended(&ended.with_model(&self.model).with_stop_reason("end_turn"));
            }
            Err(error) => call.failed(error, self.tokens),
        }
    }
}

impl fmt::Display for ModelUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "asks {}", self.model)
    }
}
