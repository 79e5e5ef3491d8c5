//! [`RunSpans`] maps the events of a run to `tracing` spans with OpenTelemetry names.

mod new_span;
mod open_spans;

use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use tracing::Span;

use self::open_spans::OpenSpans;
use crate::agent::{
    CostTotal, ModelAnswer, ModelCallRequest, SessionEnd, SessionReport, StreamEvent, TokenUsage,
};
use crate::event::{RunEvent, RunEventKind, RunObserver, SpanContext};
use crate::run::{FlowReport, RunReport};
use crate::tool::{ToolExecution, ToolStatus};

/// The target of the spans of runs, for filters of subscribers.
///
/// A run is `invoke_workflow`, its sessions are `invoke_agent`, model calls are `chat` and tool
/// calls are `execute_tool`. Fields have the names of the semantic conventions for generative AI.
/// `trace_id`, `span_id` and `parent_span_id` are those of the [`RunEvent`]s, so that an exported
/// trace can be the one that other processes continue. Without a subscriber, no span is opened.
pub const SPAN_TARGET: &str = "autonoe::spans";

/// Whether spans carry content: prompts, answers, tool inputs and tool outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TraceContent {
    /// Spans carry no content.
    #[default]
    Omitted,
    /// Spans carry content. Everyone who can read the traces can read the project.
    Recorded,
}

