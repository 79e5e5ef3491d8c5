//! Events about calls of tools, the same for every backend.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::tool::{ToolDescription, ToolErrorCode, ToolStatus};
use autonoe_core::{
    RunEvent, RunEventKind, SessionSpec, StreamEvent, ToolContext, ToolError, ToolOutput, TypedTool,
};
use autonoe_testkit::{Expectation, ScriptedBackend, SessionScript, ToolUse};
use futures::{StreamExt, stream};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::behaviour::events::events_named;
use crate::behaviour::own_backend::{OwnBackend, done};
use crate::behaviour::support::{Fixture, create, passes};

#[derive(Deserialize, JsonSchema)]
struct Pages {
    count: u32,
}

struct Printer;

#[async_trait]
impl TypedTool for Printer {
    type Input = Pages;

    fn describe(&self) -> ToolDescription {
        ToolDescription::new("print", "Prints.")
    }

    async fn run(&self, input: Pages, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        context.progress("printing");
        context
            .events()
            .debug("the printer is warm", Some(&json!({"celsius": 40})));
        context
            .events()
            .trace("a page is fed", Some(&json!({"tray": 2})));
        tokio::time::sleep(Duration::from_secs(2)).await;
        if input.count > 99 {
            return Ok(
                ToolOutput::new("9 pages are printed, then the paper jammed")
                    .with_title("Printed 9 pages")
                    .with_metadata("pages", 9)
                    .with_metadata("error", "PAPER_JAM"),
            );
        }
        if input.count > 9 {
            return Err(ToolError::new(
                ToolErrorCode::new("OUT_OF_PAPER"),
                "refill it",
            ));
        }
        Ok(ToolOutput::new("printed")
            .with_title("Printed")
            .with_details(&json!({"pages": input.count})))
    }
}

const INVALID: &str =
    r#"the arguments of print do not match its schema: /count: "many" is not of type "integer""#;
const JAMMED: &str = "9 pages are printed, then the paper jammed";
const DENIED: &str = r#"denied by file-scope: "/etc/passwd" is outside the project; write inside the project or /tmp"#;

