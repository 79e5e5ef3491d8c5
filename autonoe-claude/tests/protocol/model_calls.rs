//! Model calls that observers receive.

use std::sync::{Arc, Mutex};

use autonoe_claude::events::ModelCalls;
use autonoe_claude::wire::Line;
use autonoe_core::event::Events;
use autonoe_core::time::{SeededIds, SystemClock};
use autonoe_core::{RunEvent, RunEventKind, RunObserver};
use autonoe_testkit::EventLog;
use serde_json::{Value, json};

use crate::transcript::{Step, all};

/// Returns the events of the model calls in these lines of the program.
fn observe<'a>(lines: impl IntoIterator<Item = &'a str>) -> Arc<EventLog> {
    let log = Arc::new(EventLog::new());
    send_to(log.clone(), lines);
    log
}

/// Sends the events of the model calls in `lines` to `observer`.
fn send_to<'a>(observer: Arc<dyn RunObserver>, lines: impl IntoIterator<Item = &'a str>) {
    let ids = Arc::new(SeededIds::new(1));
    let events = Events::new(vec![observer], Arc::new(SystemClock), ids);
    let mut calls = ModelCalls::new(events);
    for line in lines {
        calls.observe(&Line::from_text(line).expect("a line").parse());
    }
}

/// Returns the text and the number of tool calls of each complete answer in `lines`.
fn answers<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<(String, usize)> {
    let answers: Arc<Mutex<Vec<_>>> = Arc::default();
    let sink = answers.clone();
    let observer = move |event: &RunEvent<'_>| {
        if let RunEventKind::ModelEnded { answer } = &event.kind {
            let answer = (answer.text.to_owned(), answer.tool_calls);
            sink.lock().expect("not poisoned").push(answer);
        }
    };
    send_to(Arc::new(observer), lines);
    std::mem::take(&mut *answers.lock().expect("not poisoned"))
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

        let events = observe(lines.iter().copied()).json();

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
        let answers = answers(lines);
        assert_eq!(
            answers[0],
            (
                "Some text answer that spans more than one delta chunk.".to_owned(),
                1
            )
        );
        assert_eq!(answers[1].1, 0);
        assert_eq!(Some(answers[1].0.as_str()), events[7]["text"].as_str());
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
    let result = |subtype: &str, is_error: bool| {
        json!({"type": "result", "subtype": subtype, "is_error": is_error}).to_string()
    };
    let first_lines = [start(None), text("a", None)];
    let first_lines = || first_lines.iter().map(String::as_str);
    let restarted = start(None);

    for (last, expected) in [
        (result("success", false), &["cancelled"][..]),
        (result("success", true), &["model_failed"]),
        (result("error_during_execution", true), &["cancelled"]),
        // The answer that starts last is dropped.
        (restarted, &["model_failed", "cancelled"]),
    ] {
        let events = observe(first_lines().chain([last.as_str()])).json();

        assert_eq!(names(&events)[..2], ["model_started", "model_chunk"]);
        let failed = events.iter().filter(|it| it["event"] == "model_failed");
        let codes: Vec<_> = failed.map(|it| &it["error"]["code"]).collect();
        assert_eq!(codes, expected, "{last}");
    }
}

// Shows: framework/callbacks/start-of-programs
#[test]
fn a_call_that_fails_before_its_answer_starts_is_not_reported() {
    let retry = r#"{"type":"system","subtype":"api_retry","attempt":1}"#;
    let result =
        r#"{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error"}"#;

    assert!(observe([retry, result]).json().is_empty());
}

#[test]
fn the_start_of_an_answer_has_the_tokens_that_its_end_does_not_repeat() {
    let usage = json!({"input_tokens": 100, "cache_read_input_tokens": 7, "output_tokens": 1});
    let message = json!({"model": "m", "usage": usage});
    let started = piece(&json!({"type": "message_start", "message": message}), None);
    let usage = json!({"output_tokens": 20});
    let stopped = piece(&json!({"type": "message_delta", "usage": usage}), None);
    let repeated = piece(
        &json!({"type": "message_delta", "usage": {"input_tokens": 90, "output_tokens": 20}}),
        None,
    );
    let usage_of = |end: &str| {
        let lines = [&started, end, &stop(None)].map(str::to_owned);
        let events = observe(lines.iter().map(String::as_str)).json();
        let tokens = &events.last().expect("an end")["tokens"];
        ["input", "cacheRead", "output"].map(|count| tokens[count].as_u64())
    };

    assert_eq!(usage_of(&stopped), [Some(100), Some(7), Some(20)]);
    assert_eq!(usage_of(&repeated), [Some(90), Some(7), Some(20)]);
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
