//! Tests of decoding streamed messages.

use autonoe_core::agent::TokenUsage;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::contract::{MessagePart, ModelErrorCode, PartKind};
use crate::wire::anthropic::PROTOCOL;

fn start() -> Value {
    json!({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x",
        "content": [], "stop_reason": null,
        "usage": {"input_tokens": 10, "cache_creation_input_tokens": 5,
                  "cache_read_input_tokens": 3, "output_tokens": 1},
    }})
}

fn block(index: u64, start: &Value, deltas: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let mut events =
        vec![json!({"type": "content_block_start", "index": index, "content_block": start})];
    events.extend(
        deltas
            .into_iter()
            .map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
    );
    events.push(json!({"type": "content_block_stop", "index": index}));
    events
}

fn end(stop: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null},
               "usage": {"output_tokens": 40}}),
        json!({"type": "message_stop"}),
    ]
}

fn text_delta(text: &str) -> Value {
    json!({"type": "text_delta", "text": text})
}

/// Decodes events; returns the answer and the emitted events.
fn decode(events: &[Value]) -> (Result<ModelReply, ModelError>, Vec<ModelEvent>) {
    let mut decoder = Box::new(MessageDecoder::default());
    let mut new_events = Vec::new();
    for data in events {
        let event = ServerEvent {
            name: data["type"].as_str().unwrap_or_default().to_owned(),
            data: data.to_string(),
        };
        if let Err(error) = decoder.push(&event, &mut new_events) {
            return (Err(error), new_events);
        }
    }
    (decoder.finish(), new_events)
}

fn message_events(blocks: impl IntoIterator<Item = Vec<Value>>, stop: &str) -> Vec<Value> {
    let mut events = vec![start(), json!({"type": "ping"})];
    events.extend(blocks.into_iter().flatten());
    events.extend(end(stop));
    events
}

