//! Runs as `tracing` spans with OpenTelemetry names.

use autonoe_core::CostUsd;
use autonoe_core::agent::{AgentErrorKind, TokenUsage};
use autonoe_core::event::Failure;
use autonoe_core::run::{SPAN_TARGET, TraceContent};
use autonoe_testkit::{CapturedSpan, CapturedSpans, ModelUse, SessionScript};
use serde_json::{Value, json};

use crate::behaviour::support::{Fixture, create, passes};

fn script() -> SessionScript {
    let used = TokenUsage {
        input: 6,
        output: 4,
        cache_read: 3,
        reasoning: 1,
        ..TokenUsage::default()
    };
    let broken = Failure::retryable("RATE_LIMITED", "a secret sentence");
    SessionScript::new("asks")
        .calls_model(
            ModelUse::new("a-model", "a secret answer").using(used, Some(CostUsd::from_cents(2))),
        )
        .calls_model(ModelUse::new("a-model", "").failing(broken))
        .uses_tool("mcp__autonoe__create", create(&["A"]))
        .is_denied_by(
            "file-scope",
            "Write",
            json!({"file_path": "/etc/passwd", "content": "a secret text"}),
        )
        .ends()
}

async fn traced(content: TraceContent) -> (Vec<CapturedSpan>, Vec<Value>) {
    let spans = CapturedSpans::start();
    let fixture = Fixture::new([script(), passes("A")]);
    fixture.run(fixture.runner().trace_content(content)).await;
    let mut all = spans.all();
    all.retain(|span| span.target == SPAN_TARGET);
    (all, fixture.log.json())
}

// Shows: framework/models/telemetry-helpers-spans
#[tokio::test(start_paused = true)]
async fn a_run_is_one_tree_of_spans_with_the_names_of_the_conventions() {
    let (spans, events) = traced(TraceContent::Omitted).await;

    let names: Vec<_> = spans
        .iter()
        .map(|span| (span.fields["otel.name"].as_str(), span.parent))
        .collect();
    assert_eq!(
        names,
        [
            ("invoke_workflow run", None),
            ("invoke_agent initializer", Some(0)),
            ("chat a-model", Some(1)),
            ("chat a-model", Some(1)),
            ("execute_tool mcp__autonoe__create", Some(1)),
            ("execute_tool Write", Some(1)),
            ("invoke_agent coding", Some(0)),
            ("execute_tool mcp__autonoe__set_status", Some(6)),
        ]
    );
    for span in &spans {
        assert!(span.is_closed, "{span:?}");
        assert_eq!(span.fields["gen_ai.operation.name"], span.name);
        // Each span corresponds to one of the spans of events.
        let place = events
            .iter()
            .find(|event| event["spanId"] == span.fields["span_id"].as_str());
        let place = place.expect("observers know it");
        assert_eq!(place["traceId"], span.fields["trace_id"].as_str());
        assert_eq!(
            place["parentSpanId"].as_str(),
            span.fields.get("parent_span_id").map(String::as_str)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn spans_carry_usage_cost_and_errors() {
    let (spans, _) = traced(TraceContent::Omitted).await;
    let field = |span: usize, name: &str| spans[span].fields.get(name).map(String::as_str);

    // Cached tokens are part of the input, and reasoning tokens are part of the output.
    for (name, value) in [
        ("gen_ai.provider.name", "scripted"),
        ("gen_ai.request.model", "a-model"),
        ("gen_ai.response.model", "a-model"),
        ("gen_ai.response.finish_reasons", "[\"end_turn\"]"),
        ("gen_ai.usage.input_tokens", "9"),
        ("gen_ai.usage.output_tokens", "5"),
        ("gen_ai.usage.cache_read.input_tokens", "3"),
        ("gen_ai.usage.reasoning.output_tokens", "1"),
        ("autonoe.cost.usd", "0.02"),
        ("otel.kind", "client"),
    ] {
        assert_eq!(field(2, name), Some(value), "{name}");
    }
    assert_eq!(field(2, "error.type"), None);
    assert_eq!(
        (field(3, "otel.status_code"), field(3, "error.type")),
        (Some("ERROR"), Some("RATE_LIMITED"))
    );
    assert_eq!(
        (field(4, "gen_ai.tool.call.id"), field(4, "error.type")),
        (Some("call-1-1"), None)
    );
    assert_eq!(
        (field(5, "autonoe.tool.status"), field(5, "error.type")),
        (Some("denied"), Some("PERMISSION_DENIED"))
    );
    assert_eq!(field(1, "gen_ai.conversation.id"), Some("scripted-1"));
    assert_eq!(
        (
            field(1, "gen_ai.usage.input_tokens"),
            field(1, "gen_ai.provider.name")
        ),
        (Some("9"), Some("scripted"))
    );
    assert_eq!(
        (field(0, "autonoe.run.exit"), field(0, "error.type")),
        (Some("all_passed"), None)
    );
}

// Shows: framework/models/content-only-behind-switch
#[tokio::test(start_paused = true)]
async fn spans_omit_content_unless_enabled() {
    let (spans, _) = traced(TraceContent::Omitted).await;

    let all = format!("{spans:?}");
    for private in [
        "secret",
        "Do the initializer work",
        "it works",
        "etc/passwd",
    ] {
        assert!(!all.contains(private), "{private:?} is in {all}");
    }
}

// Shows: framework/models/content-only-behind-switch
#[tokio::test(start_paused = true)]
async fn spans_contain_content_when_enabled() {
    let (spans, _) = traced(TraceContent::Recorded).await;
    let field = |span: usize, name: &str| spans[span].fields[name].as_str();

    // The message format of the conventions.
    let message =
        |text: &str| json!([{"role": "user", "parts": [{"type": "text", "content": text}]}]);
    let answered = |text: &str| {
        json!([{
            "role": "assistant", "parts": [{"type": "text", "content": text}],
            "finish_reason": "stop",
        }])
    };
    assert_eq!(
        field(1, "gen_ai.input.messages"),
        message("Do the initializer work.").to_string()
    );
    assert_eq!(
        field(2, "gen_ai.input.messages"),
        message("a scripted message").to_string()
    );
    assert_eq!(
        field(2, "gen_ai.output.messages"),
        answered("a secret answer").to_string()
    );
    assert!(field(4, "gen_ai.tool.call.arguments").contains("it works"));
    assert!(field(4, "gen_ai.tool.call.result").contains("created"));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_fails_closes_its_spans_with_the_error() {
    let spans = CapturedSpans::start();
    let fixture = Fixture::new([SessionScript::new("fails")
        .sends(autonoe_core::StreamEvent::tool_invocation(
            "call-7",
            "Bash",
            json!({}),
        ))
        .fails(AgentErrorKind::Authentication, "who are you")]);

    fixture.run(fixture.runner()).await;

    let mut all = spans.all();
    all.retain(|span| span.target == SPAN_TARGET);
    let errors: Vec<_> = all
        .iter()
        .map(|span| {
            (
                span.name,
                span.fields["error.type"].as_str(),
                span.is_closed,
            )
        })
        .collect();
    assert_eq!(
        errors,
        [
            ("invoke_workflow", "failed", true),
            ("invoke_agent", "authentication", true),
            ("execute_tool", "CANCELLED", true),
        ]
    );
}
