//! Messages in, events out.

use autonoe_core::{
    AgentError, AgentSessionId, RateLimit, RateLimitStatus, StreamEvent, TokenUsage, ToolStatus,
};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::calls::{Calls, WasDenied};
use super::{Spending, Standing, Turns};
use crate::outcome::{Exit, HostAction, outcome};
use crate::wire::{
    ApiRetry, Assistant, Block, Message, RateLimitEvent, ResultMessage, ToolUse, User, UserBlock,
};

/// Makes the events of a session out of the messages of the program.
///
/// Tell it what the host does ([`prompted`](Self::prompted),
/// [`stopped`](Self::stopped), [`denied`](Self::denied)) and every message as it
/// comes. When [`standing`](Self::standing) says that the session is over, or
/// when there are no more messages, [`finish`](Self::finish) it.
///
/// ```
/// use autonoe_claude::events::{Standing, Translator};
/// use autonoe_claude::wire::Line;
/// use autonoe_core::StreamEvent;
///
/// let mut translator = Translator::new();
/// translator.prompted();
/// let mut events = Vec::new();
/// for text in [
///     r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}"#,
///     r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}"#,
///     r#"{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.5}"#,
/// ] {
///     let line = Line::from_text(text)?;
///     translator.observe(&line.read(), &mut events);
/// }
///
/// assert_eq!(translator.standing(), Standing::Over);
/// let finished = translator.finish(None, "", "2026-11-15T00:00:00Z".parse()?);
/// assert!(matches!(finished.end, Ok(StreamEvent::End { .. })));
/// assert_eq!(events[1], StreamEvent::text("Done."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Translator {
    turns: Turns,
    calls: Calls,
    spending: Spending,
    started: bool,
    session: Option<String>,
}

/// The end of a session.
#[derive(Debug)]
#[non_exhaustive]
pub struct Finished {
    /// What is still to be told before the end.
    pub events: Vec<StreamEvent>,
    /// The event `End`, or why there is none.
    pub end: Result<StreamEvent, AgentError>,
}

/// How an older build, which says so in no other way, starts the result of a refused call.
const REFUSALS: [&str; 3] = [
    "Permission to use ",
    "Claude requested permissions to ",
    "This command requires approval",
];

impl Translator {
    /// Makes a translator for one process.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes that the host has sent a prompt to which everything that follows belongs.
    ///
    /// A word in between, which the turn that is under way takes up, is none.
    pub fn prompted(&mut self) {
        self.turns.prompted();
        self.spending.begin();
        self.started = false;
    }

    /// Notes that the host stopped the session, or is about to.
    pub fn stopped(&mut self, action: HostAction) {
        self.turns.stopped(action);
    }

    /// Notes that the host refused the call.
    pub fn denied(&mut self, call_id: &str) {
        self.calls.denied(call_id);
    }

    /// Returns how far the session is.
    pub fn standing(&self) -> Standing {
        self.turns.standing()
    }

    /// Returns what is known of the turns and tasks.
    pub fn turns(&self) -> &Turns {
        &self.turns
    }

