//! Creates spans with their initial fields and placeholders for later ones.

use tracing::field::Empty;
use tracing::{Id, Span};

use super::SPAN_TARGET;
use crate::agent::ModelCallRequest;
use crate::time::RunId;

/// Creates the span of a run. Its parent is the current span, if there is one.
pub(super) fn run(run: &RunId, mode: &str) -> Span {
    tracing::info_span!(
        target: SPAN_TARGET,
        "invoke_workflow",
        otel.name = format!("invoke_workflow {mode}"),
        otel.kind = "internal",
        otel.status_code = Empty,
        error.type = Empty,
        gen_ai.operation.name = "invoke_workflow",
        gen_ai.workflow.name = mode,
        autonoe.run.id = run.as_str(),
        autonoe.run.exit = Empty,
        autonoe.cost.usd = Empty,
        trace_id = Empty,
        span_id = Empty,
        parent_span_id = Empty,
    )
}

/// Creates the span of a session.
pub(super) fn session(parent: Option<Id>, number: u32, name: &str, model: Option<&str>) -> Span {
    tracing::info_span!(
        target: SPAN_TARGET,
        parent: parent,
        "invoke_agent",
        otel.name = format!("invoke_agent {name}"),
        otel.kind = "internal",
        otel.status_code = Empty,
        error.type = Empty,
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = name,
        gen_ai.request.model = model,
        gen_ai.response.model = Empty,
        gen_ai.provider.name = Empty,
        gen_ai.conversation.id = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.usage.cache_read.input_tokens = Empty,
        gen_ai.usage.cache_creation.input_tokens = Empty,
        gen_ai.usage.reasoning.output_tokens = Empty,
        gen_ai.input.messages = Empty,
        gen_ai.output.messages = Empty,
        autonoe.session.number = number,
        autonoe.cost.usd = Empty,
        trace_id = Empty,
        span_id = Empty,
        parent_span_id = Empty,
    )
}

/// Creates the span of a tool call.
pub(super) fn tool(parent: Option<Id>, call_id: &str, name: &str) -> Span {
    tracing::info_span!(
        target: SPAN_TARGET,
        parent: parent,
        "execute_tool",
        otel.name = format!("execute_tool {name}"),
        otel.kind = "internal",
        otel.status_code = Empty,
        error.type = Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = name,
        gen_ai.tool.call.id = call_id,
        gen_ai.tool.call.arguments = Empty,
        gen_ai.tool.call.result = Empty,
        autonoe.tool.status = Empty,
        trace_id = Empty,
        span_id = Empty,
        parent_span_id = Empty,
    )
}

/// Creates the span of a model call.
pub(super) fn model(parent: Option<Id>, request: &ModelCallRequest<'_>) -> Span {
    tracing::info_span!(
        target: SPAN_TARGET,
        parent: parent,
        "chat",
        otel.name = format!("chat {}", request.model),
        otel.kind = "client",
        otel.status_code = Empty,
        error.type = Empty,
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = request.provider,
        gen_ai.request.model = request.model,
        gen_ai.request.max_tokens = request.max_tokens,
        gen_ai.response.model = Empty,
        gen_ai.response.id = Empty,
        gen_ai.response.finish_reasons = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.usage.cache_read.input_tokens = Empty,
        gen_ai.usage.cache_creation.input_tokens = Empty,
        gen_ai.usage.reasoning.output_tokens = Empty,
        gen_ai.system_instructions = Empty,
        gen_ai.input.messages = Empty,
        gen_ai.output.messages = Empty,
        autonoe.cost.usd = Empty,
        trace_id = Empty,
        span_id = Empty,
        parent_span_id = Empty,
    )
}
