//! Events for observers, and failing observers.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autonoe_core::event::Events;
use autonoe_core::ledger::StatusChange;
use autonoe_core::time::{SeededIds, SystemClock};
use autonoe_core::tool::ToolDescription;
use autonoe_core::{
    DeliverableStatus, ExitReason, RunEvent, RunEventKind, RunObserver, ToolContext, ToolError,
    ToolOutput, TypedTool,
};
use autonoe_testkit::{EventLog, SessionScript};
use serde_json::{Map, Value, json};

use crate::behaviour::support::{Fixture, create, passes, plans, status};

// Shows: interfaces/tools/deliverable-status-notification-id-description
// Shows: interfaces/tools/deliverable-status-callback, interfaces/tools/new-deliverables
#[tokio::test(start_paused = true)]
async fn status_changes_include_the_previous_status() {
    let changes: Arc<Mutex<Vec<StatusChange>>> = Arc::default();
    let keep = changes.clone();
    let fixture = Fixture::new([
        plans(&["A"]),
        SessionScript::new("marks twice")
            .uses_tool("mcp__autonoe__set_status", status("A", "pending"))
            .uses_tool("mcp__autonoe__set_status", status("A", "passed"))
            .ends(),
    ]);
    let observer = move |event: &RunEvent<'_>| {
        if let RunEventKind::StatusChanged { change } = &event.kind {
            keep.lock().expect("not poisoned").push((*change).clone());
        }
    };

    fixture
        .run(fixture.runner().observer(Arc::new(observer)))
        .await;

    let reported: Vec<_> = changes
        .lock()
        .expect("not poisoned")
        .iter()
        .map(|change| {
            let (id, description) = (change.id.to_string(), change.description.clone());
            (id, change.previous, change.status, description)
        })
        .collect();
    // Setting pending to pending is not a change.
    assert_eq!(
        reported,
        [
            (
                "A".to_owned(),
                None,
                DeliverableStatus::Pending,
                "a thing".to_owned()
            ),
            (
                "A".to_owned(),
                Some(DeliverableStatus::Pending),
                DeliverableStatus::Passed,
                "a thing".to_owned()
            ),
        ]
    );
}

// Shows: framework/callbacks/all-are-optional-synchronous
#[tokio::test(start_paused = true)]
async fn a_panicking_observer_stops_neither_the_run_nor_other_observers() {
    let fixture = Fixture::new([plans(&["A"]), passes("A")]);
    let panics: Arc<dyn RunObserver> = Arc::new(|_: &RunEvent<'_>| panic!("the observer panics"));

    let runner = fixture.runner().observer(panics);
    let report = fixture.run(runner).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
    assert_eq!(
        (
            fixture.log.count("run_started"),
            fixture.log.count("run_ended")
        ),
        (1, 1)
    );
}

// Shows: framework/callbacks/all-are-optional-synchronous
#[tokio::test(start_paused = true)]
async fn each_event_is_observed_in_order_before_the_run_continues() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let fixture = Fixture::new([plans(&["A"]), passes("A")]);
    let thread = std::thread::current().id();
    let observer = |name: &'static str| {
        let seen = seen.clone();
        move |event: &RunEvent<'_>| {
            assert_eq!(std::thread::current().id(), thread);
            let event = json!(event)["event"].to_string();
            seen.lock()
                .expect("not poisoned")
                .push(format!("{name}: {event}"));
        }
    };
    // The run has one thread, and it calls one observer after the other.
    let runner = fixture.runner().observer(observer("first"));
    let runner = runner.observer(observer("second"));

    fixture.run(runner).await;

    let seen = seen.lock().expect("not poisoned");
    let events = fixture.log.json();
    assert_eq!(seen.len(), 2 * events.len());
    for (calls, event) in seen.chunks(2).zip(&events) {
        let name = &event["event"];
        assert_eq!(calls, [format!("first: {name}"), format!("second: {name}")]);
    }
}

// Shows: framework/callbacks/all-are-optional-synchronous
#[test]
fn an_event_is_observed_before_its_emitter_continues() {
    let log = Arc::new(EventLog::new());
    let observers: Vec<Arc<dyn RunObserver>> = vec![log.clone()];
    let events = Events::new(observers, SystemClock, SeededIds::new(1));

    events.debug("x", None);

    assert_eq!(log.count("debug"), 1);
}

