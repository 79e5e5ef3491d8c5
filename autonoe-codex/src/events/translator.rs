//! Messages in, events out.

use std::collections::HashMap;

use autonoe_core::{
    AgentError, AgentSessionId, RateLimit, RateLimitStatus, SessionSpec, StreamEvent, ToolStatus,
};

use super::model_calls::ModelCalls;
use super::{Pace, Spending, call_of};
use crate::outcome::{Ending, HostAction, decide};
use crate::wire::{
    CommandItem, DynamicToolItem, Item, ItemStatus, McpToolItem, Notice, RateLimits, Turn,
    TurnStatus,
};

/// How full a window is when little is left, in percent.
const LITTLE_LEFT: f64 = 80.0;

/// Makes events of what the program tells about one conversation.
#[derive(Debug)]
pub struct Translator {
    spec: SessionSpec,
    thread: String,
    model: Option<String>,
    /// The turn that is under way.
    turn: Option<String>,
    /// What was warned of before a turn began.
    early: Vec<String>,
    /// Calls that were shown and not answered yet, in order.
    open: Vec<String>,
    /// Calls of this turn that were refused, and why.
    refused: HashMap<String, String>,
    spending: Spending,
    limits: RateLimits,
    ending: Ending,
    pace: Pace,
    model_calls: ModelCalls,
}

impl Translator {
    /// Makes a translator for the conversation `thread` of a session.
    pub fn new(spec: SessionSpec, thread: impl Into<String>, model: Option<String>) -> Self {
        Self {
            model_calls: ModelCalls::new(spec.events.clone(), model.as_deref()),
            spec,
            thread: thread.into(),
            model,
            turn: None,
            early: Vec::new(),
            open: Vec::new(),
            refused: HashMap::new(),
            spending: Spending::default(),
            limits: RateLimits::default(),
            ending: Ending::default(),
            pace: Pace::default(),
        }
    }

    /// Takes note that a turn was asked for.
    pub fn prompted(&mut self) {
        self.turn = None;
        self.open.clear();
        self.refused.clear();
        self.ending = Ending::default();
        self.pace = Pace::default();
    }

    /// Takes note that the host stops the turn.
    pub fn stopped(&mut self, action: HostAction) {
        self.ending.stopped.get_or_insert(action);
    }

    /// Takes note that a call was refused, and why.
    pub fn refused(&mut self, call: impl Into<String>, reason: impl Into<String>) {
        self.refused.insert(call.into(), reason.into());
    }

    /// Tells whether the turn is over.
    pub fn is_over(&self) -> bool {
        self.ending.status.is_some()
    }

    /// Returns the turn that is under way.
    pub fn turn(&self) -> Option<&str> {
        self.turn.as_deref()
    }

    /// Returns how often the model was called in this turn.
    pub fn pace(&self) -> &Pace {
        &self.pace
    }

    /// Takes note of `notice`, and adds what it means to `events`.
    pub fn observe(&mut self, notice: &Notice, events: &mut Vec<StreamEvent>) {
        if self.turn.is_some() && !self.is_over() {
            self.model_calls.observe(notice);
            self.pace.observe(notice);
        }
        match notice {
            Notice::TurnStarted(turn) => self.began(turn, events),
            Notice::TurnCompleted(turn) => self.completed(turn),
            Notice::ItemStarted(item) => self.show(item, events),
            Notice::ItemCompleted(item) => self.item(item, events),
            Notice::TokenUsage { thread, .. } if *thread != self.thread => {}
            Notice::TokenUsage {
                turn, total, last, ..
            } => {
                if self.turn.as_deref() == Some(turn) {
                    self.pace.answered();
                    let used = self.spending.spend(*total, *last);
                    self.model_calls.ended(used);
                    if used.total() > 0 {
                        events.push(StreamEvent::usage(used, None));
                    }
                } else {
                    self.spending.inherit(*total);
                }
            }
            Notice::RateLimits(limits) => self.limits(limits, events),
            Notice::Error(retried) if retried.will_retry => {
                let error = &retried.error;
                self.ending.last_retry = Some(error.codex_error_info.clone());
                let details = error.additional_details.as_deref();
                let details = details.map(|details| format!(": {details}"));
                let message = format!("{}{}", error.message, details.unwrap_or_default());
                events.push(StreamEvent::warning(message));
            }
            Notice::Warning(message) if self.turn.is_none() => {
                // One is told twice: about the program, and about the conversation.
                if !self.early.contains(message) {
                    self.early.push(message.clone());
                }
            }
            Notice::Warning(message) => events.push(StreamEvent::warning(message)),
            // What ends a turn is told again at its end.
            Notice::Error(_) | Notice::TextDelta { .. } | Notice::ThinkingDelta { .. } => {}
            // The session has emitted a warning of it.
            Notice::ServerReady { .. } | Notice::ServerFailed { .. } => {}
            Notice::Other { method, .. } => {
                tracing::trace!(%method, "a notice that says nothing to us");
            }
        }
    }

