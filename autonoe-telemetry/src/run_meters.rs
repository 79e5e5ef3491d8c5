//! [`RunMeters`]: metrics of runs.

mod instruments;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use autonoe_core::agent::{SessionEnd, SessionOutcome, SessionReport, TokenUsage};
use autonoe_core::event::{SpanId, WaitReason};
use autonoe_core::tool::{ToolExecution, ToolStatus};
use autonoe_core::{RunEvent, RunEventKind, RunObserver, StreamEvent};
use jiff::Timestamp;
use opentelemetry::KeyValue;
use opentelemetry::metrics::Meter;

use self::instruments::Instruments;

/// Counts sessions, denied calls and costs, and measures tokens, durations and waits of runs.
///
/// Each token is counted once: with its model call where the backend emits model calls, with its
/// session otherwise. Use one `RunMeters` for each run that is in progress at the same time.
pub struct RunMeters {
    instruments: Instruments,
    open: Mutex<Open>,
}

/// Session, model calls and wait in progress.
#[derive(Debug, Default)]
struct Open {
    session: Session,
    models: HashMap<SpanId, PendingCall>,
    waits_since: Option<Timestamp>,
}

#[derive(Debug, Default)]
struct Session {
    agent: String,
    model: Option<String>,
    provider: Option<String>,
    /// Whether the backend emits model calls. Tokens are then counted with each of them.
    emits_model_calls: bool,
}

#[derive(Debug)]
struct PendingCall {
    at: Timestamp,
    model: String,
    provider: Option<String>,
}

impl RunMeters {
    /// Creates the instruments in `meter`.
    pub fn new(meter: &Meter) -> Self {
        Self {
            instruments: Instruments::new(meter),
            open: Mutex::default(),
        }
    }
}

impl fmt::Debug for RunMeters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunMeters").finish_non_exhaustive()
    }
}

impl RunObserver for RunMeters {
    fn on_event(&self, event: &RunEvent<'_>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        match &event.kind {
            RunEventKind::SessionStarted {
                instruction, model, ..
            } => {
                open.session = Session {
                    agent: instruction.to_string(),
                    model: model.map(str::to_owned),
                    ..Session::default()
                };
            }
            RunEventKind::Agent {
                stream:
                    StreamEvent::Started {
                        model: Some(model), ..
                    },
            } => {
                open.session.model.get_or_insert_with(|| model.clone());
            }
            RunEventKind::SessionEnded { result, .. } => {
                let session = std::mem::take(&mut open.session);
                self.session_ended(&session, result);
            }
            RunEventKind::ToolEnded {
                tool, execution, ..
            } => self.tool_ended(tool, execution),
            RunEventKind::ModelStarted { request } => {
                let call = PendingCall {
                    at: event.at,
                    model: request.model.to_owned(),
                    provider: request.provider.map(str::to_owned),
                };
                open.session.emits_model_calls = true;
                open.session.provider.clone_from(&call.provider);
                open.models.insert(event.span.span, call);
            }
            RunEventKind::ModelEnded { answer } => {
                let call = open.models.remove(&event.span.span);
                self.model_ended(call, event.at, &answer.tokens, None);
            }
            RunEventKind::ModelFailed { error, tokens } => {
                let call = open.models.remove(&event.span.span);
                self.model_ended(call, event.at, tokens, Some(&error.code));
            }
            RunEventKind::WaitStarted { .. } => open.waits_since = Some(event.at),
            RunEventKind::WaitEnded { reason } => {
                if let Some(since) = open.waits_since.take() {
                    let reason = KeyValue::new("autonoe.wait.reason", wait_reason(*reason));
                    let seconds = between(since, event.at).as_secs_f64();
                    self.instruments.waits.record(seconds, &[reason]);
                }
            }
            _ => {}
        }
    }
}

