//! [`Translator`] of the program's notifications to stream events.

use std::collections::HashMap;

use autonoe_core::agent::{RateLimit, RateLimitStatus};
use autonoe_core::time::AgentSessionId;
use autonoe_core::tool::ToolStatus;
use autonoe_core::{AgentError, SessionSpec, StreamEvent};

use super::model_calls::ModelCalls;
use super::{ModelCallCounter, UsageTracker, tool_call};
use crate::outcome::{Ending, HostAction, decide};
use crate::wire::{
    CommandItem, DynamicToolItem, Item, ItemStatus, McpToolItem, Notification, RateLimits, Turn,
    TurnStatus,
};

/// Usage of a window, in percent, from which on a warning is emitted.
const WARNING_PERCENT: f64 = 80.0;

/// Translates notifications about one conversation to stream events.
#[derive(Debug)]
pub struct Translator {
    spec: SessionSpec,
    thread: String,
    model: Option<String>,
    /// The running turn.
    turn: Option<String>,
    /// Whether the start of the conversation was reported for the next turn.
    is_start_reported: bool,
    /// Warnings from before the first turn.
    early: Vec<String>,
    /// Calls that were reported and have no response yet, in order.
    open: Vec<String>,
    /// Refused calls of this turn, with the reason.
    refused: HashMap<String, String>,
    usage_tracker: UsageTracker,
    limits: RateLimits,
    ending: Ending,
    counter: ModelCallCounter,
    model_calls: ModelCalls,
}

impl Translator {
    /// Creates a translator for the conversation `thread` of a session.
    pub fn new(spec: SessionSpec, thread: impl Into<String>, model: Option<String>) -> Self {
        Self {
            model_calls: ModelCalls::new(spec.events.clone(), model.as_deref()),
            spec,
            thread: thread.into(),
            model,
            turn: None,
            is_start_reported: false,
            early: Vec::new(),
            open: Vec::new(),
            refused: HashMap::new(),
            usage_tracker: UsageTracker::default(),
            limits: RateLimits::default(),
            ending: Ending::default(),
            counter: ModelCallCounter::default(),
        }
    }

    /// Starts a new turn. It is called when a prompt is sent.
    pub fn start_turn(&mut self) {
        self.turn = None;
        self.open.clear();
        self.refused.clear();
        self.ending = Ending::default();
        self.counter = ModelCallCounter::default();
    }

    /// Returns the first event of the next turn, which is otherwise emitted when the program starts
    /// the turn.
    pub fn report_start(&mut self) -> StreamEvent {
        self.is_start_reported = true;
        self.started_event()
    }

    fn started_event(&self) -> StreamEvent {
        let session = AgentSessionId::new(self.thread.clone());
        StreamEvent::started(session, self.model.clone())
    }

    /// Records that the host stops the turn.
    pub fn record_stop(&mut self, action: HostAction) {
        self.ending.stopped.get_or_insert(action);
    }

    /// Records that a call was refused, and why.
    pub fn record_refusal(&mut self, call: impl Into<String>, reason: impl Into<String>) {
        self.refused.insert(call.into(), reason.into());
    }

    /// Returns whether the turn is over.
    pub fn is_over(&self) -> bool {
        self.ending.status.is_some()
    }

    /// Returns the running turn.
    pub fn turn(&self) -> Option<&str> {
        self.turn.as_deref()
    }

    /// Returns the counter of model calls in this turn.
    pub fn model_call_counter(&self) -> &ModelCallCounter {
        &self.counter
    }

    /// Handles `notification`, and adds its events to `events`.
    pub fn observe(&mut self, notification: &Notification, events: &mut Vec<StreamEvent>) {
        if self.turn.is_some() && !self.is_over() {
            self.model_calls.observe(notification);
            self.counter.observe(notification);
        }
        match notification {
            Notification::TurnStarted(turn) => self.turn_started(turn, events),
            Notification::TurnCompleted(turn) => self.completed(turn),
            Notification::ItemStarted(item) => self.show(item, events),
            Notification::ItemCompleted(item) => self.item(item, events),
            Notification::TokenUsage { thread, .. } if *thread != self.thread => {}
            Notification::TokenUsage {
                turn, total, last, ..
            } => {
                if self.turn.as_deref() == Some(turn) {
                    self.counter.end_call();
                    let used = self.usage_tracker.usage_since_last(*total, *last);
                    self.model_calls.ended(used);
                    if used.total() > 0 {
                        events.push(StreamEvent::usage(used, None));
                    }
                } else {
                    self.usage_tracker.inherit(*total);
                }
            }
            Notification::RateLimits(limits) => self.limits(limits, events),
            Notification::Error(retried) if retried.will_retry => {
                let error = &retried.error;
                self.ending.last_retry = Some(error.codex_error_info.clone());
                let details = error.additional_details.as_deref();
                let details = details.map(|details| format!(": {details}"));
                let message = format!("{}{}", error.message, details.unwrap_or_default());
                events.push(StreamEvent::warning(message));
            }
            Notification::Warning(message) if self.turn.is_none() => {
                // The program sends some warnings twice: about itself, and about the conversation.
                if !self.early.contains(message) {
                    self.early.push(message.clone());
                }
            }
            Notification::Warning(message) => events.push(StreamEvent::warning(message)),
            // The error that ends a turn is repeated at its end.
            Notification::Error(_)
            | Notification::TextDelta(_)
            | Notification::ThinkingDelta(_) => {}
            // The session has emitted a warning of it.
            Notification::ServerReady { .. } | Notification::ServerFailed { .. } => {}
            Notification::Other { method, .. } => {
                tracing::trace!(%method, "ignored a notification");
            }
        }
    }

