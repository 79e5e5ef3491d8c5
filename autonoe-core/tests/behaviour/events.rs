//! Events about agents and models, the same for every backend.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::{AgentErrorKind, SessionOutcome, TokenUsage};
use autonoe_core::event::{Failure, TraceContext};
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, CostUsd, RunControl, RunEvent,
    RunEventKind, SessionSpec, StreamEvent,
};
use autonoe_testkit::{ModelUse, ScriptedBackend, SessionScript};
use serde_json::{Value, json};

use crate::behaviour::support::{Fixture, create, passes, plans};

/// Returns the events with these names, in order.
pub(crate) fn events_named(fixture: &Fixture, names: &[&str]) -> Vec<Value> {
    let has_name = |event: &Value| names.iter().any(|name| event["event"] == *name);
    let mut events = fixture.log.json();
    events.retain(has_name);
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
    let fixture = Fixture::new([
        SessionScript::new("plans")
            .says("I look around. ")
            .uses_tool("mcp__autonoe__create", create(&["A"]))
            .sends(StreamEvent::text("not my words").by_agent("helper"))
            .says("It is ")
            .says("planned.")
            .ends(),
        passes("A"),
    ]);

    fixture.run(fixture.runner()).await;

    let reported = events_named(&fixture, &["agent_started", "agent_ended", "agent_failed"]);
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
        let fixture = Fixture::new([script]);

        fixture
            .run(fixture.runner().max_iterations(1).max_retries(0))
            .await;

        let reported = events_named(&fixture, &["agent_ended", "agent_failed"]);
        assert_eq!(reported.len(), 1, "{code}");
        assert_eq!(
            (&reported[0]["event"], &reported[0]["error"]["code"]),
            (&json!("agent_failed"), &json!(code))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_agent_failed_and_so_did_its_open_calls() {
    let fixture = Fixture::new([SessionScript::new("hangs in a call")
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

    let runner = fixture
        .runner()
        .observer(Arc::new(observer))
        .build()
        .expect("parts fit");
    runner.run(&control).await;

    let reported = events_named(&fixture, &["tool_ended", "agent_failed", "session_ended"]);
    assert_eq!(reported.len(), 3, "{reported:#?}");
    assert_eq!(
        (&reported[0]["callId"], &reported[0]["error"]),
        (&json!("call-7"), &json!("CANCELLED"))
    );
    assert_eq!(reported[1]["error"]["code"], "cancelled");
}

// Shows: framework/callbacks/on-llmstart-ctx-model-messages
// Shows: framework/callbacks/on-llmstream-ctx-chunk
// Shows: framework/callbacks/on-llmend-ctx-response-usage
// Shows: framework/callbacks/on-answer-stream-stream
// Shows: framework/callbacks/on-error-ctx-error
#[tokio::test(start_paused = true)]
async fn model_calls_are_reported_with_chunks_usage_and_cost() {
    let cost = Some(CostUsd::from_cents(2));
    let broken = Failure::retryable("RATE_LIMITED", "too many calls");
    let fixture = Fixture::new([
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
        RunEventKind::ModelStarted { request } => keep
            .lock()
            .expect("not poisoned")
            .push(request.messages.to_json()),
        RunEventKind::ModelEnded { answer } => keep_answers
            .lock()
            .expect("not poisoned")
            .push((answer.text.to_owned(), answer.tool_calls)),
        _ => {}
    };

    let report = fixture
        .run(fixture.runner().observer(Arc::new(observer)))
        .await;

    let reported = events_named(
        &fixture,
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
async fn an_interrupted_session_ends_its_progress() {
    let agents = ScriptedBackend::new([
        SessionScript::new("compacts")
            .shows("compacting", Duration::from_secs(1))
            .uses_tool("mcp__autonoe__create", create(&["A"]))
            .ends(),
        SessionScript::new("takes for ever")
            .says("x")
            .shows("thinking", Duration::from_secs(9000)),
    ]);
    let fixture = Fixture::with(agents.unverified());

    let runner = fixture
        .runner()
        .idle_limit(Duration::from_secs(60))
        .max_retries(0);
    fixture.run(runner).await;

    let reported = events_named(
        &fixture,
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
    let speaking = |name: &str| SessionScript::new(name).says("x").sends(open.clone());
    for (script, end) in [
        (plans(&["A"]), "agent_ended"),
        (speaking("breaks off"), "agent_failed"),
        (
            speaking("fails").fails(AgentErrorKind::Crashed, "gone"),
            "agent_failed",
        ),
        (speaking("panics").panics(), "agent_failed"),
        (speaking("hangs").hangs(), "agent_failed"),
    ] {
        let fixture = Fixture::new([script]);
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

        let runner = fixture.runner().max_iterations(1).max_retries(0);
        let runner = runner.observer(Arc::new(observer));
        runner.build().expect("parts fit").run(&control).await;

        let mut names: Vec<_> = fixture
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

/// Scripted agents that keep the spec of their last session.
struct SpecRecorder {
    agents: Arc<ScriptedBackend>,
    last: Mutex<Option<SessionSpec>>,
}

impl SpecRecorder {
    fn new(fixture: &Fixture) -> Self {
        Self {
            agents: fixture.agents.clone(),
            last: Mutex::default(),
        }
    }

    fn last(&self) -> SessionSpec {
        let last = self.last.lock().expect("not poisoned");
        last.clone().expect("there was a session")
    }
}

#[async_trait]
impl AgentClientFactory for SpecRecorder {
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
    let fixture = Fixture::new([plans(&["A"])]);
    let agents = Arc::new(SpecRecorder::new(&fixture));

    fixture
        .run(fixture.runner().agents(agents.clone()).max_iterations(1))
        .await;
    let before = fixture.log.json().len();
    let events = agents.last().events;
    events.debug("I am still here", None);
    drop(events.progress("working on"));

    assert_eq!(fixture.log.json().len(), before);
}

#[tokio::test(start_paused = true)]
async fn the_same_script_with_models_gives_the_same_ids() {
    let play = async || {
        let fixture = Fixture::new([
            SessionScript::new("asks")
                .calls_model(ModelUse::new("a-model", "one"))
                .calls_model(ModelUse::new("a-model", "two"))
                .uses_tool("mcp__autonoe__create", create(&["A"]))
                .ends(),
            passes("A"),
        ]);
        fixture.run(fixture.runner()).await;
        serde_json::to_string(&fixture.log.json()).expect("it serialises")
    };

    assert_eq!(play().await, play().await);
}

// Shows: framework/models/correlation-across-processes
#[tokio::test(start_paused = true)]
async fn a_run_can_join_an_existing_trace() {
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let parent = TraceContext::parse(&format!("00-{trace}-b7ad6b7169203331-00"), Some("a=1"));
    let fixture = Fixture::new([plans(&["A"])]);
    let agents = Arc::new(SpecRecorder::new(&fixture));

    let runner = fixture
        .runner()
        .agents(agents.clone())
        .trace(parent.expect("it is one"));
    fixture.run(runner.max_iterations(1)).await;

    let events = fixture.log.json();
    assert!(events.iter().all(|event| event["traceId"] == trace));
    assert_eq!(events[0]["parentSpanId"], "b7ad6b7169203331");
    let session = events
        .iter()
        .find(|event| event["event"] == "session_started")
        .expect("an event");
    let trace_context = agents.last().trace.expect("there is one");
    let span = session["spanId"].as_str().unwrap_or_default();
    assert_eq!(trace_context.traceparent(), format!("00-{trace}-{span}-00"));
    assert_eq!(trace_context.tracestate(), Some("a=1"));
}
