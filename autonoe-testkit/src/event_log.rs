//! Observer that renders the events of a run as reviewable lines.

use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use autonoe_core::agent::SessionEnd;
use autonoe_core::event::SpanContext;
use autonoe_core::gate::GateDecision;
use autonoe_core::time::format_duration;
use autonoe_core::{RunEvent, RunEventKind, RunObserver, StreamEvent};
use jiff::Timestamp;
use serde_json::Value;

/// Records the events of a run and renders them for snapshots.
///
/// The rendering contains the time since the first event, no ids, and one line per event. The ticks
/// of a wait are counted on one line, and events that another line already covers are omitted. It
/// is deterministic for the same script.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::event::Events;
/// use autonoe_core::time::{SeededIds, SystemClock};
/// use autonoe_core::{RunEventKind, RunObserver};
/// use autonoe_testkit::EventLog;
///
/// let log = Arc::new(EventLog::new());
/// let observers: Vec<Arc<dyn RunObserver>> = vec![log.clone()];
/// let events = Events::new(observers, Arc::new(SystemClock), Arc::new(SeededIds::new(1)));
///
/// events.emit(RunEventKind::Paused);
///
/// assert_eq!(log.render(), "0s paused\n");
/// ```
#[derive(Debug, Default)]
pub struct EventLog {
    entries: Mutex<Vec<Entry>>,
}

#[derive(Debug)]
struct Entry {
    at: Timestamp,
    span: SpanContext,
    json: Value,
    line: Line,
}

#[derive(Debug)]
enum Line {
    Text(String),
    Tick,
    /// An event that another line already covers.
    Nothing,
}

impl EventLog {
    /// Creates an empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns all events as JSON, as other programs receive them.
    pub fn json(&self) -> Vec<Value> {
        self.entries()
            .iter()
            .map(|entry| entry.json.clone())
            .collect()
    }

    /// Returns the position of each event in the trace tree of the run.
    pub fn spans(&self) -> Vec<SpanContext> {
        self.entries().iter().map(|entry| entry.span).collect()
    }

    /// Counts the events with this name, for example `wait_tick`.
    pub fn count(&self, event: &str) -> usize {
        self.entries()
            .iter()
            .filter(|entry| entry.json["event"] == event)
            .count()
    }