    fn turn_started(&mut self, turn: &Turn, events: &mut Vec<StreamEvent>) {
        if self.turn.is_none() {
            self.turn = Some(turn.id.clone());
            if !std::mem::take(&mut self.is_start_reported) {
                events.push(self.started_event());
            }
            let early = self.early.drain(..);
            events.extend(early.map(StreamEvent::warning));
        }
    }

    /// Records the end of the turn. The end of a turn that never started, or of another one, is
    /// ignored.
    fn completed(&mut self, turn: &Turn) {
        if self.turn.as_deref() == Some(&turn.id) {
            self.ending.status = Some(turn.status);
            self.ending.error.clone_from(&turn.error);
        }
    }

    /// Emits the tool call of an item, once.
    fn show(&mut self, item: &Item, events: &mut Vec<StreamEvent>) {
        if let Some(call) = tool_call(item, &self.spec)
            && !self.open.contains(&call.id)
        {
            self.open.push(call.id.clone());
            events.push(StreamEvent::tool_invocation(call.id, call.name, call.input));
        }
    }

    fn item(&mut self, item: &Item, events: &mut Vec<StreamEvent>) {
        match item {
            Item::Message(message) if !message.text.is_empty() => {
                events.push(StreamEvent::text(&message.text));
            }
            Item::Reasoning(thought) => {
                let parts = [&thought.content, &thought.summary];
                let parts = parts.into_iter().find(|parts| !parts.is_empty());
                let text = parts.map(|parts| parts.join("\n\n")).unwrap_or_default();
                if !text.is_empty() {
                    events.push(StreamEvent::thinking(text));
                }
            }
            Item::Command(call) => self.answer(item, &call.id, command_output(call), events),
            Item::FileChange(call) => {
                let output = (String::new(), tool_status(call.status));
                self.answer(item, &call.id, output, events);
            }
            Item::McpTool(call) => self.answer(item, &call.id, mcp_output(call), events),
            Item::DynamicTool(call) => self.answer(item, &call.id, dynamic_output(call), events),
            Item::Message(_) | Item::Other(_) => {}
        }
    }

    /// Emits the response of the tool call of an item. The program may not have reported its start.
    fn answer(
        &mut self,
        item: &Item,
        id: &str,
        (output, status): (String, ToolStatus),
        events: &mut Vec<StreamEvent>,
    ) {
        self.show(item, events);
        self.open.retain(|open| open != id);
        events.push(match self.refused.remove(id) {
            Some(reason) => StreamEvent::tool_response(id, reason, ToolStatus::Denied),
            None => StreamEvent::tool_response(id, output, status),
        });
    }

    fn limits(&mut self, limits: &RateLimits, events: &mut Vec<StreamEvent>) {
        // Most reports contain no windows.
        if limits.windows().next().is_none() || self.limits == *limits {
            return;
        }
        self.limits = limits.clone();
        for window in limits.windows() {
            let status = match window.used_percent {
                _ if window.is_spent() => RateLimitStatus::Rejected,
                used if used >= WARNING_PERCENT => RateLimitStatus::Warning,
                _ => RateLimitStatus::Allowed,
            };
            events.push(StreamEvent::rate_limit(RateLimit {
                status,
                window: window.name(),
                resets_at: window.resets_at(),
                used_percent: Some(percent(window.used_percent)),
            }));
        }
    }

    /// Ends the turn, and returns its last events and its outcome. If the program has exited,
    /// `gone` describes its end.
    pub fn finish(
        &mut self,
        exit_description: Option<String>,
    ) -> (Vec<StreamEvent>, Result<StreamEvent, AgentError>) {
        self.model_calls.end_turn();
        let mut events = Vec::new();
        for call in std::mem::take(&mut self.open) {
            events.push(match self.refused.remove(&call) {
                Some(reason) => StreamEvent::tool_response(call, reason, ToolStatus::Denied),
                None => StreamEvent::tool_response(
                    call,
                    "the turn ended before the call did",
                    ToolStatus::Error,
                ),
            });
        }
        let mut ending = std::mem::take(&mut self.ending);
        ending.limits = self.limits.clone();
        ending.exit_description = exit_description;
        // A turn that was stopped may be reported as failed.
        if ending.stopped.is_some() && ending.status == Some(TurnStatus::Failed) {
            ending.status = Some(TurnStatus::Interrupted);
        }
        let end = decide(&ending).map(|outcome| StreamEvent::end(outcome, None));
        (events, end)
    }
}

fn tool_status(status: ItemStatus) -> ToolStatus {
    match status {
        ItemStatus::Completed => ToolStatus::Ok,
        ItemStatus::Declined => ToolStatus::Denied,
        ItemStatus::Failed | ItemStatus::InProgress | ItemStatus::Unknown => ToolStatus::Error,
    }
}

fn command_output(item: &CommandItem) -> (String, ToolStatus) {
    let output = item.aggregated_output.clone().unwrap_or_default();
    (output, tool_status(item.status))
}

fn mcp_output(item: &McpToolItem) -> (String, ToolStatus) {
    let output = match (&item.error, &item.result) {
        (Some(error), _) => error.message.clone(),
        (None, Some(result)) => result.text(),
        (None, None) => String::new(),
    };
    (output, tool_status(item.status))
}

fn dynamic_output(item: &DynamicToolItem) -> (String, ToolStatus) {
    let pieces = item.content_items.iter().flatten();
    let texts = pieces.filter_map(|piece| piece.text.as_deref());
    let output = texts.collect::<Vec<_>>().join("\n");
    match item.success {
        Some(false) => (output, ToolStatus::Error),
        _ => (output, tool_status(item.status)),
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is between 0 and 255"
)]
fn percent(used: f64) -> u8 {
    used.clamp(0.0, 255.0) as u8
}
