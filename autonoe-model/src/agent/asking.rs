//! A model that is asked, and an account of what that used.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use autonoe_core::{
    AssistRequest, Assistant, CostUsd, Events, Failure, ModelAnswer, ModelAsked, ModelCall,
    ModelMessages, ModelPart, Retry, StreamEvent, ToolContext, ToolError, ToolErrorCode,
};
use futures::StreamExt;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::budget::Account;
use super::client::Item;
use super::told;
use crate::contract::{
    CallUsage, Meter, ModelClient, ModelError, ModelErrorCode, ModelEvent, ModelIdentity,
    ModelReply, ModelRequest,
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
    has_warned: Arc<AtomicBool>,
    /// Held by the tool that is helped, where there is a budget.
    assists: Arc<tokio::sync::Mutex<()>>,
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
            has_warned: Arc::default(),
            assists: Arc::default(),
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
        // What is not begun costs nothing.
        if self.stop.is_cancelled() {
            return Err(NoAnswer::Stopped);
        }
        let mut answer = self.model.stream_borrowed(request);
        let mut attempt = Attempt::begin(self, place, request);
        let error = loop {
            let event = tokio::select! {
                biased;
                () = self.stop.cancelled() => return Err(NoAnswer::Stopped),
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
                    let message = format!("{error}; try {number} follows in {delay:?}");
                    self.tell(StreamEvent::warning(message));
                    attempt = Attempt::begin(self, place, request);
                }
                Some(Ok(event)) => attempt.hear(&event),
                Some(Err(error)) => break error,
                None => {
                    let message = "the answer ended before it was whole";
                    break ModelError::new(ModelErrorCode::InvalidResponse, message);
                }
            }
        };
        attempt.failed(&error);
        Err(NoAnswer::Failed(error))
    }

    /// Warns once of a provider that does not count.
    fn warn_of_guesses(&self, reply: &ModelReply) {
        if reply.usage.told().is_none() && !self.has_warned.swap(true, Ordering::Relaxed) {
            self.tell(StreamEvent::warning(
                "the provider does not tell how many tokens its answers use, \
                 so that nobody knows what the session costs",
            ));
        }
    }

    /// Shows that the session lives, wherever in its tree something goes on.
    pub(super) fn sign_of_life(&self) {
        self.events.sign_of_life();
    }

    /// Returns which model is asked.
    pub(super) fn identity(&self) -> &ModelIdentity {
        self.model.identity()
    }

    /// Writes down and tells what a call used, and returns what it cost, as far as that is known.
    pub(super) fn settle(&self, used: CallUsage) -> Option<CostUsd> {
        let cost = self.account().used(self.model.identity(), used);
        if used != CallUsage::NOTHING {
            self.tell(StreamEvent::usage(used.known(), cost));
        }
        cost
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
        let is_limited = self.account().is_limited();
        // Calls that run side by side must not all spend what is left for one.
        let _turn = match is_limited {
            true => Some(self.assists.lock().await),
            false => None,
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
