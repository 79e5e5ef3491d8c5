//! [`MeteredModel`]: model client of a session that emits events, and records usage in its [`Account`].

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use autonoe_core::agent::{
    BudgetKind, BudgetUsage, CostTotal, ModelAnswer, ModelCall, ModelCallRequest, ModelMessages,
    ModelPart,
};
use autonoe_core::event::{Events, Failure, Retry};
use autonoe_core::tool::{AssistRequest, Assistant, ToolErrorCode};
use autonoe_core::{AgentError, Budget, CostUsd, StreamEvent, ToolContext, ToolError};
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::contract::{
    AssistantMessage, CallUsage, Message, Meter, ModelClient, ModelError, ModelEvent,
    ModelIdentity, ModelReply, ModelRequest, PartKind,
};
use crate::price::PriceTable;
use crate::retry::Retrying;

/// Event of a turn, or the error that ends it.
pub(super) type TurnItem = Result<StreamEvent, AgentError>;

/// Calls the session's model, emits events to the listener and records usage. Cheap to clone.
#[derive(Clone)]
pub(super) struct MeteredModel {
    pub(super) model: Arc<Retrying>,
    pub(super) account: Arc<Mutex<Account>>,
    pub(super) events: Events,
    pub(super) listener: UnboundedSender<TurnItem>,
    /// Stops the turn.
    pub(super) stop: CancellationToken,
    pub(super) has_warned: Arc<AtomicBool>,
    /// Serializes the assist requests of tools if there is a budget.
    pub(super) assists: Arc<tokio::sync::Mutex<()>>,
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
        self.call_below(&self.events, request).await
    }

    /// Calls the model, with its events below `place` in the span tree of the run.
    async fn call_below(
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
                None => break ModelError::ended_early(),
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
        match self.call_below(context.events(), &question).await {
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
        let identity = model.model.identity();
        let content = || request_messages(request);
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
        self.model.events.record_heartbeat();
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
        let parts = || answer_parts(&reply.message);
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

/// Maximum number of calls with unknown usage before a budget counts as exhausted.
const MAX_UNKNOWN: u32 = 3;

/// Usage of a session so far.
#[derive(Debug)]
pub(super) struct Account {
    prices: PriceTable,
    budget: Budget,
    spent: BudgetUsage,
    /// Number of calls whose total usage is unknown.
    uncounted: u32,
}

impl Account {
    pub(super) fn new(prices: PriceTable, budget: Budget) -> Self {
        Self {
            prices,
            budget,
            spent: BudgetUsage::default(),
            uncounted: 0,
        }
    }

    /// Records the usage of a call. Returns its cost, or `None` if a part of it is unknown.
    pub(super) fn record(&mut self, model: &ModelIdentity, used: CallUsage) -> Option<CostUsd> {
        let known = self.prices.cost(model, &used.known());
        self.spent.tokens += used.known();
        match used {
            CallUsage::Complete(_) => {
                self.spent.cost.add(known);
                known
            }
            CallUsage::AtLeast(_) => {
                let least = known.unwrap_or(CostUsd::ZERO);
                self.spent.cost.merge(CostTotal::at_least(least));
                self.uncounted = self.uncounted.saturating_add(1);
                None
            }
        }
    }

    /// Returns the cost of the session, or `None` if a part of it is unknown.
    pub(super) fn cost(&self) -> Option<CostUsd> {
        self.spent.cost.exact()
    }

    /// Returns whether the budget limits cost or tokens.
    pub(super) fn is_limited(&self) -> bool {
        self.budget.cost_usd.is_some() || self.budget.tokens.is_some()
    }

    /// Returns the budget that is exhausted, or that cannot be enforced any more because too much
    /// usage is unknown. The session runner enforces the time budget.
    pub(super) fn exhausted(&self) -> Option<BudgetKind> {
        let is_a_guess = |unknown| unknown > MAX_UNKNOWN;
        let money = self.budget.cost_usd.is_some() && is_a_guess(self.spent.cost.unknown_parts);
        let tokens = self.budget.tokens.is_some() && is_a_guess(self.uncounted);
        self.budget
            .exhausted(&self.spent)
            .or(money.then_some(BudgetKind::Cost))
            .or(tokens.then_some(BudgetKind::Tokens))
    }
}

/// Formats a request, with the system prompt first.
pub(super) fn request_messages(request: &ModelRequest) -> Value {
    let system = request
        .system
        .as_deref()
        .map(|text| message("system", [text_part(text)]));
    let messages = request.messages.iter().map(|it| match it {
        Message::User { text } => message("user", [text_part(text)]),
        Message::Assistant(answer) => json!({"role": "assistant", "parts": answer_parts(answer)}),
        Message::Results { results } => message(
            "tool",
            results.iter().map(|result| {
                json!({
                    "type": "tool_call_response", "id": result.call_id, "response": result.output,
                })
            }),
        ),
    });
    system.into_iter().chain(messages).collect()
}

/// Formats the parts of an answer. Opaque parts are left out.
pub(super) fn answer_parts(answer: &AssistantMessage) -> Value {
    let parts = answer.parts.iter().filter_map(|part| match &part.kind {
        PartKind::Text { text } => Some(text_part(text)),
        PartKind::Thinking { text } => Some(json!({"type": "reasoning", "content": text})),
        PartKind::ToolCall { id, name, input } => {
            Some(json!({"type": "tool_call", "id": id, "name": name, "arguments": input}))
        }
        PartKind::Opaque => None,
    });
    parts.collect()
}

fn message(role: &str, parts: impl IntoIterator<Item = Value>) -> Value {
    json!({"role": role, "parts": Value::from_iter(parts)})
}

fn text_part(text: &str) -> Value {
    json!({"type": "text", "content": text})
}

#[cfg(test)]
mod tests {
    use autonoe_core::agent::TokenUsage;

    use super::*;
    use crate::contract::{MessagePart, ToolResult};

    fn prices() -> PriceTable {
        serde_json::from_str(r#"{"known": {"input": "1", "output": "2"}}"#).expect("prices")
    }

    fn tokens(count: u64) -> TokenUsage {
        TokenUsage {
            input: count,
            ..TokenUsage::default()
        }
    }

    fn reported(count: u64) -> CallUsage {
        tokens(count).into()
    }

    #[test]
    fn a_session_with_a_model_of_unknown_price_costs_an_unknown_amount() {
        let mut account = Account::new(prices(), Budget::default());
        assert_eq!(account.cost(), Some(CostUsd::ZERO));

        let cost = account.record(&ModelIdentity::new("p", "known"), reported(1_000_000));
        assert_eq!(cost, Some(CostUsd::from_cents(100)));
        assert_eq!(account.cost(), Some(CostUsd::from_cents(100)));

        assert_eq!(
            account.record(&ModelIdentity::new("p", "other"), reported(1)),
            None
        );
        assert_eq!(account.cost(), None);
    }

    #[test]
    fn a_budget_is_spent_when_nothing_is_left_of_it() {
        let known = ModelIdentity::new("p", "known");
        let mut account = Account::new(prices(), Budget::default().with_tokens(10));

        account.record(&known, reported(9));
        assert_eq!(account.exhausted(), None);
        account.record(&known, reported(1));
        assert_eq!(account.exhausted(), Some(BudgetKind::Tokens));
    }

    #[test]
    fn a_budget_needs_exact_costs() {
        let known = ModelIdentity::new("p", "known");
        let dollar = Budget::default().with_cost(CostUsd::from_cents(100));
        for (budget, spent) in [
            (dollar, Some(BudgetKind::Cost)),
            (Budget::default().with_tokens(10), Some(BudgetKind::Tokens)),
            (Budget::default(), None),
        ] {
            let mut account = Account::new(prices(), budget);
            for _ in 0..MAX_UNKNOWN {
                assert_eq!(account.record(&known, CallUsage::UNKNOWN), None);
                assert_eq!(account.exhausted(), None, "{budget:?}");
            }

            account.record(&known, CallUsage::UNKNOWN);

            assert_eq!(account.exhausted(), spent, "{budget:?}");
            assert_eq!(account.cost(), None);
        }
    }

    #[test]
    fn known_usage_of_interrupted_answer_counts_against_budget() {
        let budget = Budget::default().with_cost(CostUsd::from_cents(100));
        let mut account = Account::new(prices(), budget);

        let cut = CallUsage::AtLeast(tokens(1_000_000));
        account.record(&ModelIdentity::new("p", "known"), cut);

        assert_eq!(account.exhausted(), Some(BudgetKind::Cost));
    }

    #[test]
    fn a_conversation_is_exported_in_the_format_of_the_conventions() {
        let mut request = ModelRequest::prompt("Look.").with_system("Be kind.".to_owned());
        let answer = AssistantMessage::new([
            MessagePart::thinking("Where?"),
            MessagePart::text("I look."),
            MessagePart::tool_call("call-1", "Read", json!({"path": "a"})),
            MessagePart::opaque(),
        ]);
        request.messages.push(answer.into());
        let result = ToolResult::ok("call-1", "Read", "text");
        request.messages.push(Message::results([result]));

        let messages = request_messages(&request);

        let expected = json!([
            {"role": "system", "parts": [{"type": "text", "content": "Be kind."}]},
            {"role": "user", "parts": [{"type": "text", "content": "Look."}]},
            {"role": "assistant", "parts": [
                {"type": "reasoning", "content": "Where?"},
                {"type": "text", "content": "I look."},
                {"type": "tool_call", "id": "call-1", "name": "Read", "arguments": {"path": "a"}},
            ]},
            {"role": "tool", "parts": [
                {"type": "tool_call_response", "id": "call-1", "response": "text"},
            ]},
        ]);
        assert_eq!(messages, expected);
    }
}
