//! [`Translator`] of the program's messages to stream events.

use autonoe_core::agent::{RateLimit, RateLimitStatus, TokenUsage};
use autonoe_core::time::AgentSessionId;
use autonoe_core::tool::ToolStatus;
use autonoe_core::{AgentError, StreamEvent};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::turns::{OpenCalls, WasDenied};
use super::{SessionPhase, Turns, UsageTracker};
use crate::outcome::{Exit, HostAction, decide};
use crate::wire::{
    ApiRetry, Assistant, Block, Message, RateLimitEvent, ResultMessage, ToolUse, User, UserBlock,
};

/// Translates the messages of the program to the events of a session.
///
/// Report the actions of the host to it (`prompted`, `stopped`,
/// `denied`), and every message in order. When `standing` reports
/// that the session is over, or when there are no more messages, [`finish`](Self::finish) it.
///
/// ```
/// use autonoe_claude::events::{SessionPhase, Translator};
/// use autonoe_claude::wire::Line;
/// use autonoe_core::StreamEvent;
///
/// let mut translator = Translator::new();
/// translator.start_query();
/// let mut events = Vec::new();
/// for text in [
///     r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}"#,
///     r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}"#,
///     r#"{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.5}"#,
/// ] {
///     let line = Line::from_text(text)?;
///     translator.observe(&line.parse(), &mut events);
/// }
///
/// assert_eq!(translator.phase(), SessionPhase::Over);
/// let finished = translator.finish(None, "", "2026-11-15T00:00:00Z".parse()?);
/// assert!(matches!(finished.end, Ok(StreamEvent::End { .. })));
/// assert_eq!(events[1], StreamEvent::text("Done."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Translator {
    turns: Turns,
    calls: OpenCalls,
    usage_tracker: UsageTracker,
    started: bool,
    session: Option<String>,
}

/// The end of a session.
#[derive(Debug)]
pub struct FinishedSession {
    /// The last events before the end.
    pub events: Vec<StreamEvent>,
    /// The event `End`, or the error.
    pub end: Result<StreamEvent, AgentError>,
}

/// The beginnings of a denied call's result in older builds, which mark it in no other way.
const REFUSALS: [&str; 3] = [
    "Permission to use ",
    "Claude requested permissions to ",
    "This command requires approval",
];

impl Translator {
    /// Creates a translator for one process.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records that the host has sent a prompt, which starts a new query.
    ///
    /// Do not call it for a steering message, which belongs to the running turn.
    pub fn start_query(&mut self) {
        self.turns.start_query();
        self.usage_tracker.start_query();
        self.started = false;
    }

    /// Records that the host stopped the session, or is about to.
    pub fn record_stop(&mut self, action: HostAction) {
        self.turns.record_stop(action);
    }

    /// Records that the host denied the call.
    pub fn record_denial(&mut self, call_id: &str) {
        self.calls.record_denial(call_id);
    }

    /// Returns the state of the session.
    pub fn phase(&self) -> SessionPhase {
        self.turns.phase()
    }

    /// Returns the turns and tasks.
    pub fn turns(&self) -> &Turns {
        &self.turns
    }

    /// Handles `message`, and adds its events to `events`.
    pub fn observe(&mut self, message: &Message<'_>, events: &mut Vec<StreamEvent>) {
        match message {
            Message::Init(init) => {
                self.session = init.session_id.as_deref().map(str::to_owned);
                self.start(init.model.as_deref(), events);
            }
            Message::Assistant(assistant) => self.handle_assistant(assistant, events),
            Message::User(user) => self.handle_user(user, events),
            Message::Result(result) => self.turn_ended(result, events),
            Message::RateLimit(event) => {
                if let Some(limit) = rate_limit(event) {
                    self.emit(StreamEvent::rate_limit(limit), events);
                }
            }
            Message::ApiRetry(retry) => self.warn(retry_text(retry), events),
            Message::PermissionDenied(denied) => {
                if let Some(call) = denied.tool_use_id.as_deref() {
                    self.calls.record_denial(call);
                }
            }
            Message::Informational(remark) => {
                let is_serious = matches!(remark.level.as_deref(), Some("warning" | "error"));
                if let (true, Some(content)) = (is_serious, remark.content.as_deref()) {
                    self.warn(content, events);
                }
            }
            Message::Status(status) => {
                if let Some(error) = status.compact_error.as_deref() {
                    let message = format!("the conversation could not be compacted: {error}");
                    self.warn(message, events);
                }
            }
            Message::Unreadable { reason } => {
                let message = format!("a message of Claude Code could not be read: {reason}");
                self.warn(message, events);
            }
            _ => {}
        }
        self.turns.observe(message, &self.calls);
    }