// Shows: framework/callbacks/on-tool-end-ctx-tool, framework/callbacks/on-debug-message-data-on
// Shows: framework/tools/result-title-metadata-output
// Shows: framework/tools/define-name-description-parameters-execute
// Shows: framework/tools/tool-response-success-or-error
// Shows: framework/tools/tool-execution-result-with-error
#[tokio::test(start_paused = true)]
async fn a_tool_call_ends_with_its_result_and_its_status() {
    let print = |count: Value| ToolUse::new("mcp__autonoe__print", json!({ "count": count }));
    let fixture = Fixture::new([
        SessionScript::new("prints")
            .calls(print(json!("3")))
            .calls(print(json!(10)).expecting(Expectation::Fails))
            .calls(print(json!("many")).expecting(Expectation::Fails))
            .calls(print(json!(100)).expecting(Expectation::Fails))
            .calls(ToolUse::new("Bash", json!({"command": "ls"})).answering("a file"))
            .is_denied_by(
                "file-scope",
                "Write",
                json!({"file_path": "/etc/passwd", "content": ""}),
            )
            .uses_tool("mcp__autonoe__create", create(&["A"]))
            .ends(),
        passes("A"),
    ]);
    type Ends = Arc<Mutex<Vec<(String, String, ToolStatus, Option<ToolErrorCode>, Duration)>>>;
    let ends = Ends::default();
    let keep = ends.clone();
    let responses = Arc::new(Mutex::new(Vec::new()));
    let keep_responses = responses.clone();
    let observer = move |event: &RunEvent<'_>| {
        if let RunEventKind::ToolEnded {
            tool,
            output,
            execution,
            ..
        } = &event.kind
        {
            let (status, error) = (execution.status, execution.error.clone());
            let ended = (
                tool.to_string(),
                output.to_string(),
                status,
                error,
                execution.duration,
            );
            keep.lock().expect("not poisoned").push(ended);
            let response = json!(execution.response(output));
            keep_responses.lock().expect("not poisoned").push(response);
        }
    };

    fixture
        .run(
            fixture
                .runner()
                .tool(Printer.into_tool())
                .observer(Arc::new(observer)),
        )
        .await;

    let seconds = Duration::from_secs;
    let ends = ends.lock().expect("not poisoned");
    let found: Vec<_> = ends
        .iter()
        .map(|(tool, _, status, error, duration)| {
            (
                tool.as_str(),
                *status,
                error.as_ref().map(ToolErrorCode::as_str),
                *duration,
            )
        })
        .take(6)
        .collect();
    assert_eq!(
        found,
        [
            ("mcp__autonoe__print", ToolStatus::Ok, None, seconds(2)),
            (
                "mcp__autonoe__print",
                ToolStatus::Error,
                Some("OUT_OF_PAPER"),
                seconds(2)
            ),
            (
                "mcp__autonoe__print",
                ToolStatus::Error,
                Some("VALIDATION_ERROR"),
                seconds(0)
            ),
            (
                "mcp__autonoe__print",
                ToolStatus::Error,
                Some("PAPER_JAM"),
                seconds(2)
            ),
            ("Bash", ToolStatus::Ok, None, seconds(0)),
            (
                "Write",
                ToolStatus::Denied,
                Some("PERMISSION_DENIED"),
                seconds(0)
            ),
        ]
    );
    assert_eq!(
        (ends[0].1.as_str(), ends[4].1.as_str()),
        ("printed", "a file")
    );
    let responses = responses.lock().expect("not poisoned");
    assert_eq!(
        responses[..6],
        [
            json!({"success": true, "result": "printed", "message": "Printed"}),
            json!({"success": false, "error": "OUT_OF_PAPER", "message": "refill it"}),
            json!({"success": false, "error": "VALIDATION_ERROR", "message": INVALID}),
            json!({"success": false, "error": "PAPER_JAM", "message": JAMMED}),
            json!({"success": true, "result": "a file", "message": ""}),
            json!({"success": false, "error": "PERMISSION_DENIED", "message": DENIED}),
        ]
    );
    let json = &events_named(&fixture, &["tool_ended"])[0];
    assert_eq!(
        (&json["title"], &json["metadata"]),
        (&json!("Printed"), &json!({"pages": 3}))
    );
    assert_eq!(json["output"], Value::Null, "it stands in the event before");
    let (details, progress) = (
        events_named(&fixture, &["debug"]),
        events_named(&fixture, &["tool_progress"]),
    );
    assert_eq!(
        (&details[0]["spanId"], &progress[0]["spanId"]),
        (&json["spanId"], &json["spanId"])
    );
    assert_eq!(
        (&details[0]["message"], &details[0]["data"]),
        (&json!("the printer is warm"), &json!({"celsius": 40}))
    );
    let traces = events_named(&fixture, &["trace"]);
    assert_eq!(
        (&traces[0]["message"], &traces[0]["data"]),
        (&json!("a page is fed"), &json!({"tray": 2}))
    );
}

// Shows: framework/tools/tool-execution-result-with-error
// Shows: framework/tools/result-title-metadata-output
#[tokio::test(start_paused = true)]
async fn an_error_in_the_metadata_is_a_failure_with_title_and_details() {
    let fixture = Fixture::new([
        SessionScript::new("prints")
            .calls(
                ToolUse::new("mcp__autonoe__print", json!({"count": 100}))
                    .expecting(Expectation::Fails),
            )
            .uses_tool("mcp__autonoe__create", create(&["A"]))
            .ends(),
        passes("A"),
    ]);
    let outputs: Arc<Mutex<Vec<String>>> = Arc::default();
    let keep = outputs.clone();
    let observer = move |event: &RunEvent<'_>| {
        if let RunEventKind::ToolEnded { output, .. } = &event.kind {
            keep.lock().expect("not poisoned").push(output.to_string());
        }
    };

    let runner = fixture.runner().tool(Printer.into_tool());
    fixture.run(runner.observer(Arc::new(observer))).await;

    let mut ended = events_named(&fixture, &["tool_ended"]).swap_remove(0);
    let place = ended.as_object_mut().expect("an object");
    for name in [
        "at",
        "runId",
        "session",
        "spanId",
        "parentSpanId",
        "traceId",
    ] {
        place.remove(name);
    }
    let call_id = place.remove("callId").expect("every call has an id");
    assert!(call_id.is_string());
    assert_eq!(
        ended,
        json!({
            "event": "tool_ended",
            "tool": "mcp__autonoe__print",
            "status": "error",
            "error": "PAPER_JAM",
            "durationMs": 2000,
            "title": "Printed 9 pages",
            "metadata": {"pages": 9, "error": "PAPER_JAM"},
        })
    );
    assert_eq!(
        outputs.lock().expect("not poisoned")[0],
        "9 pages are printed, then the paper jammed"
    );
}

