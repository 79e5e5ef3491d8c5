//! One try to ask a model, which is told and paid for once, however it ends.

use autonoe_core::{
    Events, Failure, ModelAnswer, ModelAsked, ModelCall, ModelMessages, ModelPart, Retry,
};

use super::asking::Asking;
use super::told;
use crate::contract::{Meter, ModelError, ModelEvent, ModelReply, ModelRequest};

/// A try that is under way. What is neither [`done`](Self::done) nor [`failed`](Self::failed)
/// was interrupted, and is accounted for as such when it is dropped: every try is accounted for.
pub(super) struct Attempt<'a> {
    asking: &'a Asking,
    /// The place of the call in the tree of the run; `None` when it has its end.
    call: Option<ModelCall>,
    meter: Meter,
}

impl<'a> Attempt<'a> {
    /// Begins to ask for what goes on at a place of the run.
    pub(super) fn begin(asking: &'a Asking, place: &Events, request: &ModelRequest) -> Self {
        let identity = asking.identity();
        let content = || told::asked(request);
        let messages = ModelMessages::new(request.messages.len(), &content);
        let mut asked = ModelAsked::new(&identity.model, messages).by_provider(&identity.provider);
        if let Some(tokens) = request.max_output_tokens {
            asked = asked.with_max_tokens(tokens.into());
        }
        Self {
            asking,
            call: Some(place.model_call(&asked)),
            meter: Meter::default(),
        }
    }

    /// Takes a part of the answer, which shows that the session lives.
    pub(super) fn hear(&mut self, event: &ModelEvent) {
        self.meter.hear(event);
        self.asking.sign_of_life();
        match (event, &self.call) {
            (ModelEvent::Text(text), Some(call)) => call.chunk(ModelPart::Text, text),
            (ModelEvent::Thinking(text), Some(call)) => call.chunk(ModelPart::Thinking, text),
            _ => {}
        }
    }

    /// Takes the whole answer.
    pub(super) fn done(mut self, reply: &ModelReply) {
        let cost = self.asking.settle(reply.usage);
        let (text, stop) = (reply.message.to_text(), reply.stop.to_string());
        let parts = || told::parts(&reply.message);
        let mut answer = ModelAnswer::new(&text, reply.usage.known())
            .with_parts(ModelMessages::new(reply.message.parts.len(), &parts))
            .with_tool_calls(reply.message.calls().count())
            .with_cost(cost)
            .with_stop_reason(&stop);
        if let Some(model) = &reply.model {
            answer = answer.with_model(model);
        }
        if let Some(id) = &reply.id {
            answer = answer.with_id(id);
        }
        if let Some(call) = self.call.take() {
            call.ended(&answer);
        }
    }

    /// Takes note that there is no answer.
    pub(super) fn failed(mut self, error: &ModelError) {
        let used = self.meter.failed(error);
        self.asking.settle(used);
        let mut failure = Failure::permanent(error.code.as_str(), error.message.clone());
        if error.is_retryable() {
            failure.retry = Retry::MayHelp;
        }
        failure.retry_after = error.retry_after;
        if let Some(call) = self.call.take() {
            call.failed(&failure, used.known());
        }
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        // Nobody tells what an answer used that was not heard to its end.
        if let Some(call) = self.call.take() {
            let used = self.meter.broke_off();
            self.asking.settle(used);
            let stopped = Failure::retryable("cancelled", "the turn was stopped");
            call.failed(&stopped, used.known());
        }
    }
}
