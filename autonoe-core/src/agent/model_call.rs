//! [`ModelCall`], a guard that emits the events of one model call, and the payloads of these events.

use std::fmt;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::agent::{CostUsd, TokenUsage};
use crate::event::{Events, Failure, RunEventKind, SpanContext};

/// Emits the events of one model call, from its start to its end, in a span of its own.
///
/// Backends create one with [`Events::model_call`]. Every call emits exactly one end event: if
/// neither [`ended`](Self::ended) nor [`failed`](Self::failed) was called, dropping the value emits
/// a cancellation.
///
/// ```
/// use autonoe_core::agent::{ModelAnswer, ModelCallRequest, ModelMessages, ModelPart, TokenUsage};
/// use autonoe_core::event::Events;
/// use serde_json::json;
///
/// let events = Events::silent(); // a backend has `SessionSpec::events`
///
/// let call = events.model_call(&ModelCallRequest::new("a-model", ModelMessages::new(1, &|| json!([]))));
/// call.chunk(ModelPart::Text, "Hel");
/// call.chunk(ModelPart::Text, "lo.");
/// call.ended(&ModelAnswer::new("Hello.", TokenUsage::default()));
/// ```
#[derive(Debug)]
#[must_use = "dropping a call reports it as cancelled"]
pub struct ModelCall {
    events: Events,
    /// Requested model, kept only if the events fill in costs.
    model: Option<String>,
    is_open: bool,
}

impl Events {
    /// Emits the start of a model call in a new child span, and returns the handle for its other
    /// events.
    pub fn model_call(&self, request: &ModelCallRequest<'_>) -> ModelCall {
        ModelCall::start(self.child_for_model_call(), request)
    }
}

impl ModelCall {
    fn start(events: Events, request: &ModelCallRequest<'_>) -> Self {
        events.emit(RunEventKind::ModelStarted { request });
        Self {
            model: events.costs().map(|_| request.model.to_owned()),
            events,
            is_open: true,
        }
    }

    /// Returns the span of the call.
    pub fn span(&self) -> &SpanContext {
        self.events.span()
    }

    /// Emits a chunk of the answer.
    pub fn chunk(&self, part: ModelPart, text: &str) {
        self.events.emit(RunEventKind::ModelChunk { part, text });
    }

    /// Emits the complete answer and ends the call.
    pub fn ended(mut self, answer: &ModelAnswer<'_>) {
        self.is_open = false;
        let answer = &answer.with_cost(answer.cost.or_else(|| self.cost(answer)));
        self.events.emit(RunEventKind::ModelEnded { answer });
    }

    /// Returns the cost of an answer that does not report one.
    fn cost(&self, answer: &ModelAnswer<'_>) -> Option<CostUsd> {
        let model = answer.model.or(self.model.as_deref())?;
        self.events.costs()?(model, &answer.tokens)
    }

    /// Emits the failure of the call with the tokens used so far, and ends the call.
    pub fn failed(mut self, error: &Failure, tokens: TokenUsage) {
        self.is_open = false;
        self.events
            .emit(RunEventKind::ModelFailed { error, tokens });
    }
}

impl Drop for ModelCall {
    fn drop(&mut self) {
        if self.is_open {
            let error = Failure::retryable(
                "cancelled",
                "the call was dropped before the model answered",
            );
            self.events.emit(RunEventKind::ModelFailed {
                error: &error,
                tokens: TokenUsage::default(),
            });
        }
    }
}

/// Request to a model, as far as observers receive it.
///
/// ```
/// use autonoe_core::agent::{ModelCallRequest, ModelMessages};
/// use serde_json::json;
///
/// let messages = ["Say hello."];
/// let as_json = || json!(messages);
/// let request = ModelCallRequest::new("a-model", ModelMessages::new(messages.len(), &as_json))
///     .with_provider("a-provider");
///
/// assert_eq!(request.messages.to_json(), json!(["Say hello."]));
/// assert_eq!(serde_json::to_value(&request)?["messages"], 1);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelCallRequest<'a> {
    /// Model name of the provider.
    pub model: &'a str,
    /// Provider of the model, for example `anthropic`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<&'a str>,
    /// The conversation so far. Serialised as its length.
    #[schemars(with = "usize")]
    pub messages: ModelMessages<'a>,
    /// Maximum number of tokens in the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
}

impl<'a> ModelCallRequest<'a> {
    /// Creates a request to `model` with `messages`.
    pub fn new(model: &'a str, messages: ModelMessages<'a>) -> Self {
        Self {
            model,
            provider: None,
            messages,
            max_tokens: None,
        }
    }

    /// Sets the provider of the model.
    #[must_use]
    pub fn with_provider(mut self, provider: &'a str) -> Self {
        self.provider = Some(provider);
        self
    }

