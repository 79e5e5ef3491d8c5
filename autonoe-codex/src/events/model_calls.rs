//! [`ModelCalls`] of a turn, their usage, and the [`ModelCallCounter`].

use std::collections::HashSet;

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
    pub(super) fn observe(&mut self, notification: &Notification) {
        match notification {
            Notification::ItemStarted(Item::Other(_))
            | Notification::ItemCompleted(Item::Other(_)) => {}
            Notification::ItemStarted(Item::Message(_) | Item::Reasoning(_)) => {
                self.call();
            }
            Notification::ItemStarted(_) => {
                self.tools += 1;
                self.call();
            }
            Notification::TextDelta(delta) => self.call().chunk(ModelPart::Text, delta),
            Notification::ThinkingDelta(delta) => {
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
/// let mut usage_tracker = UsageTracker::default();
///
/// // The earlier turns of the conversation are not part of this session.
/// assert_eq!(usage_tracker.usage_since_last(totals(500), totals(100)).input, 100);
/// assert_eq!(usage_tracker.usage_since_last(totals(530), totals(30)).input, 30);
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

/// Counts the model calls of a turn, and detects whether another one follows.
///
/// The tool calls of a model call start before its usage is reported. Everything that starts after
/// the report belongs to the next model call.
///
/// ```
/// use autonoe_codex::events::ModelCallCounter;
///
/// let mut counter = ModelCallCounter::default();
/// counter.end_call();
///
/// // The answer has no tool calls, so the turn is about to end.
/// assert!(!counter.exceeds(1));
/// ```
#[derive(Clone, Debug, Default)]
pub struct ModelCallCounter {
    calls: u32,
    /// Tool calls that the current model call has started.
    started: u32,
    /// Whether the last model call started any, so that another model call follows.
    has_tools: bool,
    /// Running tool calls.
    open: HashSet<String>,
    /// Whether a model call without a usage report has produced output.
    has_more: bool,
}

impl ModelCallCounter {
    /// Observes the output of a model call.
    pub fn observe(&mut self, notification: &Notification) {
        match notification {
            Notification::ItemStarted(Item::Other(_)) => {}
            Notification::ItemStarted(item) => {
                self.has_more = true;
                if let Some(id) = item.call_id() {
                    self.started += 1;
                    self.open.insert(id.to_owned());
                }
            }
            Notification::ItemCompleted(item) => {
                if let Some(id) = item.call_id() {
                    self.open.remove(id);
                }
            }
            _ => {}
        }
    }

    /// Records the end of a model call.
    pub fn end_call(&mut self) {
        self.calls += 1;
        self.has_tools = std::mem::take(&mut self.started) > 0;
        self.has_more = false;
    }

    /// Returns the number of finished model calls.
    pub fn calls(&self) -> u32 {
        self.calls
    }

    /// Returns whether the model was called `most` times, all tool calls of the last call are
    /// finished, and another model call follows.
    pub fn exceeds(&self, most: u32) -> bool {
        self.calls > most
            || self.calls == most && (self.has_more || self.has_tools && self.open.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn begins(kind: &str, id: &str) -> Notification {
        Notification::ItemStarted(Item::parse(&json!({"type": kind, "id": id})))
    }

    fn ends(kind: &str, id: &str) -> Notification {
        Notification::ItemCompleted(Item::parse(&json!({"type": kind, "id": id})))
    }

    #[test]
    fn the_tool_calls_of_the_last_model_call_finish_before_the_limit_is_exceeded() {
        let mut counter = ModelCallCounter::default();
        for notification in [begins("commandExecution", "1"), begins("fileChange", "2")] {
            counter.observe(&notification);
        }
        counter.end_call();
        assert!(!counter.exceeds(1), "both are under way");

        counter.observe(&ends("commandExecution", "1"));
        assert!(!counter.exceeds(1), "one is under way");

        counter.observe(&ends("fileChange", "2"));
        assert!(counter.exceeds(1), "the model is called again");
        assert!(!counter.exceeds(2));
    }

    #[test]
    fn a_tool_call_that_finishes_before_its_answer_counts_as_well() {
        let mut counter = ModelCallCounter::default();
        counter.observe(&begins("dynamicToolCall", "1"));
        counter.observe(&ends("dynamicToolCall", "1"));
        assert!(!counter.exceeds(1));

        counter.end_call();

        assert!(counter.exceeds(1));
    }

    #[test]
    fn new_items_belong_to_the_next_model_call() {
        for kind in ["agentMessage", "reasoning", "mcpToolCall"] {
            let mut counter = ModelCallCounter::default();
            counter.end_call();
            assert!(!counter.exceeds(1), "{kind}");

            counter.observe(&begins(kind, "2"));

            assert!(counter.exceeds(1), "{kind}");
        }
    }

    #[test]
    fn messages_of_the_host_belong_to_no_model_call() {
        let mut counter = ModelCallCounter::default();
        counter.end_call();

        counter.observe(&begins("userMessage", "2"));

        assert!(!counter.exceeds(1));
    }
}
