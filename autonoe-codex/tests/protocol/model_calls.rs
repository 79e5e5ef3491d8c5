//! Model calls that observers receive.

use std::sync::{Arc, Mutex};

use autonoe_core::event::Events;
use autonoe_core::time::{SeededIds, SystemClock};
use autonoe_core::{RunEvent, RunEventKind};

use crate::replay::{replay_with, spec};

/// Returns one line for each event of a model call in a recorded conversation, without chunks.
fn model_calls(conversation: &str) -> Vec<String> {
    let lines: Arc<Mutex<Vec<_>>> = Arc::default();
    let sink = lines.clone();
    let observer = move |event: &RunEvent<'_>| {
        let line = match &event.kind {
            RunEventKind::ModelStarted { request } => {
                let messages = request.messages.to_json();
                format!("started, {} messages: {messages}", request.messages.count())
            }
            RunEventKind::ModelEnded { answer } => {
                format!("ended, {} tool calls: {}", answer.tool_calls, answer.text)
            }
            RunEventKind::ModelFailed { error, .. } => format!("failed: {}", error.code),
            _ => return,
        };
        sink.lock().expect("not poisoned").push(line);
    };
    let ids = Arc::new(SeededIds::new(1));
    let events = Events::new(vec![Arc::new(observer)], Arc::new(SystemClock), ids);
    let mut spec = spec();
    spec.events = events;
    replay_with(conversation, spec);
    std::mem::take(&mut *lines.lock().expect("not poisoned"))
}

// Shows: framework/callbacks/messages-of-programs
#[test]
fn answers_are_reported_with_their_text_and_without_messages() {
    assert_eq!(
        model_calls("allowed"),
        [
            "started, 0 messages: []",
            "ended, 1 tool calls: It's time.",
            "started, 0 messages: []",
            "ended, 1 tool calls: ",
            "started, 0 messages: []",
            "ended, 1 tool calls: ",
            "started, 0 messages: []",
            "ended, 1 tool calls: ",
            "started, 0 messages: []",
            "ended, 0 tool calls: ",
            "started, 0 messages: []",
            "ended, 0 tool calls: done",
        ]
    );
}

#[test]
fn a_call_that_fails_during_its_answer_is_not_cancelled() {
    let failed = ["started, 0 messages: []", "failed: model_failed"];

    assert_eq!(model_calls("cut_always"), [failed, failed].concat());
    assert_eq!(model_calls("cut_once")[..2], failed);
}

// Shows: framework/callbacks/start-of-programs
#[test]
fn a_call_that_fails_before_its_first_output_is_not_reported() {
    for conversation in ["unauthorized", "usage_limit", "server_error"] {
        assert!(model_calls(conversation).is_empty(), "{conversation}");
    }
}
