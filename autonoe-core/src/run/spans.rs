//! What happens in a run as spans of `tracing`, by the names of OpenTelemetry.

mod content;
mod fields;
mod open;
mod opening;

use std::sync::{Mutex, PoisonError};

use serde_json::json;
use tracing::Span;

use self::fields::{failed, ids};
use self::open::OpenSpans;
use crate::domain::{
    CostTotal, FlowReport, RunReport, SessionEnd, SessionResult, SpanContext, StreamEvent,
    ToolStatus,
};
use crate::port::{ModelAnswer, ModelAsked, RunEvent, RunEventKind, RunObserver, ToolExecution};

/// The target of the spans of runs, for filters of subscribers.
///
/// A run is `invoke_workflow`, its sessions are `invoke_agent`, calls of models are `chat`, calls of
/// tools `execute_tool`. Fields have the names of the semantic conventions for generative AI;
/// `trace_id`, `span_id` and `parent_span_id` are those of the [`RunEvent`]s, so that a trace that
/// is exported can be the one that other processes go on with. Nothing is opened without a
/// subscriber.
pub const SPAN_TARGET: &str = "autonoe::spans";

/// Whether spans carry what was said: prompts, answers, what tools are called with and give back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TraceContent {
    /// They do not.
    #[default]
    LeftOut,
    /// They do. Who reads the traces reads the project.
    Recorded,
}

/// Opens and closes spans as the events of a run say.
pub(super) struct RunSpans {
    content: TraceContent,
    open: Mutex<OpenSpans>,
}

impl RunSpans {
    pub(super) fn new(content: TraceContent) -> Self {
        Self {
            content,
            open: Mutex::default(),
        }
    }

    fn has_content(&self) -> bool {
        self.content == TraceContent::Recorded
    }
}

impl RunObserver for RunSpans {
    fn on_event(&self, event: &RunEvent<'_>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let at = &event.span;
        match &event.kind {
            RunEventKind::RunStarted { run, mode } => {
                let span = opening::run(run, &mode.to_string());
                open.insert(at, ids(span, at));
            }
            RunEventKind::FlowStarted { run, flow, .. } => {
                let span = opening::run(run, flow);
                open.insert(at, ids(span, at));
            }
            RunEventKind::RunEnded { report } => {
                let RunReport { exit, cost, .. } = report;
                open.close(at, |span| {
                    run_ended(span, exit.code(), exit.is_success(), cost);
                });
                open.clear();
            }
            RunEventKind::FlowEnded { report } => {
                let FlowReport { exit, cost, .. } = report;
                open.close(at, |span| {
                    run_ended(span, exit.code(), exit.is_success(), cost);
                });
                open.clear();
            }
            RunEventKind::SessionStarted {
                number,
                instruction,
                model,
            } => {
                let span =
                    opening::session(open.above(at), *number, &instruction.to_string(), *model);
                open.insert(at, ids(span, at));
            }
            RunEventKind::SessionEnded { result, .. } => {
                open.close(at, |span| session_ended(span, result));
                open.close_below(at);
            }
            RunEventKind::AgentStarted { prompt } if self.has_content() => {
                open.with(at, |span| {
                    span.record("gen_ai.input.messages", content::prompt(prompt));
                });
            }
            RunEventKind::AgentEnded { answer } if self.has_content() => {
                open.with(at, |span| {
                    span.record("gen_ai.output.messages", content::last_word(answer));
                });
            }
            RunEventKind::AgentFailed { error } => open.with(at, |span| failed(span, &error.code)),
            RunEventKind::Agent { stream } => self.agent(&mut open, at, stream),
            RunEventKind::ToolDecided { call, .. } => {
                self.tool_started(&mut open, at, &call.id, &call.name, &call.input);
            }
            RunEventKind::ToolEnded {
                output, execution, ..
            } => open.close(at, |span| self.tool_ended(span, output, execution)),
            RunEventKind::ModelStarted { asked } => self.model_started(&mut open, at, asked),
            RunEventKind::ModelEnded { answer } => {
                open.close(at, |span| self.model_ended(span, answer));
            }
            RunEventKind::ModelFailed { error, tokens } => open.close(at, |span| {
                failed(span, &error.code);
                fields::usage(span, tokens);
            }),
            _ => {}
        }
    }
}