    /// Sets the maximum number of tokens in the answer.
    #[must_use]
    pub fn with_max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = Some(tokens);
        self
    }
}

/// Messages of a model call: their number, and their content on demand.
///
/// Messages are long and private, so only their number is serialised.
#[derive(Clone, Copy)]
pub struct ModelMessages<'a> {
    count: usize,
    content: &'a dyn Fn() -> Value,
}

impl<'a> ModelMessages<'a> {
    /// Refers to `count` messages that `content` returns as JSON: a list in the format of
    /// OpenTelemetry's conventions for generative AI, `{"role": .., "parts": [..]}` each. The
    /// system prompt is the first message, with the role `system`.
    pub fn new(count: usize, content: &'a dyn Fn() -> Value) -> Self {
        Self { count, content }
    }

    /// Returns the number of messages.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the content. It is built on each call.
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

/// Answer of a model, with its usage.
///
/// ```
/// use autonoe_core::agent::{ModelAnswer, TokenUsage};
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
    /// Text of the answer, without thinking and tool calls. It is not serialised, because the
    /// events of the agent contain it.
    #[serde(skip)]
    pub text: &'a str,
    /// The complete answer, including thinking and tool calls, if the backend knows it: the parts
    /// of one message, in the format of [`ModelMessages`]. It is not serialised, either.
    #[serde(skip)]
    pub parts: Option<ModelMessages<'a>>,
    /// Number of tool calls in the answer.
    pub tool_calls: usize,
    /// Tokens of this call.
    pub tokens: TokenUsage,
    /// Cost of the call, if known.
    #[serde(rename = "costUsd", skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostUsd>,
    /// The model that answered, if reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<&'a str>,
    /// Id of the answer at the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<&'a str>,
    /// Reason for the end of the answer, for example `tool_use`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<&'a str>,
}

impl<'a> ModelAnswer<'a> {
    /// Creates an answer from its text and usage. The `with_*` methods set the other fields.
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

    /// Sets the complete answer, including thinking and tool calls.
    #[must_use]
    pub fn with_parts(mut self, parts: ModelMessages<'a>) -> Self {
        self.parts = Some(parts);
        self
    }

    /// Sets the number of tool calls.
    #[must_use]
    pub fn with_tool_calls(mut self, count: usize) -> Self {
        self.tool_calls = count;
        self
    }

    /// Sets the cost of the call; `None` is unknown.
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

    /// Sets the id of the answer at the provider.
    #[must_use]
    pub fn with_id(mut self, id: &'a str) -> Self {
        self.id = Some(id);
        self
    }

    /// Sets the reason for the end of the answer.
    #[must_use]
    pub fn with_stop_reason(mut self, reason: &'a str) -> Self {
        self.stop_reason = Some(reason);
        self
    }
}

/// Kind of a chunk of a model's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelPart {
    /// Text of the answer.
    Text,
    /// Thinking of the model.
    Thinking,
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use serde_json::{Value, json};

    use super::*;
    use crate::agent::ModelMessages;
    use crate::event::{RunEvent, RunObserver};
    use crate::time::{SeededIds, SystemClock};

    #[test]
    fn a_cost_is_filled_in_only_if_none_is_reported() {
        let costs: Arc<Mutex<Vec<Value>>> = Arc::default();
        let sink = costs.clone();
        let observer: Arc<dyn RunObserver> = Arc::new(move |event: &RunEvent<'_>| {
            if let RunEventKind::ModelEnded { answer } = &event.kind {
                sink.lock().expect("not poisoned").push(json!(answer.cost));
            }
        });
        let ids = Arc::new(SeededIds::new(1));
        let events = Events::new(vec![observer], Arc::new(SystemClock), ids);
        let events = events.with_costs(Arc::new(|model, tokens| {
            (model == "priced").then(|| CostUsd::from_cents(tokens.input))
        }));
        let messages = || json!([]);
        let tokens = TokenUsage {
            input: 7,
            ..TokenUsage::default()
        };
        for (requested, answered, cost) in [
            ("priced", None, None),
            ("priced", None, Some(CostUsd::from_cents(2))),
            ("other", None, None),
            // The model that answered counts, not the requested one.
            ("other", Some("priced"), None),
            ("priced", Some("other"), None),
        ] {
            let request = ModelCallRequest::new(requested, ModelMessages::new(0, &messages));
            let mut answer = ModelAnswer::new("", tokens).with_cost(cost);
            answer.model = answered;
            events.child().model_call(&request).ended(&answer);
        }

        let costs = costs.lock().expect("not poisoned").clone();
        assert_eq!(
            costs,
            [
                json!("0.07"),
                json!("0.02"),
                json!(null),
                json!("0.07"),
                json!(null)
            ]
        );
    }
}