    /// Ends the session, with an `End` event or an error.
    ///
    /// `exit` and `stderr` are those of the process, if it has exited. Calls without a result get
    /// one, so that none is left open.
    pub fn finish(&mut self, exit: Option<Exit>, stderr: &str, now: Timestamp) -> FinishedSession {
        let evidence = self.turns.evidence(exit, stderr, now);
        // The cost of a turn without a result, or of a running sub-agent, is unknown.
        let more = evidence.result.is_none() || self.turns.tasks().any_agent();
        let mut events = Vec::new();
        for call in self.calls.take_open() {
            let response = StreamEvent::tool_response(call, UNANSWERED, ToolStatus::Error);
            self.emit(response, &mut events);
        }
        let end = decide(&evidence).map(|outcome| {
            self.start(None, &mut events);
            if more {
                self.usage_tracker.add_unknown();
                events.push(StreamEvent::usage(TokenUsage::default(), None));
            }
            StreamEvent::end(outcome, self.usage_tracker.query())
        });
        FinishedSession { events, end }
    }

    /// Emits the start, if it was not emitted yet.
    fn start(&mut self, model: Option<&str>, events: &mut Vec<StreamEvent>) {
        if self.started {
            return;
        }
        self.started = true;
        let session = AgentSessionId::new(self.session.as_deref().unwrap_or_default());
        events.push(StreamEvent::started(session, model.map(str::to_owned)));
    }

    fn emit(&mut self, event: StreamEvent, events: &mut Vec<StreamEvent>) {
        self.start(None, events);
        events.push(event);
    }

    fn warn(&mut self, message: impl Into<String>, events: &mut Vec<StreamEvent>) {
        self.emit(StreamEvent::warning(message), events);
    }

    fn handle_assistant(&mut self, assistant: &Assistant<'_>, events: &mut Vec<StreamEvent>) {
        if self.session.is_none() {
            self.session = assistant.session_id.as_deref().map(str::to_owned);
        }
        for block in &assistant.blocks {
            let event = match block {
                // This is a text of the program, not of the agent.
                Block::Text(text) if assistant.is_synthetic() => {
                    if assistant.error.is_some() {
                        self.warn(text.as_ref(), events);
                    }
                    continue;
                }
                Block::Text(text) => StreamEvent::text(text.as_ref()),
                Block::Thinking(text) => StreamEvent::thinking(text.as_ref()),
                Block::ToolUse(tool) => {
                    if !self.calls.record_call(&tool.id) {
                        continue;
                    }
                    StreamEvent::tool_invocation(tool.id.as_ref(), tool.name.as_ref(), input(tool))
                }
                Block::Other(_) => continue,
            };
            let event = match assistant.parent_tool_use_id.as_deref() {
                Some(parent) => {
                    event.by_agent(assistant.subagent_type.as_deref().unwrap_or(parent))
                }
                None => event,
            };
            self.emit(event, events);
        }
    }