/// Calls a tool as an MCP server does, without the agent's ID of the call.
async fn calls_without_id(spec: SessionSpec, count: u32) {
    let input = json!({"count": count});
    let context = ToolContext::new(spec.key.clone());
    let _ = spec.tools.call("print", input, context).await;
}

// Shows: framework/tools/call-ids-of-served-tools
#[tokio::test(start_paused = true)]
async fn a_call_without_an_id_ends_with_its_title_and_code() {
    let invocation = |id: &str, count: u32| {
        let input = json!({"count": count});
        Ok(StreamEvent::tool_invocation(
            id,
            "mcp__autonoe__print",
            input,
        ))
    };
    let response = |id: &str| Ok(StreamEvent::tool_response(id, "..", ToolStatus::Ok));
    let backend = OwnBackend::new(move |spec| {
        let called = stream::once(async move {
            let calls = [3, 100].map(|count| calls_without_id(spec.clone(), count));
            futures::future::join_all(calls).await;
            Ok(StreamEvent::text("working"))
        });
        stream::iter([invocation("a", 100), invocation("b", 3)])
            .chain(called)
            .chain(stream::iter([response("a"), response("b"), done()]))
            .boxed()
    });
    let fixture = Fixture::with(ScriptedBackend::new([]));

    let runner = fixture.runner().agents(Arc::new(backend));
    let runner = runner.tool(Printer.into_tool()).max_iterations(1);
    fixture.run(runner).await;

    let ended: Vec<_> = events_named(&fixture, &["tool_ended"])
        .iter()
        .map(|event| {
            json!([
                event["callId"],
                event["status"],
                event["error"],
                event["title"]
            ])
        })
        .collect();
    assert_eq!(
        ended,
        [
            json!(["a", "error", "PAPER_JAM", "Printed 9 pages"]),
            json!(["b", "ok", null, "Printed"]),
        ]
    );
    let progress = events_named(&fixture, &["tool_progress"]);
    let mut ids = [&progress[0]["callId"], &progress[1]["callId"]].map(Value::to_string);
    ids.sort();
    assert_eq!(ids, ["\"a\"", "\"b\""]);
}

// Shows: framework/tools/call-ids-of-other-acp-agents
#[tokio::test(start_paused = true)]
async fn a_call_that_was_announced_by_another_name_ends_as_other_without_title_and_code() {
    let backend = OwnBackend::new(move |spec| {
        let called = stream::once(async move {
            calls_without_id(spec, 100).await;
            Ok(StreamEvent::text("working"))
        });
        let input = json!({"count": 100});
        stream::iter([Ok(StreamEvent::tool_invocation("a", "other", input))])
            .chain(called)
            .chain(stream::iter([
                Ok(StreamEvent::tool_response("a", "..", ToolStatus::Ok)),
                done(),
            ]))
            .boxed()
    });
    let fixture = Fixture::with(ScriptedBackend::new([]));

    let runner = fixture.runner().agents(Arc::new(backend));
    let runner = runner.tool(Printer.into_tool()).max_iterations(1);
    fixture.run(runner).await;

    let ended = &events_named(&fixture, &["tool_ended"])[0];
    let details = ["callId", "tool", "title", "error"].map(|key| &ended[key]);
    assert_eq!(json!(details), json!(["a", "other", null, null]));
    let progress = events_named(&fixture, &["tool_progress"]);
    assert_eq!(progress[0]["callId"], Value::Null);
}