    /// Renders the log, one line per event.
    pub fn render(&self) -> String {
        let entries = self.entries();
        let Some(first) = entries.first().map(|entry| entry.at) else {
            return String::new();
        };
        let mut text = String::new();
        let mut ticks = 0;
        for entry in entries.iter() {
            match &entry.line {
                Line::Tick => ticks += 1,
                Line::Nothing => {}
                Line::Text(line) => {
                    let since =
                        Duration::try_from(entry.at.duration_since(first)).unwrap_or_default();
                    let since = format_duration(since);
                    // Writing to a string cannot fail.
                    if ticks > 0 {
                        let _ = writeln!(text, "{since} ({ticks} ticks)");
                        ticks = 0;
                    }
                    let _ = writeln!(text, "{since} {line}");
                }
            }
        }
        text
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunObserver for EventLog {
    fn on_event(&self, event: &RunEvent<'_>) {
        let json = serde_json::to_value(event).unwrap_or(Value::Null);
        let line = line(&event.kind);
        self.entries().push(Entry {
            at: event.at,
            span: event.span,
            json,
            line,
        });
    }
}

fn line(kind: &RunEventKind<'_>) -> Line {
    Line::Text(match kind {
        RunEventKind::RunStarted { mode, .. } => format!("{mode} started"),
        RunEventKind::FlowStarted { flow, .. } => format!("flow {flow} started"),
        RunEventKind::ConversationResumed { conversation } => {
            format!("  resumes {conversation}")
        }
        RunEventKind::FlowEnded { report } => format!("flow ended: {}", report.exit),
        RunEventKind::SessionStarted {
            number,
            instruction,
            model,
        } => match model {
            Some(model) => format!("session {number} started: {instruction} on {model}"),
            None => format!("session {number} started: {instruction}"),
        },
        RunEventKind::Agent { stream } => format!("  {}", render_stream_event(stream)),
        RunEventKind::ToolDecided { call, decision } => match decision {
            GateDecision::Allow { by } => format!("  {} allowed by {by}", call.name),
            GateDecision::Deny { by, reason, .. } => {
                format!("  {} denied by {by}: {reason}", call.name)
            }
        },
        RunEventKind::ToolProgress { tool, title, .. } => {
            format!("  {tool}: {title}")
        }
        // The agent's stream contains the same information.
        RunEventKind::AgentStarted { .. }
        | RunEventKind::AgentEnded { .. }
        | RunEventKind::AgentFailed { .. }
        | RunEventKind::ToolEnded { .. }
        | RunEventKind::ModelChunk { .. } => return Line::Nothing,
        RunEventKind::ModelStarted { request } => {
            let count = request.messages.count();
            format!("  asks {} ({count} messages)", request.model)
        }
        RunEventKind::ModelEnded { answer } => {
            format!("  the model used {} tokens", answer.tokens.total())
        }
        RunEventKind::ModelFailed { error, .. } => {
            format!("  the model failed ({}): {error}", error.code)
        }
        RunEventKind::ProgressStarted { message } => format!("  ({message} ..)"),
        RunEventKind::ProgressEnded => "  (.. over)".to_owned(),
        RunEventKind::Debug { message, .. } => format!("  debug: {message}"),
        RunEventKind::Trace { message, .. } => format!("  trace: {message}"),
        RunEventKind::StatusChanged { change } => match change.previous {
            Some(previous) => format!("  {} {previous} -> {}", change.id, change.status),
            None => format!("  {} created", change.id),
        },
        RunEventKind::Deprecated { id } => format!("  {id} deprecated"),
        RunEventKind::Verified { id } => format!("  {id} verified"),
        RunEventKind::LedgerRestored { foreign } => format!("ledger restored: {foreign}"),
        RunEventKind::LedgerEdited { .. } => "ledger edited outside a run".to_owned(),
        RunEventKind::SessionEnded { number, result } => {
            format!("session {number} ended: {}", ended(&result.end))
        }
        RunEventKind::WaitStarted { reason, until } => format!("waits until {until} ({reason:?})"),
        RunEventKind::WaitTick { .. } => return Line::Tick,
        RunEventKind::WaitEnded { .. } => "wait over".to_owned(),
        RunEventKind::Paused => "paused".to_owned(),
        RunEventKind::Resumed => "resumed".to_owned(),
        RunEventKind::Instructed { text, delivery } => {
            format!("instruction {text:?} ({delivery:?})")
        }
        RunEventKind::BudgetNearlySpent { budget } => format!("{budget} budget nearly spent"),
        RunEventKind::BudgetSpent { budget } => format!("{budget} budget spent"),
        RunEventKind::Warning { message } => format!("warning: {message}"),
        RunEventKind::RunEnded { report } => format!("ended: {}", report.exit),
        other => format!("{other:?}"),
    })
}

fn render_stream_event(event: &StreamEvent) -> String {
    match event {
        StreamEvent::Started { .. } => "agent started".to_owned(),
        StreamEvent::Text { text, .. } => format!("says {text:?}"),
        StreamEvent::Thinking { text, .. } => format!("thinks {text:?}"),
        StreamEvent::ToolInvocation { name, input, .. } => format!("calls {name} {input}"),
        StreamEvent::ToolResponse { output, status, .. } => format!("{status:?}: {output}"),
        StreamEvent::Usage { tokens, cost, .. } => match cost {
            Some(cost) => format!("used {} tokens for {cost}", tokens.total()),
            None => format!("used {} tokens", tokens.total()),
        },
        StreamEvent::Warning { message, .. } => format!("warns: {message}"),
        StreamEvent::End { outcome, .. } => format!("ends: {outcome:?}"),
        other => format!("{other:?}"),
    }
}

fn ended(end: &SessionEnd) -> String {
    match end {
        SessionEnd::Outcome(outcome) => format!("{outcome:?}"),
        SessionEnd::Failed { error } => format!("failed ({}): {error}", error.code),
        other => format!("{other:?}"),
    }
}