    fn began(&mut self, turn: &Turn, events: &mut Vec<StreamEvent>) {
        if self.turn.is_none() {
            self.turn = Some(turn.id.clone());
            let session = AgentSessionId::new(self.thread.clone());
            events.push(StreamEvent::started(session, self.model.clone()));
            let early = self.early.drain(..);
            events.extend(early.map(StreamEvent::warning));
        }
    }

    /// Takes note of the end of the turn. One that never began, or of another turn, says nothing.
    fn completed(&mut self, turn: &Turn) {
        if self.turn.as_deref() == Some(&turn.id) {
            self.ending.status = Some(turn.status);
            self.ending.error.clone_from(&turn.error);
        }
    }

    /// Shows the call that an item is, once.
    fn show(&mut self, item: &Item, events: &mut Vec<StreamEvent>) {
        if let Some(call) = call_of(item, &self.spec)
            && !self.open.contains(&call.id)
        {
            self.open.push(call.id.clone());
            events.push(StreamEvent::tool_invocation(call.id, call.name, call.input));
        }
    }

    fn item(&mut self, item: &Item, events: &mut Vec<StreamEvent>) {
        match item {
            Item::Message(said) if !said.text.is_empty() => {
                events.push(StreamEvent::text(&said.text));
            }
            Item::Reasoning(thought) => {
                let words = [&thought.content, &thought.summary];
                let words = words.into_iter().find(|words| !words.is_empty());
                let text = words.map(|words| words.join("\n\n")).unwrap_or_default();
                if !text.is_empty() {
                    events.push(StreamEvent::thinking(text));
                }
            }
            Item::Command(call) => self.answer(item, &call.id, of_command(call), events),
            Item::FileChange(call) => {
                let output = (String::new(), plain(call.status));
                self.answer(item, &call.id, output, events);
            }
            Item::McpTool(call) => self.answer(item, &call.id, of_mcp(call), events),
            Item::DynamicTool(call) => self.answer(item, &call.id, of_dynamic(call), events),
            Item::Message(_) | Item::Other(_) => {}
        }
    }

    /// Answers the call that an item is. The program may never have said that it began.
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
        // With most answers it says that it knows nothing.
        if limits.windows().next().is_none() || self.limits == *limits {
            return;
        }
        self.limits = limits.clone();
        for window in limits.windows() {
            let status = match window.used_percent {
                _ if window.is_spent() => RateLimitStatus::Rejected,
                used if used >= LITTLE_LEFT => RateLimitStatus::Warning,
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

    /// Ends the turn: what is left to be told, and how it ended. A program that is gone says
    /// nothing any more; `gone` is what is known of its end.
    pub fn finish(
        &mut self,
        gone: Option<String>,
    ) -> (Vec<StreamEvent>, Result<StreamEvent, AgentError>) {
        self.model_calls.over();
        let mut events = Vec::new();
        for call in std::mem::take(&mut self.open) {
            events.push(match self.refused.remove(&call) {
                Some(reason) => StreamEvent::tool_response(call, reason, ToolStatus::Denied),
                None => StreamEvent::tool_response(
                    call,
                    "the turn was over before the call was",
                    ToolStatus::Error,
                ),
            });
        }
        let mut ending = std::mem::take(&mut self.ending);
        ending.limits = self.limits.clone();
        ending.gone = gone;
        // A turn that was stopped in time may say that it failed because it was.
        if ending.stopped.is_some() && ending.status == Some(TurnStatus::Failed) {
            ending.status = Some(TurnStatus::Interrupted);
        }
        let end = decide(&ending).map(|outcome| StreamEvent::end(outcome, None));
        (events, end)
    }
}

fn plain(status: ItemStatus) -> ToolStatus {
    match status {
        ItemStatus::Completed => ToolStatus::Ok,
        ItemStatus::Declined => ToolStatus::Denied,
        ItemStatus::Failed | ItemStatus::InProgress | ItemStatus::Unknown => ToolStatus::Error,
    }
}

fn of_command(item: &CommandItem) -> (String, ToolStatus) {
    let output = item.aggregated_output.clone().unwrap_or_default();
    (output, plain(item.status))
}

fn of_mcp(item: &McpToolItem) -> (String, ToolStatus) {
    let output = match (&item.error, &item.result) {
        (Some(error), _) => error.message.clone(),
        (None, Some(result)) => result.text(),
        (None, None) => String::new(),
    };
    (output, plain(item.status))
}

fn of_dynamic(item: &DynamicToolItem) -> (String, ToolStatus) {
    let pieces = item.content_items.iter().flatten();
    let texts = pieces.filter_map(|piece| piece.text.as_deref());
    let output = texts.collect::<Vec<_>>().join("\n");
    match item.success {
        Some(false) => (output, ToolStatus::Error),
        _ => (output, plain(item.status)),
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
