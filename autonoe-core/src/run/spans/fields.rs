//! Fields shared by several spans.

use tracing::Span;

use crate::agent::TokenUsage;
use crate::event::SpanContext;

/// Records the trace, span and parent IDs of `at` on `span`.
pub(super) fn ids(span: Span, at: &SpanContext) -> Span {
    span.record("trace_id", tracing::field::display(at.trace));
    span.record("span_id", tracing::field::display(at.span));
    if let Some(parent) = at.parent {
        span.record("parent_span_id", tracing::field::display(parent));
    }
    span
}

/// Marks `span` as failed with `error`.
pub(super) fn failed(span: &Span, error: &str) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", error);
}

/// Records token usage. By the conventions, cached tokens are part of the input, and reasoning
/// tokens are part of the output.
pub(super) fn usage(span: &Span, tokens: &TokenUsage) {
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
