//! [`ModelCall`], a guard that emits the events of one model call.

use crate::agent::{CostUsd, TokenUsage};
use crate::agent::{ModelAnswer, ModelCallRequest, ModelPart};
use crate::event::{Events, RunEventKind};
use crate::event::{Failure, SpanContext};

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