// Shows: framework/callbacks/on-tool-start-ctx-tool
// Shows: framework/callbacks/all-receive-span-context-also
#[tokio::test(start_paused = true)]
async fn events_form_one_tree_of_run_sessions_and_calls() {
    let fixture = Fixture::new([plans(&["A"]), passes("A")]);

    fixture.run(fixture.runner()).await;

    let events = fixture.log.json();
    let spans = fixture.log.spans();
    let root = spans[0];
    assert_eq!(root.parent, None);
    assert!(spans.iter().all(|span| span.trace == root.trace));
    for (event, span) in events.iter().zip(&spans) {
        if event["stream"]["callId"].is_string() {
            // The start and the end of a call belong to the span of the call.
            assert_ne!(span.parent, Some(root.span), "{event}");
            continue;
        }
        let parent_of_run = event["event"]
            .as_str()
            .is_some_and(|name| name.starts_with("run_") || name.starts_with("wait_"));
        match event["event"].as_str() {
            _ if parent_of_run => assert_eq!(*span, root, "{event}"),
            Some("tool_decided" | "tool_ended" | "status_changed") => {
                let session = spans.iter().find(|other| Some(other.span) == span.parent);
                assert_eq!(
                    session.and_then(|span| span.parent),
                    Some(root.span),
                    "{event}"
                );
            }
            _ => assert_eq!(span.parent, Some(root.span), "{event}"),
        }
    }
    // The decision about a call and its result share one span.
    let spans_of = |name: &str| -> Vec<_> {
        let with_spans = events.iter().zip(&spans);
        let found = with_spans.filter(|(event, _)| event["event"] == name);
        found.map(|(_, span)| span.span).collect()
    };
    assert_eq!(spans_of("tool_decided"), spans_of("status_changed"));
    assert_eq!(spans_of("tool_decided"), spans_of("tool_ended"));
    let with_spans = events.iter().zip(&spans);
    let invocations =
        with_spans.filter(|(event, _)| event["stream"]["type"] == "stream_tool_invocation");
    let invocations: Vec<_> = invocations.collect();
    let places: Vec<_> = invocations.iter().map(|(_, span)| span.span).collect();
    assert_eq!(spans_of("tool_decided"), places);
    let calls = invocations
        .iter()
        .map(|(event, _)| (&event["stream"]["name"], &event["stream"]["input"]));
    assert_eq!(
        calls.collect::<Vec<_>>(),
        [
            (&json!("mcp__autonoe__create"), &create(&["A"])),
            (&json!("mcp__autonoe__set_status"), &status("A", "passed")),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_same_script_gives_the_same_events_byte_by_byte() {
    let play = async || {
        let fixture = Fixture::new([plans(&["A"]), passes("A")]);
        fixture.run(fixture.runner()).await;
        serde_json::to_string(&fixture.log.json()).expect("it serialises")
    };

    assert_eq!(play().await, play().await);
}

#[tokio::test(start_paused = true)]
async fn no_two_runs_share_an_id() {
    let fixture = Fixture::new([]);
    let runner = fixture.runner().build().expect("parts fit");
    let control = autonoe_core::RunControl::new();
    control.cancel();

    let first = runner.run(&control).await;
    let second = runner.run(&control).await;

    assert_ne!(first.run, second.run);
}

struct Builder;

#[async_trait]
impl TypedTool for Builder {
    type Input = Map<String, Value>;
    fn describe(&self) -> ToolDescription {
        ToolDescription::new("build", "Builds.")
    }
    async fn run(&self, _: Self::Input, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let mut details = Map::new();
        details.insert("percent".into(), json!(50));
        context.progress_with("half way", &details);
        Ok(ToolOutput::new(context.extra["target"].to_string()))
    }
}

// Shows: framework/tools/context.extra, framework/tools/context.metadata-title-metadata
#[tokio::test(start_paused = true)]
async fn tool_reports_progress_and_receives_embedder_data() {
    let fixture = Fixture::new([
        SessionScript::new("builds")
            .uses_tool("mcp__autonoe__build", json!({}))
            .uses_tool("mcp__autonoe__create", create(&["A"]))
            .ends(),
        passes("A"),
    ]);
    let mut data = Map::new();
    data.insert("target".into(), json!("release"));

    fixture
        .run(fixture.runner().tool(Builder.into_tool()).tool_data(data))
        .await;

    let events = fixture.log.json();
    let progress = events
        .iter()
        .find(|event| event["event"] == "tool_progress")
        .expect("an event");
    assert_eq!(
        (
            &progress["tool"],
            &progress["title"],
            &progress["metadata"]["percent"]
        ),
        (&json!("build"), &json!("half way"), &json!(50))
    );
    assert_eq!(progress["callId"], "call-1-1");
    assert!(
        fixture.log.render().contains("Ok: \"release\""),
        "{}",
        fixture.log.render()
    );
}

// Shows: interfaces/session-runner/json-shape-result
// Shows: interfaces/presenter/stream-thinking-stream-text-stream
// Shows: spec/2.3/stream-event-text-thinking-tool, interfaces/session/result
// Shows: interfaces/session-runner/report
#[tokio::test(start_paused = true)]
async fn event_json_matches_snapshot() {
    let fixture = Fixture::new([
        SessionScript::new("plans")
            .thinks("hm")
            .uses_tokens(
                autonoe_core::agent::TokenUsage {
                    input: 7,
                    ..autonoe_core::agent::TokenUsage::default()
                },
                Some(autonoe_core::CostUsd::from_cents(1)),
            )
            .uses_tool("mcp__autonoe__create", create(&["A"]))
            .warns("slow")
            .says("planned")
            .ends(),
        SessionScript::new("hits the quota")
            .says("x")
            .hits_quota("2026-01-01T00:00:08Z".parse().ok()),
        passes("A"),
    ]);

    let runner = fixture.runner().on_quota(autonoe_core::OnQuota::Wait);
    fixture.run(runner).await;

    let lines: Vec<String> = fixture.log.json().iter().map(Value::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"));
}