impl RunSpans {
    fn agent(&self, open: &mut OpenSpans, at: &SpanContext, stream: &StreamEvent) {
        match stream {
            StreamEvent::Started { session, model } => open.with(at, |span| {
                span.record("gen_ai.conversation.id", session.as_str());
                if let Some(model) = model {
                    span.record("gen_ai.response.model", model.as_str());
                }
            }),
            StreamEvent::ToolInvocation {
                call_id,
                name,
                input,
                ..
            } => self.tool_started(open, at, call_id, name, input),
            _ => {}
        }
    }

    /// Opens the span of a call, unless it is. The gate may speak of a call before the agent does.
    fn tool_started(
        &self,
        open: &mut OpenSpans,
        at: &SpanContext,
        call_id: &str,
        name: &str,
        input: &serde_json::Value,
    ) {
        if !open.can_begin(at) {
            return;
        }
        let span = opening::tool(open.above(at), call_id, name);
        if self.has_content() {
            span.record("gen_ai.tool.call.arguments", input.to_string());
        }
        open.insert(at, ids(span, at));
    }

    fn tool_ended(&self, span: &Span, output: &str, execution: &ToolExecution) {
        let (status, error) = match execution.status {
            ToolStatus::Ok => ("ok", None),
            ToolStatus::Error => ("error", Some("_OTHER")),
            ToolStatus::Denied => ("denied", Some("_OTHER")),
        };
        span.record("autonoe.tool.status", status);
        if let Some(error) = error {
            failed(
                span,
                execution.error.as_ref().map_or(error, |code| code.as_str()),
            );
        }
        if self.has_content() {
            span.record("gen_ai.tool.call.result", output);
        }
    }

    fn model_started(&self, open: &mut OpenSpans, at: &SpanContext, asked: &ModelAsked<'_>) {
        if let Some(provider) = asked.provider {
            open.with_parent(at, |span| {
                span.record("gen_ai.provider.name", provider);
            });
        }
        let span = opening::model(open.above(at), asked);
        // What is asked is made into text only if somebody wants it.
        if self.has_content() && !span.is_disabled() {
            let told = content::asked(asked);
            if let Some(system) = told.system {
                span.record("gen_ai.system_instructions", system);
            }
            span.record("gen_ai.input.messages", told.messages);
        }
        open.insert(at, ids(span, at));
    }

    fn model_ended(&self, span: &Span, answer: &ModelAnswer<'_>) {
        fields::usage(span, &answer.tokens);
        if let Some(model) = answer.model {
            span.record("gen_ai.response.model", model);
        }
        if let Some(id) = answer.id {
            span.record("gen_ai.response.id", id);
        }
        if let Some(reason) = answer.stop_reason {
            span.record(
                "gen_ai.response.finish_reasons",
                json!([reason]).to_string(),
            );
        }
        if let Some(cost) = answer.cost {
            span.record("autonoe.cost.usd", cost.to_f64());
        }
        if self.has_content() {
            span.record("gen_ai.output.messages", content::answered(answer));
        }
    }
}

fn run_ended(span: &Span, exit: &str, is_success: bool, total: &CostTotal) {
    span.record("autonoe.run.exit", exit);
    cost(span, total);
    if !is_success {
        failed(span, exit);
    }
}

fn session_ended(span: &Span, result: &SessionResult) {
    fields::usage(span, &result.tokens);
    cost(span, &result.cost);
    // A session that never reached an agent has no other event that says why.
    if let SessionEnd::Failed { error } = &result.end {
        failed(span, &error.code);
    }
}

/// Says what it cost; what is known only in part is not told as a whole.
fn cost(span: &Span, cost: &CostTotal) {
    if let Some(cost) = cost.exact() {
        span.record("autonoe.cost.usd", cost.to_f64());
    }
}
