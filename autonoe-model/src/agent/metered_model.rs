//! Model client of a session that emits events and records usage.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use autonoe_core::agent::{ModelAnswer, ModelCall, ModelCallRequest, ModelMessages, ModelPart};
use autonoe_core::event::{Events, Failure, Retry};
use autonoe_core::tool::{AssistRequest, Assistant, ToolErrorCode};
use autonoe_core::{AgentError, CostUsd, StreamEvent, ToolContext, ToolError};
use futures::StreamExt;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::budget::Account;
use super::otel_messages;
use crate::contract::{
    CallUsage, Meter, ModelClient, ModelError, ModelErrorCode, ModelEvent, ModelIdentity,
    ModelReply, ModelRequest, PartKind,
};
use crate::retry::Retrying;

/// Event of a turn, or the error that ends it.
pub(super) type TurnItem = Result<StreamEvent, AgentError>;

/// Calls the session's model, emits events to the listener and records usage. Cheap to clone.
#[derive(Clone)]
pub(super) struct MeteredModel {
    model: Arc<Retrying>,
    account: Arc<Mutex<Account>>,
    events: Events,
    listener: UnboundedSender<TurnItem>,
    stop: CancellationToken,
    has_warned: Arc<AtomicBool>,
    /// Serializes the assist requests of tools if there is a budget.
    assists: Arc<tokio::sync::Mutex<()>>,
}

/// Reason that there is no answer.
#[derive(Debug)]
pub(super) enum MeteredModelError {
    /// The turn was stopped.
    Stopped,
    /// The model call failed.
    Failed(ModelError),
}

impl MeteredModel {
    pub(super) fn new(
        model: Arc<Retrying>,
        account: Arc<Mutex<Account>>,
        events: Events,
        listener: UnboundedSender<TurnItem>,
        stop: CancellationToken,
    ) -> Self {
        Self {
            model,
            account,
            events,
            listener,
            stop,
            has_warned: Arc::default(),
            assists: Arc::default(),
        }
    }

    /// Returns the token that stops the turn.
    pub(super) fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    /// Emits an event to the listener of the turn.
    pub(super) fn emit(&self, event: StreamEvent) {
        // Sending fails only if the listener was dropped, which also stops the turn.
        let _ = self.listener.send(Ok(event));
    }

    /// Calls the model. Its usage is reported and recorded, even if the call fails or is stopped.
    pub(super) async fn call(
        &self,
        request: &ModelRequest,
    ) -> Result<ModelReply, MeteredModelError> {
        self.ask_at(&self.events, request).await
    }

    /// Calls the model, with its events below `place` in the span tree of the run.
    async fn ask_at(
        &self,
        place: &Events,
        request: &ModelRequest,
    ) -> Result<ModelReply, MeteredModelError> {
        // A call that never starts costs nothing.
        if self.stop.is_cancelled() {
            return Err(MeteredModelError::Stopped);
        }
        let mut answer = self.model.stream_borrowed(request);
        let mut attempt = Attempt::start(self, place, request);
        let error = loop {
            let event = tokio::select! {
                biased;
                () = self.stop.cancelled() => return Err(MeteredModelError::Stopped),
                event = answer.next() => event,
            };
            match event {
                Some(Ok(ModelEvent::Done(reply))) => {
                    attempt.done(&reply);
                    self.warn_of_guesses(&reply);
                    return Ok(*reply);
                }
                Some(Ok(ModelEvent::Retrying {
                    error,
                    attempt: number,
                    delay,
                })) => {
                    attempt.failed(&error);
                    let message = format!("{error}; attempt {number} starts in {delay:?}");
                    self.emit(StreamEvent::warning(message));
                    attempt = Attempt::start(self, place, request);
                }
                Some(Ok(event)) => attempt.on_event(&event),
                Some(Err(error)) => break error,
                None => {
                    let message = "the answer ended before it was complete";
                    break ModelError::new(ModelErrorCode::InvalidResponse, message);
                }
            }
        };
        attempt.failed(&error);
        Err(MeteredModelError::Failed(error))
    }

    /// Warns once if the provider does not report token counts.
    fn warn_of_guesses(&self, reply: &ModelReply) {
        if reply.usage.complete().is_none() && !self.has_warned.swap(true, Ordering::Relaxed) {
            self.emit(StreamEvent::warning(
                "the provider does not report how many tokens its answers use, so the cost of \
                 the session is unknown",
            ));
        }
    }

    /// Records activity of the session, wherever in its span tree the activity happens.
    pub(super) fn record_activity(&self) {
        self.events.record_heartbeat();
    }

    /// Returns the identity of the model.
    pub(super) fn identity(&self) -> &ModelIdentity {
        self.model.identity()
    }

