//! A call of a model, as a script has it.

use std::fmt;

use autonoe_core::{
    CostUsd, Events, Failure, ModelAnswer, ModelAsked, ModelMessages, ModelPart, TokenUsage,
};
use serde_json::json;

/// A call of a model in a script: it is told to observers, and the agent says the answer.
///
/// ```
/// use autonoe_core::{CostUsd, TokenUsage};
/// use autonoe_scripted::{ModelUse, SessionScript};
///
/// let used = TokenUsage { input: 10, output: 5, ..TokenUsage::default() };
/// let script = SessionScript::new("talks")
///     .asks_model(ModelUse::new("a-model", "Hello.").using(used, Some(CostUsd::from_cents(1))))
///     .ends();
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelUse {
    /// The model.
    pub model: String,
    /// Who runs it.
    pub provider: String,
    /// How many messages it is sent.
    pub messages: usize,
    /// What it answers, or why it does not.
    pub answer: Result<String, Failure>,
    /// What the call uses.
    pub tokens: TokenUsage,
    /// What it costs, if that is known.
    pub cost: Option<CostUsd>,
}

impl ModelUse {
    /// Asks `model` one message, which it answers for nothing.
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

    /// Sets how many messages it is sent.
    #[must_use]
    pub fn with_messages(mut self, count: usize) -> Self {
        self.messages = count;
        self
    }

    /// Sets what the call uses and costs.
    #[must_use]
    pub fn using(mut self, tokens: TokenUsage, cost: Option<CostUsd>) -> Self {
        self.tokens = tokens;
        self.cost = cost;
        self
    }

    /// Makes it fail.
    #[must_use]
    pub fn failing(mut self, error: Failure) -> Self {
        self.answer = Err(error);
        self
    }

    /// Tells the call to observers, its answer word by word.
    pub(crate) fn tell(&self, events: &Events) {
        let part = json!({"type": "text", "content": "a scripted message"});
        let message = json!({"role": "user", "parts": [part]});
        let messages = || json!(vec![message.clone(); self.messages]);
        let messages = ModelMessages::new(self.messages, &messages);
        let asked = ModelAsked::new(&self.model, messages).by_provider(&self.provider);
        let call = events.model_call(&asked);
        match &self.answer {
            Ok(answer) => {
                for piece in answer.split_inclusive(' ') {
                    call.chunk(ModelPart::Text, piece);
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
