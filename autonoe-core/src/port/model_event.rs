//! What is told of a call of a model.

use std::fmt;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::domain::{CostUsd, TokenUsage};

/// What a model is asked, as far as observers are told.
///
/// ```
/// use autonoe_core::{ModelAsked, ModelMessages};
/// use serde_json::json;
///
/// let messages = ["Say hello."];
/// let as_json = || json!(messages);
/// let asked = ModelAsked::new("a-model", ModelMessages::new(messages.len(), &as_json))
///     .by_provider("a-provider");
///
/// assert_eq!(asked.messages.to_json(), json!(["Say hello."]));
/// assert_eq!(serde_json::to_value(&asked)?["messages"], 1);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelAsked<'a> {
    /// The model, by the name that its provider knows.
    pub model: &'a str,
    /// Who runs it, for example `anthropic`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<&'a str>,
    /// The conversation so far. Written as its length.
    #[schemars(with = "usize")]
    pub messages: ModelMessages<'a>,
    /// The most that it may answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
}

impl<'a> ModelAsked<'a> {
    /// Says which model is asked, and with which messages.
    pub fn new(model: &'a str, messages: ModelMessages<'a>) -> Self {
        Self {
            model,
            provider: None,
            messages,
            max_tokens: None,
        }
    }

    /// Sets who runs the model.
    #[must_use]
    pub fn by_provider(mut self, provider: &'a str) -> Self {
        self.provider = Some(provider);
        self
    }

    /// Sets the most that it may answer.
    #[must_use]
    pub fn with_max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = Some(tokens);
        self
    }
}

/// The messages of a call: how many there are, and what they say for who asks.
///
/// They are long and private, so they are written down nowhere by themselves.
#[derive(Clone, Copy)]
pub struct ModelMessages<'a> {
    count: usize,
    content: &'a dyn Fn() -> Value,
}

impl<'a> ModelMessages<'a> {
    /// Refers to `count` messages that `content` returns as JSON: a list in the shape of
    /// OpenTelemetry's conventions for generative AI, `{"role": .., "parts": [..]}` each. What
    /// the model is told for the whole conversation is the first, with the role `system`.
    pub fn new(count: usize, content: &'a dyn Fn() -> Value) -> Self {
        Self { count, content }
    }

    /// Returns how many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns what they say. It is made only now.
    pub fn to_json(&self) -> Value {
        (self.content)()
    }
}

impl fmt::Debug for ModelMessages<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} messages", self.count)
    }
}

impl Serialize for ModelMessages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.count.serialize(serializer)
    }
}

/// What a model answered, and what that took.
///
/// ```
/// use autonoe_core::{ModelAnswer, TokenUsage};
///
/// let used = TokenUsage { input: 12, output: 3, ..TokenUsage::default() };
/// let answer = ModelAnswer::new("Hello.", used).with_stop_reason("end_turn");
///
/// assert_eq!(answer.tokens.total(), 15);
/// ```
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelAnswer<'a> {
    /// What it says, without thoughts and calls. It is not written as JSON: there it is what the
    /// agent says.
    #[serde(skip)]
    pub text: &'a str,
    /// The whole answer, thoughts and calls included, where the backend knows it: the parts of
    /// one message, in the shape of [`ModelMessages`]. It is not written as JSON either.
    #[serde(skip)]
    pub parts: Option<ModelMessages<'a>>,
    /// How many tools it calls.
    pub tool_calls: usize,
    /// The tokens of this call.
    pub tokens: TokenUsage,
    /// What the call cost, if that is known.
    #[serde(rename = "costUsd", skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostUsd>,
    /// The model that answered, where it is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<&'a str>,
    /// The provider's name of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<&'a str>,
    /// Why it stopped, for example `tool_use`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<&'a str>,
}

impl<'a> ModelAnswer<'a> {
    /// Says what the model answered and used; the rest is set by `with_*`.
    pub fn new(text: &'a str, tokens: TokenUsage) -> Self {
        Self {
            text,
            parts: None,
            tool_calls: 0,
            tokens,
            cost: None,
            model: None,
            id: None,
            stop_reason: None,
        }
    }

    /// Sets the whole answer, thoughts and calls included.
    #[must_use]
    pub fn with_parts(mut self, parts: ModelMessages<'a>) -> Self {
        self.parts = Some(parts);
        self
    }

    /// Sets how many tools it calls.
    #[must_use]
    pub fn with_tool_calls(mut self, count: usize) -> Self {
        self.tool_calls = count;
        self
    }

    /// Sets what the call cost; `None` is unknown.
    #[must_use]
    pub fn with_cost(mut self, cost: Option<CostUsd>) -> Self {
        self.cost = cost;
        self
    }

    /// Sets the model that answered.
    #[must_use]
    pub fn with_model(mut self, model: &'a str) -> Self {
        self.model = Some(model);
        self
    }

    /// Sets the provider's name of the answer.
    #[must_use]
    pub fn with_id(mut self, id: &'a str) -> Self {
        self.id = Some(id);
        self
    }

    /// Sets why it stopped.
    #[must_use]
    pub fn with_stop_reason(mut self, reason: &'a str) -> Self {
        self.stop_reason = Some(reason);
        self
    }
}

/// What a piece of a model's answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelPart {
    /// What it says.
    Text,
    /// What it thinks.
    Thinking,
}