#[test]
fn all_block_types_are_decoded_in_order_and_preserved() {
    let events = message_events(
        [
            block(
                0,
                &json!({"type": "thinking", "thinking": "", "signature": "a"}),
                [
                    json!({"type": "thinking_delta", "thinking": "Hm"}),
                    json!({"type": "thinking_delta", "thinking": "."}),
                    json!({"type": "signature_delta", "signature": "b"}),
                    json!({"type": "signature_delta", "signature": "c"}),
                ],
            ),
            block(1, &json!({"type": "redacted_thinking", "data": "xyz"}), []),
            block(
                2,
                &json!({"type": "text", "text": "", "citations": null}),
                [
                    text_delta("I "),
                    text_delta("look."),
                    json!({"type": "citations_delta", "citation": {"n": 1}}),
                    json!({"type": "citations_delta", "citation": {"n": 2}}),
                ],
            ),
            block(
                3,
                &json!({"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}}),
                [
                    json!({"type": "input_json_delta", "partial_json": ""}),
                    json!({"type": "input_json_delta", "partial_json": "{\"path\": \"a"}),
                    json!({"type": "input_json_delta", "partial_json": ".rs\"}"}),
                ],
            ),
            block(
                4,
                &json!({"type": "brand_new", "text": "x", "list": [1]}),
                [json!({"type": "brand_new_delta", "text": "y", "list": [2], "more": true})],
            ),
            block(
                5,
                &json!({"type": "tool_use", "id": "toolu_2", "name": "List", "input": {}}),
                [],
            ),
        ],
        "tool_use",
    );

    let (reply, new_events) = decode(&events);

    let expected = AssistantMessage::new([
        MessagePart::thinking("Hm.").with_wire(
            PROTOCOL,
            json!({"type": "thinking", "thinking": "Hm.", "signature": "abc"}),
        ),
        MessagePart::thinking("").with_wire(
            PROTOCOL,
            json!({"type": "redacted_thinking", "data": "xyz"}),
        ),
        MessagePart::text("I look.").with_wire(
            PROTOCOL,
            json!({"type": "text", "text": "I look.", "citations": [{"n": 1}, {"n": 2}]}),
        ),
        MessagePart::tool_call("toolu_1", "Read", json!({"path": "a.rs"})).with_wire(
            PROTOCOL,
            json!({"type": "tool_use", "id": "toolu_1", "name": "Read",
                   "input": {"path": "a.rs"}}),
        ),
        MessagePart::opaque().with_wire(
            PROTOCOL,
            json!({"type": "brand_new", "text": "xy", "list": [1, 2], "more": true}),
        ),
        MessagePart::tool_call("toolu_2", "List", json!({})).with_wire(
            PROTOCOL,
            json!({"type": "tool_use", "id": "toolu_2", "name": "List", "input": {}}),
        ),
    ]);
    let usage = TokenUsage {
        input: 10,
        output: 40,
        cache_read: 3,
        cache_write: 5,
        reasoning: 0,
    };
    let expected = ModelReply::new(expected)
        .with_usage(usage)
        .with_model("claude-x".to_owned())
        .with_id("msg_1".to_owned());
    assert_eq!(reply, Ok(expected));
    let call = |id: &str, name: &str| ModelEvent::ToolCall {
        id: id.into(),
        name: name.into(),
    };
    let at_start = TokenUsage { output: 1, ..usage };
    let expected = [
        ModelEvent::Usage(at_start),
        ModelEvent::Thinking("Hm".into()),
        ModelEvent::Thinking(".".into()),
        ModelEvent::Text("I ".into()),
        ModelEvent::Text("look.".into()),
        call("toolu_1", "Read"),
        call("toolu_2", "List"),
    ];
    assert_eq!(new_events, expected);
}

#[test]
fn interleaved_blocks_do_not_mix() {
    let one = block(0, &json!({"type": "text", "text": "a"}), [text_delta("b")]);
    let other = block(1, &json!({"type": "text", "text": "x"}), [text_delta("y")]);
    let both = other.into_iter().zip(one);
    let events = message_events(both.map(|(other, one)| vec![other, one]), "end_turn");

    let (reply, _) = decode(&events);

    let texts: Vec<_> = reply.expect("it is whole").message.parts;
    let texts: Vec<_> = texts.into_iter().map(|part| part.kind).collect();
    let text = |text: &str| PartKind::Text { text: text.into() };
    assert_eq!(texts, [text("ab"), text("xy")]);
}

#[test]
fn an_input_with_invalid_json_becomes_a_string() {
    let call = json!({"type": "tool_use", "id": "t", "name": "Write", "input": {}});
    let delta = json!({"type": "input_json_delta", "partial_json": "{\"content\": \"abc"});

    let (reply, _) = decode(&message_events([block(0, &call, [delta])], "max_tokens"));

    let reply = reply.expect("it is whole");
    let (_, _, input) = reply.message.calls().next().expect("a call");
    assert_eq!(input, "{\"content\": \"abc");
    assert_eq!(reply.stop, StopReason::MaxTokens);
}

#[test]
fn an_answer_without_its_end_fails_with_its_usage() {
    let text = block(0, &json!({"type": "text", "text": ""}), [text_delta("Hi.")]);
    let all = message_events([text], "end_turn");

    for length in 0..all.len() {
        let error = decode(&all[..length]).0.expect_err("it is not whole");

        assert_eq!(error.code, ModelErrorCode::NetworkError, "{length}");
        let used = [0, 19, 58][usize::from(length > 0) + usize::from(length == all.len() - 1)];
        assert_eq!(error.usage.known().total(), used, "{length}");
    }
    assert!(decode(&all).0.is_ok());
}

#[test]
fn malformed_stream_is_an_invalid_response() {
    let delta = |delta: Value| json!({"type": "content_block_delta", "index": 0, "delta": delta});
    let text = || json!({"type": "text", "text": ""});
    let started_block = |index: u64| block(index, &text(), []).remove(0);
    for (name, events) in [
        ("a block before the message", vec![started_block(0)]),
        ("an end before the message", end("end_turn").into()),
        ("two beginnings", vec![start(), start()]),
        (
            "a message that is none",
            vec![json!({"type": "message_start", "message": 1})],
        ),
        ("more of no block", vec![start(), delta(text_delta("x"))]),
        ("more of a block that ended", {
            let mut events = vec![start()];
            events.extend(block(0, &text(), []));
            events.push(delta(text_delta("x")));
            events
        }),
        (
            "a block twice",
            vec![start(), started_block(0), started_block(0)],
        ),
        (
            "a block without a type",
            vec![
                start(),
                json!({
            "type": "content_block_start", "index": 0, "content_block": {}}),
            ],
        ),
        (
            "a call without a name",
            vec![
                start(),
                json!({
            "type": "content_block_start", "index": 0,
            "content_block": {"type": "tool_use", "id": "x"}}),
            ],
        ),
        (
            "a text that is no text",
            vec![
                start(),
                started_block(0),
                delta(json!({
            "type": "text_delta", "text": 1})),
            ],
        ),
        ("an end with an open block", {
            let mut events = vec![start(), started_block(0)];
            events.extend(end("end_turn"));
            events
        }),
        (
            "an end without a reason",
            vec![start(), json!({"type": "message_stop"})],
        ),
    ] {
        let error = decode(&events).0.expect_err(name);
        assert_eq!(error.code, ModelErrorCode::InvalidResponse, "{name}");
    }
}

#[test]
fn an_event_that_is_no_json_is_an_invalid_answer() {
    let mut decoder = MessageDecoder::default();
    let event = |data: &str| ServerEvent {
        name: "content_block_delta".into(),
        data: data.into(),
    };
    decoder
        .push(&event(&start().to_string()), &mut Vec::new())
        .expect("it begins");

    let error = decoder
        .push(&event(r#"{"type": "#), &mut Vec::new())
        .expect_err("no JSON");

    assert_eq!(error.code, ModelErrorCode::InvalidResponse);
    assert_eq!(error.usage.known().total(), 19);
}

#[test]
fn an_error_in_the_stream_is_the_error_of_the_call() {
    let failed = json!({"type": "error",
        "error": {"type": "overloaded_error", "message": "Overloaded"}});

    let (reply, _) = decode(&[start(), failed]);

    let error = reply.expect_err("it failed");
    assert_eq!(error.code, ModelErrorCode::RateLimited);
    assert_eq!(error.message, "Overloaded");
    assert_eq!(error.reason.as_deref(), Some("overloaded_error"));
    assert_eq!(error.usage.known().total(), 19);
}

#[test]
fn unknown_events_are_skipped() {
    let mut events = message_events([], "end_turn");
    events.insert(1, json!({"type": "brand_new_event", "x": 1}));

    assert!(decode(&events).0.is_ok());
}

proptest! {
    #[test]
    fn arbitrary_events_never_panic(
        picks in prop::collection::vec((0_usize..12, 0_u64..3), 0..20),
    ) {
        let text = || json!({"type": "text", "text": ""});
        let events: Vec<Value> = picks.into_iter().map(|(pick, index)| match pick {
            0 | 1 => start(),
            2 => block(index, &text(), []).remove(0),
            3 => json!({"type": "content_block_start", "index": index, "content_block": {
                "type": "tool_use", "id": "t", "name": "n", "input": {}}}),
            4 => json!({"type": "content_block_delta", "index": index,
                        "delta": text_delta("x")}),
            5 => json!({"type": "content_block_delta", "index": index, "delta": {
                "type": "input_json_delta", "partial_json": "{"}}),
            6 => json!({"type": "content_block_stop", "index": index}),
            7 => end("end_turn")[0].clone(),
            8 => end("end_turn")[1].clone(),
            9 => json!({"type": "content_block_delta", "index": index, "delta": 7}),
            10 => json!({"type": "message_delta"}),
            _ => json!([index]),
        }).collect();

        // Either complete or failed, but never silently neither.
        let (reply, _) = decode(&events);
        let has_end = events.contains(&end("end_turn")[1]);
        prop_assert!(reply.is_err() || has_end);
    }
}
