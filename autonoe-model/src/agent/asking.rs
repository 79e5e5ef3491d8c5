//! A model that is asked, and an account of what that used.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use autonoe_core::{
    AssistRequest, Assistant, Events, Failure, ModelAnswer, ModelAsked, ModelCall, ModelMessages,
    ModelPart, Retry, StreamEvent, TokenUsage, ToolContext, ToolError, ToolErrorCode,
};
use futures::StreamExt;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::budget::Account;
use super::client::Item;
use super::told;
use crate::contract::{
    ModelClient, ModelError, ModelErrorCode, ModelEvent, ModelReply, ModelRequest,
};
use crate::retry::Retrying;

/// Asks the model of a session, tells who listens, and keeps the account. Cheap to clone.
#[derive(Clone)]
pub(super) struct Asking {
    model: Arc<Retrying>,
    account: Arc<Mutex<Account>>,
    events: Events,
    listener: UnboundedSender<Item>,
    stop: CancellationToken,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// The turn was stopped.
    Stopped,
    /// The model failed.
    Failed(ModelError),
}

impl Asking {
    pub(super) fn new(
        model: Arc<Retrying>,
        account: Arc<Mutex<Account>>,
        events: Events,
        listener: UnboundedSender<Item>,
        stop: CancellationToken,
    ) -> Self {
        Self {
            model,
            account,
            events,
            listener,
            stop,
        }
    }

    /// Returns what ends the turn.
    pub(super) fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    /// Tells who listens to the turn.
    pub(super) fn tell(&self, event: StreamEvent) {
        // Who does not listen any more has stopped the turn.
        let _ = self.listener.send(Ok(event));
    }

    /// Asks the model. What that used is told and written down, also if it fails or is stopped.
    pub(super) async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, NoAnswer> {
        self.ask_at(&self.events, request).await
    }

    /// Asks the model for what goes on at a place of the run.
    async fn ask_at(&self, place: &Events, request: &ModelRequest) -> Result<ModelReply, NoAnswer> {
        let mut answer = self.model.stream_borrowed(request);
        let mut call = self.begin(place, request);
        // What the try under way is known to have used.
        let mut known = TokenUsage::default();
        loop {
            let event = tokio::select! {
                biased;
                () = self.stop.cancelled() => {
                    // Nobody tells what an answer used that was not heard to its end.
                    self.account().broke_off(known);
                    self.tell(StreamEvent::usage(known, None));
                    call.failed(&Failure::retryable("cancelled", "the turn was stopped"), known);
                    return Err(NoAnswer::Stopped);
                }
                event = answer.next() => event,
            };
            match event {
                Some(Ok(ModelEvent::Done(reply))) => {
                    self.done(&reply, call);
                    return Ok(*reply);
                }
                Some(Ok(ModelEvent::Text(text))) => call.chunk(ModelPart::Text, &text),
                Some(Ok(ModelEvent::Thinking(text))) => call.chunk(ModelPart::Thinking, &text),
                Some(Ok(ModelEvent::Used(tokens))) => known = tokens,
                Some(Ok(ModelEvent::Retrying {
                    error,
                    attempt,
                    delay,
                })) => {
                    let message = format!("{error}; try {attempt} follows in {delay:?}");
                    self.failed(&error, call);
                    self.tell(StreamEvent::warning(message));
                    known = TokenUsage::default();
                    call = self.begin(place, request);
                }
                Some(Ok(ModelEvent::ToolCall { .. })) => {}
                Some(Err(error)) => {
                    self.failed(&error, call);
                    return Err(NoAnswer::Failed(error));
                }
                None => {
                    let message = "the answer ended before it was whole";
                    let error = ModelError::new(ModelErrorCode::InvalidResponse, message);
                    self.failed(&error, call);
                    return Err(NoAnswer::Failed(error));
                }
            }
        }
    }

    fn begin(&self, place: &Events, request: &ModelRequest) -> ModelCall {
        let identity = self.model.identity();
        let content = || told::asked(request);
        let messages = ModelMessages::new(request.messages.len(), &content);
        let mut asked = ModelAsked::new(&identity.model, messages).by_provider(&identity.provider);
        if let Some(tokens) = request.max_output_tokens {
            asked = asked.with_max_tokens(tokens.into());
        }
        place.model_call(&asked)
    }

    fn done(&self, reply: &ModelReply, call: ModelCall) {
        let cost = self.account().used(self.model.identity(), reply.usage);
        self.tell(StreamEvent::usage(reply.usage, cost));
        let (text, stop) = (reply.message.to_text(), reply.stop.to_string());
        let parts = || told::parts(&reply.message);
        let mut answer = ModelAnswer::new(&text, reply.usage)
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
        call.ended(&answer);
    }

    fn failed(&self, error: &ModelError, call: ModelCall) {
        if error.usage != TokenUsage::default() {
            let cost = self.account().used(self.model.identity(), error.usage);
            self.tell(StreamEvent::usage(error.usage, cost));
        }
        let mut failure = Failure::permanent(error.code.as_str(), error.message.clone());
        if error.is_retryable() {
            failure.retry = Retry::MayHelp;
        }
        failure.retry_after = error.retry_after;
        call.failed(&failure, error.usage);
    }

    pub(super) fn account(&self) -> std::sync::MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Assistant for Asking {
    /// Answers a tool, out of the budget of the session.
    async fn assist(
        &self,
        request: &AssistRequest,
        context: &ToolContext,
    ) -> Result<String, ToolError> {
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
                    Err(failed("the model had no answer for the tool".into()))
                }
                text => Ok(text),
            },
            Err(NoAnswer::Stopped) => Err(ToolError::new(
                ToolErrorCode::CANCELLED,
                "the turn was stopped",
            )),
            Err(NoAnswer::Failed(error)) => Err(failed(format!(
                "the model could not help the tool: {error}"
            ))),
        }
    }
}