impl RunMeters {
    fn session_ended(&self, session: &Session, result: &SessionReport) {
        let (model, provider) = (session.model.as_deref(), session.provider.as_deref());
        let mut attributes = attributes("invoke_agent", provider, model);
        attributes.push(KeyValue::new("gen_ai.agent.name", session.agent.clone()));
        self.instruments
            .cost
            .add(result.cost.known_usd.to_f64(), &attributes);
        // Each token is counted once: with its model call, if the backend emits model calls.
        if !session.emits_model_calls {
            self.record_tokens(&result.tokens, &attributes);
        }
        let mut ended = attributes.clone();
        ended.push(KeyValue::new(
            "autonoe.session.end",
            session_end(&result.end),
        ));
        self.instruments.sessions.add(1, &ended);
        let error = match &result.end {
            SessionEnd::Failed { error } => Some(error.code.as_ref()),
            _ => None,
        };
        self.record_duration(result.duration, attributes, error);
    }

    fn tool_ended(&self, tool: &str, execution: &ToolExecution) {
        let tool = KeyValue::new("gen_ai.tool.name", tool.to_owned());
        if execution.status == ToolStatus::Denied {
            self.instruments.denied.add(1, std::slice::from_ref(&tool));
        }
        let code = || execution.error.as_ref().map_or("_OTHER", |it| it.as_str());
        let error = (execution.status != ToolStatus::Ok).then(code);
        let mut attributes = attributes("execute_tool", None, None);
        attributes.push(tool);
        self.record_duration(execution.duration, attributes, error);
    }

    fn model_ended(
        &self,
        call: Option<PendingCall>,
        at: Timestamp,
        tokens: &TokenUsage,
        error: Option<&str>,
    ) {
        let Some(call) = call else { return };
        let attributes = attributes("chat", call.provider.as_deref(), Some(&call.model));
        self.record_tokens(tokens, &attributes);
        self.record_duration(between(call.at, at), attributes, error);
    }

    fn record_tokens(&self, tokens: &TokenUsage, attributes: &[KeyValue]) {
        for (kind, count) in [("input", tokens.prompt()), ("output", tokens.completion())] {
            if count > 0 {
                let mut attributes = attributes.to_vec();
                attributes.push(KeyValue::new("gen_ai.token.type", kind));
                self.instruments.tokens.record(count, &attributes);
            }
        }
    }

    fn record_duration(&self, time: Duration, mut attributes: Vec<KeyValue>, error: Option<&str>) {
        attributes.extend(error.map(|error| KeyValue::new("error.type", error.to_owned())));
        self.instruments
            .durations
            .record(time.as_secs_f64(), &attributes);
    }
}

fn attributes(
    operation: &'static str,
    provider: Option<&str>,
    model: Option<&str>,
) -> Vec<KeyValue> {
    let optional = [
        ("gen_ai.provider.name", provider),
        ("gen_ai.request.model", model),
    ];
    let optional = optional
        .into_iter()
        .filter_map(|(name, value)| Some(KeyValue::new(name, value?.to_owned())));
    [KeyValue::new("gen_ai.operation.name", operation)]
        .into_iter()
        .chain(optional)
        .collect()
}

fn between(started: Timestamp, ended: Timestamp) -> Duration {
    // Clocks can be set back.
    Duration::try_from(ended.duration_since(started)).unwrap_or_default()
}

fn wait_reason(reason: WaitReason) -> &'static str {
    match reason {
        WaitReason::Pause => "pause",
        WaitReason::Quota => "quota",
        WaitReason::QuotaBackoff => "quota_backoff",
        WaitReason::RetryAfter => "retry_after",
    }
}

fn session_end(end: &SessionEnd) -> &'static str {
    match end {
        SessionEnd::Outcome(SessionOutcome::Completed) => "completed",
        SessionEnd::Outcome(SessionOutcome::ExecutionError { .. }) => "execution_error",
        SessionEnd::Outcome(SessionOutcome::MaxTurns) => "max_turns",
        SessionEnd::Outcome(SessionOutcome::BudgetExceeded) => "budget_exceeded",
        SessionEnd::Outcome(SessionOutcome::QuotaExceeded { .. }) => "quota_exceeded",
        SessionEnd::Outcome(SessionOutcome::Interrupted) => "interrupted",
        SessionEnd::Failed { .. } => "failed",
        SessionEnd::BudgetSpent { .. } => "budget_spent",
        SessionEnd::Cancelled => "cancelled",
    }
}

#[cfg(test)]
mod tests;
