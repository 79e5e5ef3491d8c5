//! Events about agents, models and tools, the same for every backend.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::{AgentErrorKind, SessionOutcome, TokenUsage};
use autonoe_core::event::{Failure, TraceContext};
use autonoe_core::tool::{ToolDescription, ToolErrorCode, ToolStatus};
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, CostUsd, RunControl, RunEvent,
    RunEventKind, SessionSpec, StreamEvent, ToolContext, ToolError, ToolOutput, TypedTool,
};
use autonoe_testkit::{Expectation, ModelUse, ScriptedBackend, SessionScript, ToolUse};
use futures::{StreamExt, stream};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::behaviour::own_backend::{OwnBackend, done};
use crate::behaviour::support::{Bench, create, passes, plans};

/// Returns the events with these names, in order.
fn events_named(bench: &Bench, names: &[&str]) -> Vec<Value> {
    let is_wanted = |event: &Value| names.iter().any(|name| event["event"] == *name);
    let mut events = bench.log.json();
    events.retain(is_wanted);
    events
}

fn tokens(input: u64, output: u64) -> TokenUsage {
    TokenUsage {
        input,
        output,
        ..TokenUsage::default()
    }
}

// Shows: framework/callbacks/on-agent-start-ctx-query, framework/callbacks/on-agent-end-ctx-answer
// Shows: framework/callbacks/on-answer-stream-stream
#[tokio::test(start_paused = true)]
async fn an_agent_starts_with_its_prompt_and_ends_with_its_answer() {
    let bench = Bench::new([
        SessionScript::new("plans")
            .says("I look around. ")
            .uses_tool("mcp__autonoe__create", create(&["A"]))
            .sends(StreamEvent::text("not my words").by_agent("helper"))
            .says("It is ")
            .says("planned.")
            .ends(),
        passes("A"),
    ]);

    bench.run(bench.runner()).await;

    let reported = events_named(&bench, &["agent_started", "agent_ended", "agent_failed"]);
    assert_eq!(reported.len(), 4);
    assert_eq!(reported[0]["prompt"], "Do the initializer work.");
    assert_eq!(reported[1]["answer"], "It is planned.");
    assert_eq!(reported[2]["prompt"], "Do the coding work.");
    assert_eq!(reported[0]["spanId"], reported[1]["spanId"]);
}

