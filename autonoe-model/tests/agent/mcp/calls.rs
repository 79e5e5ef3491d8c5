//! Tests of calls to tools of MCP servers.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use autonoe_core::agent::SessionOutcome;
use autonoe_core::event::{Events, TraceContext};
use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::time::SeededIds;
use autonoe_core::tool::{ToolEffect, ToolStatus};
use autonoe_core::{RunEvent, RunEventKind, RunObserver, StreamEvent};
use autonoe_model::Message;
use autonoe_testkit::VirtualClock;
use serde_json::json;

use super::{Place, client, session, within};
use crate::agent::fixture::{ScriptedModel, calls, echo, text_reply, turn_of};

#[tokio::test]
async fn tools_of_servers_are_offered_and_called_by_the_names_that_the_gate_knows() {
    let place = Place::new();
    let spec = place.spec(&[("web", "good"), ("other", "good")]);

    let (turn, model) = session(
        spec,
        &[
            ("a", "mcp__web__echo", json!({"text": "hello"})),
            ("b", "mcp__other__echo", json!({"text": "hello"})),
            ("c", "mcp__web__echo", json!({"txt": "hello"})),
            ("d", "mcp__web__nothing", json!({})),
        ],
        |_| {},
    )
    .await;

    assert_eq!(turn.outcome(), Some(&SessionOutcome::Completed));
    let mut responses = turn.responses();
    // Read-only calls run concurrently.
    responses.sort_unstable_by_key(|(id, _, _)| *id);
    let done: Vec<_> = responses
        .iter()
        .map(|(id, _, status)| (*id, *status))
        .collect();
    assert_eq!(
        done,
        [
            ("a", ToolStatus::Ok),
            ("b", ToolStatus::Denied),
            ("c", ToolStatus::Error),
            ("d", ToolStatus::Error),
        ],
        "{responses:?}"
    );
    assert_eq!(responses[0].1, "hello");
    assert!(responses[2].1.starts_with("VALIDATION_ERROR"));
    let request = &model.requests()[0];
    let offered: BTreeSet<_> = request
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert!(offered.contains("mcp__web__echo") && offered.contains("mcp__other__slow"));
    // Tools of the second page are included, and those without a usable schema are not.
    assert!(offered.contains("mcp__web__environment"));
    assert!(!offered.contains("mcp__web__broken") && !offered.contains("mcp__web__bare"));
    let echo = request
        .tools
        .iter()
        .find(|tool| tool.name == "mcp__web__echo")
        .expect("it is offered");
    assert_eq!(
        (echo.description.as_str(), echo.effect),
        ("echos.", ToolEffect::ReadOnly)
    );
    assert_eq!(echo.input_schema["required"], json!(["text"]));
    let warnings = turn
        .events
        .iter()
        .filter(|event| matches!(event, StreamEvent::Warning { .. }));
    assert_eq!(warnings.count(), 4, "two tools of two servers are left out");
    assert_eq!(place.processes(), 0);
}

#[tokio::test]
async fn images_and_resources_are_passed_on_and_failures_are_reported() {
    let place = Place::new();

    let (turn, model) = session(
        place.spec(&[("web", "good")]),
        &[
            ("a", "mcp__web__picture", json!({})),
            ("b", "mcp__web__fail", json!({})),
            ("c", "mcp__web__refuse", json!({})),
        ],
        |_| {},
    )
    .await;

    assert_eq!(
        turn.responses(),
        [
            ("a", "page:1:\n<p>", ToolStatus::Ok),
            ("b", "TOOL_FAILED: the page is gone", ToolStatus::Error),
            (
                "c",
                "VALIDATION_ERROR: there is no tool refuse",
                ToolStatus::Error
            ),
        ]
    );
    let requests = model.requests();
    let Some(Message::Results { results }) = requests[1].messages.last() else {
        panic!("{:?}", requests[1].messages)
    };
    let [picture] = results[0].attachments.as_slice() else {
        panic!("{results:?}")
    };
    assert_eq!(
        (picture.media_type.as_str(), &picture.data[..]),
        ("image/png", &b"\x89PNG"[..])
    );
}