    /// Records and reports the usage of a call. Returns its cost, or `None` if a part of it is
    /// unknown.
    pub(super) fn record_usage(&self, used: CallUsage) -> Option<CostUsd> {
        let cost = self.account().record(self.model.identity(), used);
        if used != CallUsage::NOTHING {
            self.emit(StreamEvent::usage(used.known(), cost));
        }
        cost
    }

    pub(super) fn account(&self) -> std::sync::MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Assistant for MeteredModel {
    /// Answers a request of a tool, at the expense of the session's budget.
    async fn assist(
        &self,
        request: &AssistRequest,
        context: &ToolContext,
    ) -> Result<String, ToolError> {
        let is_limited = self.account().is_limited();
        // Concurrent requests must not each spend the remaining budget.
        let _turn = if is_limited {
            Some(self.assists.lock().await)
        } else {
            None
        };
        if let Some(budget) = self.account().exhausted() {
            let message = format!("the {budget} budget of the session is spent");
            return Err(ToolError::new(ToolErrorCode::RATE_LIMITED, message));
        }
        let mut question = ModelRequest::prompt(&request.prompt);
        question.max_output_tokens = request.max_tokens;
        let failed = |message: String| ToolError::new(ToolErrorCode::UNKNOWN, message);
        match self.ask_at(context.events(), &question).await {
            Ok(reply) => match reply.message.to_text() {
                text if text.trim().is_empty() => {
                    Err(failed("the model gave the tool no answer".into()))
                }
                text => Ok(text),
            },
            Err(MeteredModelError::Stopped) => Err(ToolError::new(
                ToolErrorCode::CANCELLED,
                "the turn was stopped",
            )),
            Err(MeteredModelError::Failed(error)) => Err(failed(format!(
                "the model could not help the tool: {error}"
            ))),
        }
    }
}

/// A model call in progress. An attempt that is neither [`done`](Self::done) nor
/// [`failed`](Self::failed) when dropped counts as interrupted, so the usage of every attempt is
/// recorded.
pub(super) struct Attempt<'a> {
    model: &'a MeteredModel,
    /// Span of the call in the run; `None` after its end.
    call: Option<ModelCall>,
    meter: Meter,
}

impl<'a> Attempt<'a> {
    /// Starts a call, with its events below `place` in the span tree of the run.
    pub(super) fn start(model: &'a MeteredModel, place: &Events, request: &ModelRequest) -> Self {
        let identity = model.identity();
        let content = || otel_messages::request_messages(request);
        let count = usize::from(request.system.is_some()) + request.messages.len();
        let messages = ModelMessages::new(count, &content);
        let mut call_request =
            ModelCallRequest::new(&identity.model, messages).with_provider(&identity.provider);
        if let Some(tokens) = request.max_output_tokens {
            call_request = call_request.with_max_tokens(tokens.into());
        }
        Self {
            model,
            call: Some(place.model_call(&call_request)),
            meter: Meter::default(),
        }
    }

    /// Processes a part of the answer, which also counts as activity.
    pub(super) fn on_event(&mut self, event: &ModelEvent) {
        self.meter.on_event(event);
        self.model.record_activity();
        match (event, &self.call) {
            (ModelEvent::Text(text), Some(call)) => call.chunk(ModelPart::Text, text),
            (ModelEvent::Thinking(text), Some(call)) => call.chunk(ModelPart::Thinking, text),
            _ => {}
        }
    }

    /// Finishes with the complete answer.
    pub(super) fn done(mut self, reply: &ModelReply) {
        let cost = self.model.record_usage(reply.usage);
        let (text, stop) = (reply.message.to_text(), reply.stop.to_string());
        let parts = || otel_messages::answer_parts(&reply.message);
        let kinds = reply.message.parts.iter().map(|part| &part.kind);
        let count = kinds.filter(|kind| **kind != PartKind::Opaque).count();
        let mut answer = ModelAnswer::new(&text, reply.usage.known())
            .with_parts(ModelMessages::new(count, &parts))
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

    /// Finishes with an error.
    pub(super) fn failed(mut self, error: &ModelError) {
        let used = self.meter.failed(error);
        self.model.record_usage(used);
        let mut failure = Failure::permanent(error.code.as_str(), error.message.clone());
        if error.is_retryable() {
            failure.retry = Retry::Retryable;
        }
        failure.retry_after = error.retry_after;
        if let Some(call) = self.call.take() {
            call.failed(&failure, used.known());
        }
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        // The usage of an interrupted answer is only partly known.
        if let Some(call) = self.call.take() {
            let used = self.meter.interrupted();
            self.model.record_usage(used);
            let stopped = Failure::retryable("cancelled", "the turn was stopped");
            call.failed(&stopped, used.known());
        }
    }
}
