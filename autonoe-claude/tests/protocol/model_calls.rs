//! Model calls that observers receive.

use std::sync::Arc;

use autonoe_claude::events::ModelCalls;
use autonoe_claude::wire::Line;
use autonoe_core::RunObserver;
use autonoe_core::event::Events;
use autonoe_core::time::{SeededIds, SystemClock};
use autonoe_testkit::EventLog;
use serde_json::{Value, json};

use crate::transcript::{Step, all};

/// Returns the events of the model calls in these lines of the program.
fn observe<'a>(lines: impl IntoIterator<Item = &'a str>) -> Arc<EventLog> {
    let log = Arc::new(EventLog::new());
    let observers: Vec<Arc<dyn RunObserver>> = vec![log.clone()];
    let ids = Arc::new(SeededIds::new(1));
    let mut calls = ModelCalls::new(Events::new(observers, Arc::new(SystemClock), ids));
    for line in lines {
        calls.observe(&Line::from_text(line).expect("a line").parse());
    }
    drop(calls);
    log
}

fn names(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .filter_map(|it| it["event"].as_str())
        .collect()
}

fn piece(event: &Value, agent: Option<&str>) -> String {
    json!({"type": "stream_event", "event": event, "parent_tool_use_id": agent}).to_string()
}

fn start(agent: Option<&str>) -> String {
    piece(
        &json!({"type": "message_start", "message": {"model": "m"}}),
        agent,
    )
}

fn text(text: &str, agent: Option<&str>) -> String {
    let delta = json!({"type": "text_delta", "text": text});
    piece(
        &json!({"type": "content_block_delta", "delta": delta}),
        agent,
    )
}

fn stop(agent: Option<&str>) -> String {
    piece(&json!({"type": "message_stop"}), agent)
}

// Shows: framework/callbacks/messages-of-programs
#[test]
fn a_recorded_answer_is_reported_with_its_chunks_calls_and_tokens() {
    let transcripts: Vec<_> = all()
        .into_iter()
        .filter(|it| it.name.ends_with("l01_partial_messages"))
        .collect();
    assert_eq!(transcripts.len(), 2, "one for each build");
    for transcript in transcripts {
        let lines: Vec<_> = transcript
            .steps
            .iter()
            .filter_map(|step| match step {
                Step::Program(line) => Some(line.as_str()),
                _ => None,
            })
            .collect();

        let events = observe(lines).json();

        assert_eq!(
            names(&events),
            [
                "model_started",
                "model_chunk",
                "model_chunk",
                "model_chunk",
                "model_chunk",
                "model_ended",
                "model_started",
                "model_chunk",
                "model_ended",
            ]
        );
        assert_eq!(events[0]["messages"], 0, "the program does not report them");
        let chunks: Vec<_> = events[1..5]
            .iter()
            .map(|chunk| (chunk["part"].as_str(), chunk["text"].as_str()))
            .collect();
        assert_eq!(chunks[0].0, Some("thinking"));
        assert_eq!(
            chunks[2..],
            [
                (
                    Some("text"),
                    Some("Some text answer that spans more than on")
                ),
                (Some("text"), Some("e delta chunk.")),
            ]
        );
        let answer = &events[5];
        assert_eq!(answer["toolCalls"], 1);
        assert_eq!(answer["stopReason"], "tool_use");
        assert_eq!(answer["tokens"]["input"], 100);
        assert_eq!(answer["tokens"]["output"], 20);
    }
}

#[test]
fn answers_of_sub_agents_do_not_mix_with_those_of_the_main_agent() {
    let agent = Some("toolu_1");
    let lines = [
        start(None),
        start(agent),
        text("main", None),
        text("sub", agent),
        stop(agent),
        stop(None),
    ];

    let log = observe(lines.iter().map(String::as_str));

    let places: Vec<_> = log.spans().iter().map(|span| span.span).collect();
    let (main, sub) = (places[0], places[1]);
    assert_ne!(main, sub);
    // In the order of the lines.
    assert_eq!(places, [main, sub, main, sub, sub, main]);
}

#[test]
fn an_answer_without_an_end_fails() {
    let result = r#"{"type":"result","subtype":"success","is_error":false}"#;
    let begun = [start(None), text("a", None)];
    let begun = || begun.iter().map(String::as_str);
    let again = start(None);

    for (last, expected) in [
        (result, &["model_failed"][..]),
        (
            again.as_str(),
            &["model_failed", "model_started", "model_failed"],
        ),
    ] {
        let events = observe(begun().chain([last])).json();

        let names = names(&events);
        assert_eq!(names[..2], ["model_started", "model_chunk"]);
        assert_eq!(names[2..], *expected, "{last}");
    }
}

#[test]
fn a_retry_ends_no_answer_for_it_may_be_of_another_agent() {
    let retry = r#"{"type":"system","subtype":"api_retry","attempt":1}"#;
    let lines = [start(None), retry.to_owned(), text("a", None), stop(None)];

    let events = observe(lines.iter().map(String::as_str)).json();

    assert_eq!(
        names(&events),
        ["model_started", "model_chunk", "model_ended"]
    );
}

#[test]
fn chunks_without_a_start_are_not_a_call() {
    let lines = [text("a", None), stop(None), text("b", Some("toolu_1"))];

    assert!(observe(lines.iter().map(String::as_str)).json().is_empty());
}