/// Opens and closes spans according to the events of a run.
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
                let span = new_span::run(run, &mode.to_string());
                open.insert(at, ids(span, at));
            }
            RunEventKind::FlowStarted { run, flow, .. } => {
                let span = new_span::run(run, flow);
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
                    new_span::session(open.parent(at), *number, &instruction.to_string(), *model);
                open.insert(at, ids(span, at));
            }
            RunEventKind::SessionEnded { result, .. } => {
                open.close(at, |span| session_ended(span, result));
                open.close_below(at);
            }
            RunEventKind::AgentStarted { prompt } if self.has_content() => {
                open.with(at, |span| {
                    span.record("gen_ai.input.messages", render_prompt(prompt));
                });
            }
            RunEventKind::AgentEnded { answer } if self.has_content() => {
                open.with(at, |span| {
                    span.record("gen_ai.output.messages", render_final_answer(answer));
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
            RunEventKind::ModelStarted { request } => {
                self.model_started(&mut open, at, request);
            }
            RunEventKind::ModelEnded { answer } => {
                open.close(at, |span| self.model_ended(span, answer));
            }
            RunEventKind::ModelFailed { error, tokens } => open.close(at, |span| {
                failed(span, &error.code);
                usage(span, tokens);
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

    /// Opens the span of a call, unless it is already open. The gate may report a call before the
    /// agent does.
    fn tool_started(
        &self,
        open: &mut OpenSpans,
        at: &SpanContext,
        call_id: &str,
        name: &str,
        input: &serde_json::Value,
    ) {
        if !open.can_start(at) {
            return;
        }
        let span = new_span::tool(open.parent(at), call_id, name);
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

    fn model_started(
        &self,
        open: &mut OpenSpans,
        at: &SpanContext,
        request: &ModelCallRequest<'_>,
    ) {
        if let Some(provider) = request.provider {
            open.with_parent(at, |span| {
                span.record("gen_ai.provider.name", provider);
            });
        }
        let span = new_span::model(open.parent(at), request);
        // The messages are rendered only if a subscriber records them.
        if self.has_content() && !span.is_disabled() {
            let rendered = render_request(request);
            if let Some(system) = rendered.system {
                span.record("gen_ai.system_instructions", system);
            }
            span.record("gen_ai.input.messages", rendered.messages);
        }
        open.insert(at, ids(span, at));
    }

    fn model_ended(&self, span: &Span, answer: &ModelAnswer<'_>) {
        usage(span, &answer.tokens);
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
            span.record("gen_ai.output.messages", render_answer(answer));
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

fn session_ended(span: &Span, result: &SessionReport) {
    usage(span, &result.tokens);
    cost(span, &result.cost);
    // For a session that never reached an agent, no other event has the error.
    if let SessionEnd::Failed { error } = &result.end {
        failed(span, &error.code);
    }
}

/// Records the cost, if it is known exactly.
fn cost(span: &Span, cost: &CostTotal) {
    if let Some(cost) = cost.exact() {
        span.record("autonoe.cost.usd", cost.to_f64());
    }
}

/// Records the trace, span and parent IDs of `at` on `span`.
fn ids(span: Span, at: &SpanContext) -> Span {
    span.record("trace_id", tracing::field::display(at.trace));
    span.record("span_id", tracing::field::display(at.span));
    if let Some(parent) = at.parent {
        span.record("parent_span_id", tracing::field::display(parent));
    }
    span
}

/// Marks `span` as failed with `error`.
fn failed(span: &Span, error: &str) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", error);
}

/// Records token usage. By the conventions, cached tokens are part of the input, and reasoning
/// tokens are part of the output.
fn usage(span: &Span, tokens: &TokenUsage) {
    span.record("gen_ai.usage.input_tokens", tokens.prompt());
    span.record("gen_ai.usage.output_tokens", tokens.completion());
    for (field, count) in [
        ("gen_ai.usage.cache_read.input_tokens", tokens.cache_read),
        (
            "gen_ai.usage.cache_creation.input_tokens",
            tokens.cache_write,
        ),
        ("gen_ai.usage.reasoning.output_tokens", tokens.reasoning),
    ] {
        if count > 0 {
            span.record(field, count);
        }
    }
}

/// Renders the prompt of an agent.
fn render_prompt(text: &str) -> String {
    json!([{"role": "user", "parts": [text_part(text)]}]).to_string()
}

/// Renders the final answer of an agent.
fn render_final_answer(text: &str) -> String {
    render_output(&json!([text_part(text)]), None)
}

/// A rendered model request.
struct RenderedRequest {
    /// The system instructions of the conversation.
    system: Option<String>,
    messages: String,
}

/// Renders the request to a model.
fn render_request(request: &ModelCallRequest<'_>) -> RenderedRequest {
    let mut messages = request.messages.to_json();
    let system = match messages.as_array_mut() {
        Some(list) if list.first().is_some_and(|first| first["role"] == "system") => {
            Some(list.remove(0)["parts"].to_string())
        }
        _ => None,
    };
    RenderedRequest {
        system,
        messages: messages.to_string(),
    }
}

/// Renders the answer of a model.
fn render_answer(answer: &ModelAnswer<'_>) -> String {
    let parts = match &answer.parts {
        Some(parts) => parts.to_json(),
        None => json!([text_part(answer.text)]),
    };
    render_output(&parts, answer.stop_reason)
}

fn render_output(parts: &Value, stop: Option<&str>) -> String {
    let message = json!({
        "role": "assistant", "parts": parts, "finish_reason": finish_reason(stop),
    });
    json!([message]).to_string()
}

fn text_part(text: &str) -> Value {
    json!({"type": "text", "content": text})
}

/// Maps a stop reason to the finish reasons of the conventions; unknown ones stay unchanged.
fn finish_reason(stop: Option<&str>) -> &str {
    match stop {
        None | Some("end_turn" | "stop_sequence") => "stop",
        Some("tool_use") => "tool_call",
        Some("max_tokens" | "context_full") => "length",
        Some("refused" | "refusal") => "content_filter",
        Some(other) => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::ModelMessages;

    fn read(text: &str) -> Value {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn system_instructions_are_not_one_of_the_messages() {
        let user = json!({"role": "user", "parts": [{"type": "text", "content": "Hi."}]});
        let system = json!({"role": "system", "parts": [{"type": "text", "content": "Be kind."}]});
        for (messages, expected) in [
            (json!([system, user]), Some(system["parts"].clone())),
            (json!([user]), None),
        ] {
            let content = || messages.clone();
            let question = ModelCallRequest::new("a-model", ModelMessages::new(1, &content));

            let rendered = render_request(&question);

            assert_eq!(rendered.system.as_deref().map(read), expected);
            assert_eq!(read(&rendered.messages), json!([user]));
        }
    }

    #[test]
    fn an_answer_has_its_parts_and_its_finish_reason() {
        let call = json!([{"type": "tool_call", "id": "c", "name": "Read", "arguments": {}}]);
        let parts = || call.clone();
        let reply = ModelAnswer::new("", TokenUsage::default())
            .with_parts(ModelMessages::new(1, &parts))
            .with_stop_reason("tool_use");

        let rendered = render_answer(&reply);

        let expected = json!([{"role": "assistant", "parts": call, "finish_reason": "tool_call"}]);
        assert_eq!(read(&rendered), expected);
    }

    #[test]
    fn stop_reasons_are_mapped_to_those_of_the_conventions() {
        for (stop, expected) in [
            (None, "stop"),
            (Some("end_turn"), "stop"),
            (Some("tool_use"), "tool_call"),
            (Some("max_tokens"), "length"),
            (Some("context_full"), "length"),
            (Some("refused"), "content_filter"),
            (Some("paused"), "paused"),
        ] {
            assert_eq!(finish_reason(stop), expected, "{stop:?}");
        }
    }
}