// Shows: framework/callbacks/on-error-ctx-error
#[tokio::test(start_paused = true)]
async fn an_agent_that_does_not_finish_fails_once_without_output() {
    for (script, code) in [
        (SessionScript::new("breaks off").says("oh"), "no_end"),
        (
            SessionScript::new("fails")
                .says("oh")
                .fails(AgentErrorKind::Crashed, "gone"),
            "crashed",
        ),
        (
            SessionScript::new("panics").says("oh").panics(),
            "backend_panicked",
        ),
        (
            SessionScript::new("errs")
                .says("oh")
                .ends_with(SessionOutcome::ExecutionError {
                    messages: vec!["it broke".to_owned()],
                }),
            "execution_error",
        ),
        (
            SessionScript::new("hits the quota").hits_quota(None),
            "quota_exceeded",
        ),
    ] {
        let bench = Bench::new([script]);

        bench
            .run(bench.runner().max_iterations(1).max_retries(0))
            .await;

        let reported = events_named(&bench, &["agent_ended", "agent_failed"]);
        assert_eq!(reported.len(), 1, "{code}");
        assert_eq!(
            (&reported[0]["event"], &reported[0]["error"]["code"]),
            (&json!("agent_failed"), &json!(code))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_agent_failed_and_so_did_its_open_calls() {
    let bench = Bench::new([SessionScript::new("hangs in a call")
        .sends(StreamEvent::tool_invocation(
            "call-7",
            "Bash",
            json!({"command": "sleep 9"}),
        ))
        .hangs()]);
    let control = RunControl::new();
    let cancel = control.clone();
    let observer = move |event: &RunEvent<'_>| {
        if let RunEventKind::Agent {
            stream: StreamEvent::ToolInvocation { .. },
        } = event.kind
        {
            cancel.cancel();
        }
    };

    let runner = bench
        .runner()
        .observer(Arc::new(observer))
        .build()
        .expect("parts fit");
    runner.run(&control).await;

    let reported = events_named(&bench, &["tool_ended", "agent_failed", "session_ended"]);
    assert_eq!(reported.len(), 3, "{reported:#?}");
    assert_eq!(
        (&reported[0]["callId"], &reported[0]["error"]),
        (&json!("call-7"), &json!("CANCELLED"))
    );
    assert_eq!(reported[1]["error"]["code"], "cancelled");
}

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
async fn a_tool_call_ends_with_its_result_and_what_became_of_it() {
    let print = |count: Value| ToolUse::new("mcp__autonoe__print", json!({ "count": count }));
    let bench = Bench::new([
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

    bench
        .run(
            bench
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
    let json = &events_named(&bench, &["tool_ended"])[0];
    assert_eq!(
        (&json["title"], &json["metadata"]),
        (&json!("Printed"), &json!({"pages": 3}))
    );
    assert_eq!(json["output"], Value::Null, "it stands in the event before");
    let (details, progress) = (
        events_named(&bench, &["debug"]),
        events_named(&bench, &["tool_progress"]),
    );
    assert_eq!(
        (&details[0]["spanId"], &progress[0]["spanId"]),
        (&json["spanId"], &json["spanId"])
    );
    assert_eq!(
        (&details[0]["message"], &details[0]["data"]),
        (&json!("the printer is warm"), &json!({"celsius": 40}))
    );
    let traces = events_named(&bench, &["trace"]);
    assert_eq!(
        (&traces[0]["message"], &traces[0]["data"]),
        (&json!("a page is fed"), &json!({"tray": 2}))
    );
}

// Shows: framework/tools/tool-execution-result-with-error
// Shows: framework/tools/result-title-metadata-output
#[tokio::test(start_paused = true)]
async fn an_error_in_the_metadata_is_a_failure_with_title_and_details() {
    let bench = Bench::new([
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

    let runner = bench.runner().tool(Printer.into_tool());
    bench.run(runner.observer(Arc::new(observer))).await;

    let mut ended = events_named(&bench, &["tool_ended"]).swap_remove(0);
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

// Shows: framework/callbacks/on-llmstart-ctx-model-messages
// Shows: framework/callbacks/on-llmstream-ctx-chunk
// Shows: framework/callbacks/on-llmend-ctx-response-usage
// Shows: framework/callbacks/on-answer-stream-stream
// Shows: framework/callbacks/on-error-ctx-error
#[tokio::test(start_paused = true)]
async fn calls_of_models_are_told_with_their_pieces_usage_and_cost() {
    let cost = Some(CostUsd::from_cents(2));
    let broken = Failure::retryable("RATE_LIMITED", "too many calls");
    let bench = Bench::new([
        SessionScript::new("asks")
            .calls_model(
                ModelUse::new("a-model", "Let me see.")
                    .with_messages(3)
                    .using(tokens(9, 4), cost),
            )
            .calls_model(
                ModelUse::new("a-model", "")
                    .failing(broken)
                    .using(tokens(5, 0), None),
            )
            .uses_tool("mcp__autonoe__create", create(&["A"]))
            .ends(),
        passes("A"),
    ]);
    let messages: Arc<Mutex<Vec<Value>>> = Arc::default();
    let answers: Arc<Mutex<Vec<(String, usize)>>> = Arc::default();
    let (keep, keep_answers) = (messages.clone(), answers.clone());
    let observer = move |event: &RunEvent<'_>| match &event.kind {
        RunEventKind::ModelStarted { request: asked } => keep
            .lock()
            .expect("not poisoned")
            .push(asked.messages.to_json()),
        RunEventKind::ModelEnded { answer } => keep_answers
            .lock()
            .expect("not poisoned")
            .push((answer.text.to_owned(), answer.tool_calls)),
        _ => {}
    };

    let report = bench.run(bench.runner().observer(Arc::new(observer))).await;

    let reported = events_named(
        &bench,
        &[
            "session_started",
            "model_started",
            "model_chunk",
            "model_ended",
            "model_failed",
        ],
    );
    let names: Vec<_> = reported
        .iter()
        .filter_map(|event| event["event"].as_str())
        .collect();
    assert_eq!(
        names,
        [
            "session_started",
            "model_started",
            "model_chunk",
            "model_chunk",
            "model_chunk",
            "model_ended",
            "model_started",
            "model_failed",
            "session_started",
        ]
    );
    let (session, started, chunk, ended) = (&reported[0], &reported[1], &reported[2], &reported[5]);
    assert_eq!(
        (&started["model"], &started["messages"]),
        (&json!("a-model"), &json!(3))
    );
    assert_eq!(
        (&chunk["part"], &chunk["text"]),
        (&json!("text"), &json!("Let "))
    );
    assert_eq!(
        (&ended["tokens"]["input"], &ended["costUsd"]),
        (&json!(9), &json!("0.02"))
    );
    assert_eq!(ended["stopReason"], "end_turn");
    assert_eq!(started["parentSpanId"], session["spanId"]);
    assert!(
        reported[1..6]
            .iter()
            .all(|event| event["spanId"] == started["spanId"])
    );
    assert_ne!(reported[6]["spanId"], started["spanId"]);
    assert_eq!(reported[7]["error"]["code"], "RATE_LIMITED");
    assert_eq!(report.tokens.total(), 18);
    // The messages are available on request.
    let messages = messages.lock().expect("not poisoned");
    assert_eq!(messages[0].as_array().map(Vec::len), Some(3));
    let answers = answers.lock().expect("not poisoned");
    assert_eq!(*answers, [("Let me see.".to_owned(), 0)]);
}

// Shows: framework/callbacks/on-spinner-start-message-on
#[tokio::test(start_paused = true)]
async fn progress_is_shown_and_hidden_also_when_the_session_is_cut_off() {
    let agents = ScriptedBackend::new([
        SessionScript::new("compacts")
            .shows("compacting", Duration::from_secs(1))
            .uses_tool("mcp__autonoe__create", create(&["A"]))
            .ends(),
        SessionScript::new("takes for ever")
            .says("x")
            .shows("thinking", Duration::from_secs(9000)),
    ]);
    let bench = Bench::with(agents.unverified());

    let runner = bench
        .runner()
        .idle_limit(Duration::from_secs(60))
        .max_retries(0);
    bench.run(runner).await;

    let reported = events_named(
        &bench,
        &["progress_started", "progress_ended", "session_ended"],
    );
    let names: Vec<_> = reported
        .iter()
        .filter_map(|event| event["event"].as_str())
        .collect();
    let session = [
        "progress_started",
        "progress_started",
        "progress_ended",
        "progress_ended",
        "session_ended",
    ];
    assert_eq!(names, [session, session].concat());
    let messages = [&reported[0]["message"], &reported[1]["message"]];
    assert_eq!(messages, ["working", "compacting"]);
}

// Shows: framework/callbacks/on-spinner-start-message-on
#[tokio::test(start_paused = true)]
async fn progress_surrounds_every_agent() {
    let open = StreamEvent::tool_invocation("c", "Bash", json!({"command": "ls"}));
    let says = |name: &str| SessionScript::new(name).says("x").sends(open.clone());
    for (script, end) in [
        (plans(&["A"]), "agent_ended"),
        (says("breaks off"), "agent_failed"),
        (
            says("fails").fails(AgentErrorKind::Crashed, "gone"),
            "agent_failed",
        ),
        (says("panics").panics(), "agent_failed"),
        (says("hangs").hangs(), "agent_failed"),
    ] {
        let bench = Bench::new([script]);
        let control = RunControl::new();
        let cancel = control.clone();
        let observer = move |event: &RunEvent<'_>| {
            // Only the hanging agent is still there.
            if let RunEventKind::Agent {
                stream: StreamEvent::ToolInvocation { name, .. },
            } = event.kind
                && name == "Bash"
            {
                let cancel = cancel.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_secs(60)).await;
                    cancel.cancel();
                });
            }
        };

        let runner = bench.runner().max_iterations(1).max_retries(0);
        let runner = runner.observer(Arc::new(observer));
        runner.build().expect("parts fit").run(&control).await;

        let mut names: Vec<_> = bench
            .log
            .json()
            .iter()
            .filter_map(|event| event["event"].as_str().map(str::to_owned))
            .collect();
        let start = names.iter().position(|name| name == "agent_started");
        names.drain(..start.expect("an agent started"));
        let stop = names.iter().position(|name| name == end);
        names.truncate(stop.expect("it ended") + 1);
        assert_eq!(
            names[..2],
            ["agent_started", "progress_started"],
            "{names:?}"
        );
        assert_eq!(
            names[names.len() - 2..],
            ["progress_ended", end],
            "{names:?}"
        );
        let hidden = names.iter().filter(|name| *name == "progress_ended");
        assert_eq!(hidden.count(), 1);
    }
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
    let bench = Bench::with(ScriptedBackend::new([]));

    let runner = bench.runner().agents(Arc::new(backend));
    let runner = runner.tool(Printer.into_tool()).max_iterations(1);
    bench.run(runner).await;

    let ended: Vec<_> = events_named(&bench, &["tool_ended"])
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
    let progress = events_named(&bench, &["tool_progress"]);
    let mut ids = [&progress[0]["callId"], &progress[1]["callId"]].map(Value::to_string);
    ids.sort();
    assert_eq!(ids, ["\"a\"", "\"b\""]);
}

/// Scripted agents that keep the spec of their last session.
struct Keeping {
    agents: Arc<ScriptedBackend>,
    last: Mutex<Option<SessionSpec>>,
}

impl Keeping {
    fn new(bench: &Bench) -> Self {
        Self {
            agents: bench.agents.clone(),
            last: Mutex::default(),
        }
    }

    fn last(&self) -> SessionSpec {
        let last = self.last.lock().expect("not poisoned");
        last.clone().expect("there was a session")
    }
}

#[async_trait]
impl AgentClientFactory for Keeping {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        self.agents.probe().await
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        *self.last.lock().expect("not poisoned") = Some(spec.clone());
        self.agents.create(spec)
    }
}

#[tokio::test(start_paused = true)]
async fn no_event_of_a_session_follows_its_end() {
    let bench = Bench::new([plans(&["A"])]);
    let agents = Arc::new(Keeping::new(&bench));

    bench
        .run(bench.runner().agents(agents.clone()).max_iterations(1))
        .await;
    let before = bench.log.json().len();
    let events = agents.last().events;
    events.debug("I am still here", None);
    drop(events.progress("working on"));

    assert_eq!(bench.log.json().len(), before);
}

#[tokio::test(start_paused = true)]
async fn the_same_script_with_models_gives_the_same_ids() {
    let story = async || {
        let bench = Bench::new([
            SessionScript::new("asks")
                .calls_model(ModelUse::new("a-model", "one"))
                .calls_model(ModelUse::new("a-model", "two"))
                .uses_tool("mcp__autonoe__create", create(&["A"]))
                .ends(),
            passes("A"),
        ]);
        bench.run(bench.runner()).await;
        serde_json::to_string(&bench.log.json()).expect("it serialises")
    };

    assert_eq!(story().await, story().await);
}

// Shows: framework/models/correlation-across-processes
#[tokio::test(start_paused = true)]
async fn a_run_can_be_part_of_a_trace_that_began_elsewhere() {
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let parent = TraceContext::parse(&format!("00-{trace}-b7ad6b7169203331-00"), Some("a=1"));
    let bench = Bench::new([plans(&["A"])]);
    let agents = Arc::new(Keeping::new(&bench));

    let runner = bench
        .runner()
        .agents(agents.clone())
        .trace(parent.expect("it is one"));
    bench.run(runner.max_iterations(1)).await;

    let events = bench.log.json();
    assert!(events.iter().all(|event| event["traceId"] == trace));
    assert_eq!(events[0]["parentSpanId"], "b7ad6b7169203331");
    let session = events
        .iter()
        .find(|event| event["event"] == "session_started")
        .expect("told");
    let handed_on = agents.last().trace.expect("there is one");
    let span = session["spanId"].as_str().unwrap_or_default();
    assert_eq!(handed_on.traceparent(), format!("00-{trace}-{span}-00"));
    assert_eq!(handed_on.tracestate(), Some("a=1"));
}