    /// Takes note of `message` and adds what it means to `events`.
    pub fn observe(&mut self, message: &Message<'_>, events: &mut Vec<StreamEvent>) {
        match message {
            Message::Init(init) => {
                self.session = init.session_id.as_deref().map(str::to_owned);
                self.start(init.model.as_deref(), events);
            }
            Message::Assistant(said) => self.said(said, events),
            Message::User(told) => self.told(told, events),
            Message::Result(result) => self.turn_ended(result, events),
            Message::RateLimit(event) => {
                if let Some(limit) = rate_limit(event) {
                    self.tell(StreamEvent::rate_limit(limit), events);
                }
            }
            Message::ApiRetry(retry) => self.warn(retry_text(retry), events),
            Message::PermissionDenied(denied) => {
                if let Some(call) = denied.tool_use_id.as_deref() {
                    self.calls.denied(call);
                }
            }
            Message::Informational(remark) => {
                let grave = matches!(remark.level.as_deref(), Some("warning" | "error"));
                if let (true, Some(content)) = (grave, remark.content.as_deref()) {
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

    /// Ends the session: there is an end, or an error that says why there is none.
    ///
    /// `exit` and `stderr` are those of the process, if it is gone. Calls
    /// without a result get one, so that none is left open.
    pub fn finish(&mut self, exit: Option<Exit>, stderr: &str, now: Timestamp) -> Finished {
        let evidence = self.turns.evidence(exit, stderr, now);
        // What a turn without a result cost, or a sub-agent that still works, is not told.
        let more = evidence.result.is_none() || self.turns.tasks().any_agent();
        let mut events = Vec::new();
        for call in self.calls.take_open() {
            let response = StreamEvent::tool_response(call, UNANSWERED, ToolStatus::Error);
            self.tell(response, &mut events);
        }
        let end = outcome(&evidence).into_core().map(|outcome| {
            self.start(None, &mut events);
            if more {
                self.spending.unknown_part();
                events.push(StreamEvent::usage(TokenUsage::default(), None));
            }
            StreamEvent::end(outcome, self.spending.query())
        });
        Finished { events, end }
    }

    /// Tells the start, if it was not told yet.
    fn start(&mut self, model: Option<&str>, events: &mut Vec<StreamEvent>) {
        if self.started {
            return;
        }
        self.started = true;
        let session = AgentSessionId::new(self.session.as_deref().unwrap_or_default());
        events.push(StreamEvent::started(session, model.map(str::to_owned)));
    }

    fn tell(&mut self, event: StreamEvent, events: &mut Vec<StreamEvent>) {
        self.start(None, events);
        events.push(event);
    }

    fn warn(&mut self, message: impl Into<String>, events: &mut Vec<StreamEvent>) {
        self.tell(StreamEvent::warning(message), events);
    }

    fn said(&mut self, said: &Assistant<'_>, events: &mut Vec<StreamEvent>) {
        if self.session.is_none() {
            self.session = said.session_id.as_deref().map(str::to_owned);
        }
        for block in &said.blocks {
            let event = match block {
                // These are the program's words, not the agent's.
                Block::Text(text) if said.is_synthetic() => {
                    if said.error.is_some() {
                        self.warn(text.as_ref(), events);
                    }
                    continue;
                }
                Block::Text(text) => StreamEvent::text(text.as_ref()),
                Block::Thinking(text) => StreamEvent::thinking(text.as_ref()),
                Block::ToolUse(tool) => {
                    if !self.calls.made(&tool.id) {
                        continue;
                    }
                    StreamEvent::tool_invocation(tool.id.as_ref(), tool.name.as_ref(), input(tool))
                }
                Block::Other(_) => continue,
            };
            let event = match said.parent_tool_use_id.as_deref() {
                Some(parent) => event.by_agent(said.subagent_type.as_deref().unwrap_or(parent)),
                None => event,
            };
            self.tell(event, events);
        }
    }

    fn told(&mut self, told: &User<'_>, events: &mut Vec<StreamEvent>) {
        for block in &told.blocks {
            let UserBlock::ToolResult(result) = block else {
                continue;
            };
            let call = result.tool_use_id.as_ref();
            let Some(denied) = self.calls.answered(call) else {
                tracing::debug!(
                    call,
                    "a result of a call that was not made or had one already"
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
                        format!("the call {call} was denied and ran all the same"),
                        events,
                    );
                    ToolStatus::Ok
                }
                (true, WasDenied::Yes) => ToolStatus::Denied,
                (true, WasDenied::No) if told.was_rejected(call) || refused() => ToolStatus::Denied,
                (true, WasDenied::No) => ToolStatus::Error,
            };
            let response = StreamEvent::tool_response(call, result.output.as_ref(), status);
            self.tell(response, events);
        }
    }

    fn turn_ended(&mut self, result: &ResultMessage<'_>, events: &mut Vec<StreamEvent>) {
        if !self.started && result.num_turns.unwrap_or_default() == 0 {
            // It could not even start: there is nothing to tell but why.
            self.spending.turn(result);
            return;
        }
        if let Some(odd) = odd_end(result) {
            self.warn(odd, events);
        }
        let spent = self.spending.turn(result);
        self.tell(StreamEvent::usage(spent.tokens, spent.cost), events);
        if result.terminal_reason.as_deref() == Some("aborted_streaming") {
            // The answer that was cut off costs too, and the program does not count it.
            self.spending.unknown_part();
            self.tell(StreamEvent::usage(TokenUsage::default(), None), events);
        }
    }
}

/// Returns what a tool is called with; its text if it cannot be read.
fn input(tool: &ToolUse<'_>) -> Value {
    match tool.input {
        None => Value::Object(Map::new()),
        Some(input) => input
            .value()
            .unwrap_or_else(|| Value::String(input.as_str().to_owned())),
    }
}

/// Says that a call of the model is made again.
fn retry_text(retry: &ApiRetry<'_>) -> String {
    let error = retry.error.as_deref().unwrap_or("no reason told");
    let failed = match retry.error_status {
        Some(status) => format!("the model's service answered {status} ({error})"),
        None => format!("a call of the model failed ({error})"),
    };
    let again = match (retry.attempt, retry.max_retries) {
        (Some(attempt), Some(most)) => format!("retry {attempt} of {most}"),
        (Some(attempt), None) => format!("retry {attempt}"),
        (None, _) => "retry".to_owned(),
    };
    match retry.retry_delay_ms {
        Some(delay) => format!("{failed}; {again} in {:.1} s", delay / 1000.0),
        None => format!("{failed}; {again}"),
    }
}

/// Says what is odd about the end of a turn that succeeded, if anything is.
pub(super) fn odd_end(result: &ResultMessage<'_>) -> Option<&'static str> {
    let stopped = result.terminal_reason.as_deref() == Some("hook_stopped");
    stopped.then_some("a hook ended the turn before the agent was done")
}

/// The result of a call that has none when its session ends.
pub(super) const UNANSWERED: &str = "the session ended before the call did";

/// Says in core's words what is left of a quota, if it is understood.
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