#[tokio::test]
async fn progress_is_reported_and_timed_out_call_is_cancelled() {
    let place = Place::new();
    let mut spec = place.spec(&[("web", "good")]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = seen.clone();
    let observer: Arc<dyn RunObserver> = Arc::new(move |event: &RunEvent<'_>| {
        if let RunEventKind::ToolProgress {
            tool,
            title,
            metadata,
            ..
        } = &event.kind
        {
            let progress = (
                tool.to_string(),
                title.to_string(),
                metadata["total"].clone(),
            );
            notes.lock().expect("no panic").push(progress);
        }
    });
    let (clock, ids) = (Arc::new(VirtualClock::new()), Arc::new(SeededIds::new(1)));
    let events = Events::new(vec![observer], clock, ids);
    spec.tools = spec.tools.with_events(events.clone());
    spec.events = events;
    let slow = calls(&[("a", "mcp__web__slow", json!({}))]);
    let model = ScriptedModel::new([slow, text_reply("Done.")]);
    let mut client = client(&model, spec, |options| {
        options.mcp.call_time = Duration::from_secs(10);
    });

    let turn = within(turn_of(client.as_mut(), "Begin.")).await;

    let [(_, output, ToolStatus::Error)] = turn.responses()[..] else {
        panic!("{turn:?}")
    };
    assert_eq!(
        output,
        "TIMEOUT: the MCP server \"web\" did not answer within 10s"
    );
    assert_eq!(
        place.content_of("cancelled").await,
        place.content_of("slow").await
    );
    let progress = seen.lock().expect("no panic").clone();
    assert_eq!(
        progress,
        [("mcp__web__slow".to_owned(), "half".to_owned(), json!(2.0))]
    );
    within(client.dispose()).await.expect("it ends");
}

#[tokio::test]
async fn a_server_may_print_send_requests_and_change_its_tools() {
    let place = Place::new();

    let (turn, model) = session(
        place.spec(&[("web", "chatty")]),
        &[("a", "mcp__web__echo", json!({"text": "hello"}))],
        |_| {},
    )
    .await;

    assert_eq!(turn.responses(), [("a", "hello", ToolStatus::Ok)]);
    let refusal = place.content_of("answered").await;
    assert!(refusal.contains("-32601"), "{refusal}");
    assert_eq!(model.requests()[0].tools, model.requests()[1].tools);
}

#[tokio::test]
async fn the_middle_of_a_huge_result_is_left_out() {
    let place = Place::new();

    let (turn, _) = session(
        place.spec(&[("web", "good")]),
        &[("a", "mcp__web__huge", json!({}))],
        |options| options.mcp.output_bytes = 1_000,
    )
    .await;

    let [(_, output, ToolStatus::Ok)] = turn.responses()[..] else {
        panic!("{turn:?}")
    };
    assert!(
        output.contains("[... 999000 bytes left out ...]"),
        "{}",
        output.len()
    );
}

// Shows: framework/models/correlation-across-processes
#[tokio::test]
async fn a_server_has_exactly_the_configured_environment() {
    let place = Place::new();
    let mut spec = place.spec(&[("web", "good")]);
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    spec.trace = TraceContext::parse(trace, Some("vendor=1")).ok();

    let (turn, _) = session(
        spec,
        &[("a", "mcp__web__environment", json!({}))],
        |options| {
            options.mcp.env.insert("OF_ALL".into(), "1".into());
        },
    )
    .await;

    // The interpreter adds a variable of its own.
    let names = turn.responses()[0].1.replace("LC_CTYPE ", "");
    assert_eq!(
        names,
        "AUTONOE_MCP_SERVER LANG OF_ALL OF_RUN OWN PATH TRACEPARENT TRACESTATE"
    );
}

#[tokio::test]
async fn a_grant_for_toolbox_tools_covers_no_other_tool() {
    let place = Place::new();
    let mut spec = place.spec(&[]);
    let rule = "mcp__autonoe__*".parse().expect("a rule");
    let grants = Grants::none().with_rule(rule);
    spec.gate = Gate::new(ProjectPaths::new(place.path("")), grants);

    let (turn, _) = session(
        spec,
        &[("a", "mcp__autonoe__Echo", json!({"text": "hello"}))],
        |options| options.tools = vec![echo()],
    )
    .await;

    let [(_, output, ToolStatus::Error)] = turn.responses()[..] else {
        panic!("{turn:?}")
    };
    assert!(output.starts_with("NOT_FOUND"), "{output}");
}
