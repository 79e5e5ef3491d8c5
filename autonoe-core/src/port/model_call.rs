//! A call of a model that is told.

use super::{Events, ModelAnswer, ModelAsked, ModelPart, RunEventKind};
use crate::domain::{Failure, SpanContext, TokenUsage};

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
    is_open: bool,
}

impl ModelCall {
    pub(super) fn begin(events: Events, asked: &ModelAsked<'_>) -> Self {
        events.emit(RunEventKind::ModelStarted { asked });
        Self {
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
        self.events.emit(RunEventKind::ModelEnded { answer });
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