    fn handle_user(&mut self, user: &User<'_>, events: &mut Vec<StreamEvent>) {
        for block in &user.blocks {
            let UserBlock::ToolResult(result) = block else {
                continue;
            };
            let call = result.tool_use_id.as_ref();
            let Some(denied) = self.calls.record_result(call) else {
                tracing::debug!(
                    call,
                    "ignored the result of a call that is unknown or already has one"
                );
                continue;
            };
            let refused = || {
                REFUSALS
                    .iter()
                    .any(|start| result.output.starts_with(start))
            };
            let status = match (result.is_error, denied) {
                (false, WasDenied::No) => ToolStatus::Ok,
                (false, WasDenied::Yes) => {
                    self.warn(
                        format!("the call {call} was denied, but Claude Code ran it"),
                        events,
                    );
                    ToolStatus::Ok
                }
                (true, WasDenied::Yes) => ToolStatus::Denied,
                (true, WasDenied::No) if user.was_rejected(call) || refused() => ToolStatus::Denied,
                (true, WasDenied::No) => ToolStatus::Error,
            };
            let response = StreamEvent::tool_response(call, result.output.as_ref(), status);
            self.emit(response, events);
        }
    }

    fn turn_ended(&mut self, result: &ResultMessage<'_>, events: &mut Vec<StreamEvent>) {
        if !self.started && result.num_turns.unwrap_or_default() == 0 {
            // The turn could not even start, so the only event is the error.
            self.usage_tracker.turn(result);
            return;
        }
        if let Some(warning) = unusual_end(result) {
            self.warn(warning, events);
        }
        let spent = self.usage_tracker.turn(result);
        self.emit(StreamEvent::usage(spent.tokens, spent.cost), events);
        if result.terminal_reason.as_deref() == Some("aborted_streaming") {
            // The interrupted answer has a cost too, which the program does not count.
            self.usage_tracker.add_unknown();
            self.emit(StreamEvent::usage(TokenUsage::default(), None), events);
        }
    }
}

/// Returns the input of a tool; as text if it cannot be parsed.
fn input(tool: &ToolUse<'_>) -> Value {
    match tool.input {
        None => Value::Object(Map::new()),
        Some(input) => input
            .value()
            .unwrap_or_else(|| Value::String(input.as_str().to_owned())),
    }
}

/// Describes a retry of a model call.
fn retry_text(retry: &ApiRetry<'_>) -> String {
    let error = retry.error.as_deref().unwrap_or("no reason given");
    let failed = match retry.error_status {
        Some(status) => format!("the model's service answered {status} ({error})"),
        None => format!("a model call failed ({error})"),
    };
    let retry_number = match (retry.attempt, retry.max_retries) {
        (Some(attempt), Some(most)) => format!("retry {attempt} of {most}"),
        (Some(attempt), None) => format!("retry {attempt}"),
        (None, _) => "retry".to_owned(),
    };
    match retry.retry_delay_ms {
        Some(delay) => format!("{failed}; {retry_number} in {:.1} s", delay / 1000.0),
        None => format!("{failed}; {retry_number}"),
    }
}

/// Returns a warning about the unusual end of a successful turn.
pub(super) fn unusual_end(result: &ResultMessage<'_>) -> Option<&'static str> {
    let stopped = result.terminal_reason.as_deref() == Some("hook_stopped");
    stopped.then_some("a hook ended the turn before the agent was done")
}

/// The result of a call that has none when its session ends.
pub(super) const UNANSWERED: &str = "the session ended before the call did";

/// Converts a quota event to the type of core, if its status is known.
pub(super) fn rate_limit(event: &RateLimitEvent<'_>) -> Option<RateLimit> {
    let status = match event.status.as_deref()? {
        "allowed" => RateLimitStatus::Allowed,
        "allowed_warning" => RateLimitStatus::Warning,
        "rejected" => RateLimitStatus::Rejected,
        other => {
            tracing::debug!(status = other, "an unknown status of a quota");
            return None;
        }
    };
    Some(RateLimit {
        status,
        window: event.claim.as_deref().map(str::to_owned),
        resets_at: event.resets_at,
        used_percent: event.utilization.map(percent),
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast stops at the ends, which is what is wanted"
)]
fn percent(part: f64) -> u8 {
    (part * 100.0).round() as u8
}
