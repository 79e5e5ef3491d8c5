//! [`ModelCalls`] of a turn, as far as the program reports them.

use autonoe_core::agent::{
    ModelAnswer, ModelCall, ModelCallRequest, ModelMessages, ModelPart, TokenUsage,
};
use autonoe_core::event::{Events, Failure};
use serde_json::json;

use crate::wire::{Item, Notification, TokenTotals};

/// Emits events for each call of the model, chunk by chunk.
///
/// The program reports neither the start of a model call nor its messages: a call starts with its
/// first output, and ends with the report of its usage. A call that fails before its first output
/// has no events.
#[derive(Debug)]
pub(super) struct ModelCalls {
    events: Events,
    model: String,
    open: Option<ModelCall>,
    text: String,
    tools: usize,
}

impl ModelCalls {
    pub(super) fn new(events: Events, model: Option<&str>) -> Self {
        Self {
            events,
            model: model.unwrap_or("unknown").to_owned(),
            open: None,
            text: String::new(),
            tools: 0,
        }
    }

    /// Observes the output of a model call.
    pub(super) fn observe(&mut self, notice: &Notification) {
        match notice {
            Notification::ItemStarted(Item::Other(_))
            | Notification::ItemCompleted(Item::Other(_)) => {}
            Notification::ItemStarted(Item::Message(_) | Item::Reasoning(_)) => {
                self.call();
            }
            Notification::ItemStarted(_) => {
                self.tools += 1;
                self.call();
            }
            Notification::TextDelta { delta, .. } => self.call().chunk(ModelPart::Text, delta),
            Notification::ThinkingDelta { delta, .. } => {
                self.call().chunk(ModelPart::Thinking, delta);
            }
            Notification::ItemCompleted(Item::Message(message)) => {
                self.text.push_str(&message.text);
            }
            Notification::Error(failed) => {
                if let Some(call) = self.open.take() {
                    let error = Failure::permanent("model_failed", &failed.error.message);
                    call.failed(&error, TokenUsage::default());
                }
                self.reset();
            }
            _ => {}
        }
    }

    /// Records the end of a call and its usage.
    pub(super) fn ended(&mut self, tokens: TokenUsage) {
        self.call();
        if let Some(call) = self.open.take() {
            let answer = ModelAnswer::new(&self.text, tokens).with_tool_calls(self.tools);
            call.ended(&answer);
        }
        self.reset();
    }

    /// Records the end of the turn.
    pub(super) fn end_turn(&mut self) {
        self.open = None;
        self.reset();
    }

    fn reset(&mut self) {
        self.text.clear();
        self.tools = 0;
    }

    fn call(&mut self) -> &ModelCall {
        self.open.get_or_insert_with(|| {
            let unknown = || json!([]);
            let messages = ModelMessages::new(0, &unknown);
            self.events
                .model_call(&ModelCallRequest::new(&self.model, messages))
        })
    }
}

/// Computes the usage of model calls from totals of the whole conversation.
///
/// ```
/// use autonoe_codex::events::UsageTracker;
/// use autonoe_codex::wire::TokenTotals;
///
/// let totals = |input: u64| -> TokenTotals {
///     serde_json::from_value(serde_json::json!({"inputTokens": input})).expect("totals")
/// };
/// let mut spending = UsageTracker::default();
///
/// // The earlier turns of the conversation are not part of this session.
/// assert_eq!(spending.usage_since_last(totals(500), totals(100)).input, 100);
/// assert_eq!(spending.usage_since_last(totals(530), totals(30)).input, 30);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct UsageTracker {
    total: Option<TokenTotals>,
}

impl UsageTracker {
    /// Sets the total of an earlier turn.
    pub fn inherit(&mut self, total: TokenTotals) {
        self.total = Some(total);
    }

    /// Returns the usage since the last total. `last` is the usage of the last model call.
    pub fn usage_since_last(&mut self, total: TokenTotals, last: TokenTotals) -> TokenUsage {
        let before = self.total.unwrap_or_else(|| total.since(last));
        self.total = Some(total);
        total.since(before).into()
    }
}
