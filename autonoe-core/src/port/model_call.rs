//! A call of a model that is told.

use std::sync::Arc;

use super::{Events, ModelAnswer, ModelAsked, ModelPart, RunEventKind};
use crate::domain::{CostUsd, Failure, SpanContext, TokenUsage};

/// Says what a call of a model cost, by the name of the model and what was used; `None` if nobody
/// knows. See [`Events::with_costs`].
pub type CallCosts = Arc<dyn Fn(&str, &TokenUsage) -> Option<CostUsd> + Send + Sync>;

/// A call of a model that is told, from its start to its end: one place in the tree of the run.
///
/// Backends get one from [`Events::model_call`]. It has one end, whatever happens: what is
/// neither [`ended`](Self::ended) nor [`failed`](Self::failed) is told as cancelled when it is
/// dropped.
///
/// ```
/// use autonoe_core::{Events, ModelAnswer, ModelAsked, ModelMessages, ModelPart, TokenUsage};
/// use serde_json::json;
///
/// let events = Events::silent(); // a backend has `SessionSpec::events`
///
/// let call = events.model_call(&ModelAsked::new("a-model", ModelMessages::new(1, &|| json!([]))));
/// call.chunk(ModelPart::Text, "Hel");
/// call.chunk(ModelPart::Text, "lo.");
/// call.ended(&ModelAnswer::new("Hello.", TokenUsage::default()));
/// ```
#[derive(Debug)]
#[must_use = "a call that is dropped is told as cancelled"]
pub struct ModelCall {
    events: Events,
    /// The model that was asked, where somebody fills in what it cost.
    model: Option<String>,
    is_open: bool,
}

impl ModelCall {
    pub(super) fn begin(events: Events, asked: &ModelAsked<'_>) -> Self {
        events.emit(RunEventKind::ModelStarted { asked });
        Self {
            model: events.costs().map(|_| asked.model.to_owned()),
            events,
            is_open: true,
        }
    }

    /// Returns the place of the call in the tree of the run.
    pub fn span(&self) -> &SpanContext {
        self.events.span()
    }

    /// Tells a piece of the answer.
    pub fn chunk(&self, part: ModelPart, text: &str) {
        self.events.emit(RunEventKind::ModelChunk { part, text });
    }

    /// Tells the whole answer.
    pub fn ended(mut self, answer: &ModelAnswer<'_>) {
        self.is_open = false;
        let answer = &answer.with_cost(answer.cost.or_else(|| self.cost(answer)));
        self.events.emit(RunEventKind::ModelEnded { answer });
    }

    /// Returns what an answer cost that does not tell it.
    fn cost(&self, answer: &ModelAnswer<'_>) -> Option<CostUsd> {
        let model = answer.model.or(self.model.as_deref())?;
        self.events.costs()?(model, &answer.tokens)
    }

    /// Tells that there is no answer, and what was used all the same.
    pub fn failed(mut self, error: &Failure, tokens: TokenUsage) {
        self.is_open = false;
        self.events
            .emit(RunEventKind::ModelFailed { error, tokens });
    }
}

impl Drop for ModelCall {
    fn drop(&mut self) {
        if self.is_open {
            let error = Failure::retryable("cancelled", "nobody waits for the answer any more");
            self.events.emit(RunEventKind::ModelFailed {
                error: &error,
                tokens: TokenUsage::default(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::{Value, json};

    use super::*;
    use crate::port::{ModelMessages, RunEvent, RunObserver, SeededIds, SystemClock};

    #[test]
    fn a_cost_is_filled_in_only_where_none_is_told() {
        let told: Arc<Mutex<Vec<Value>>> = Arc::default();
        let keep = told.clone();
        let observer: Arc<dyn RunObserver> = Arc::new(move |event: &RunEvent<'_>| {
            if let RunEventKind::ModelEnded { answer } = &event.kind {
                keep.lock().expect("not poisoned").push(json!(answer.cost));
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
        for (asked, answered, cost) in [
            ("priced", None, None),
            ("priced", None, Some(CostUsd::from_cents(2))),
            ("other", None, None),
            // The model that answered counts, and not the one that was asked.
            ("other", Some("priced"), None),
            ("priced", Some("other"), None),
        ] {
            let asked = ModelAsked::new(asked, ModelMessages::new(0, &messages));
            let mut answer = ModelAnswer::new("", tokens).with_cost(cost);
            answer.model = answered;
            events.child().model_call(&asked).ended(&answer);
        }

        let told = told.lock().expect("not poisoned").clone();
        assert_eq!(
            told,
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
