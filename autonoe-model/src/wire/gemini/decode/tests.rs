//! Tests of decoding streamed chunks.

use autonoe_core::agent::TokenUsage;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::contract::{MessagePart, ModelErrorCode};
use crate::wire::gemini::PROTOCOL;

fn chunk(parts: impl Into<Vec<Value>>) -> Value {
    let content = json!({"role": "model", "parts": parts.into()});
    json!({
        "candidates": [{"content": content, "index": 0}],
        "modelVersion": "gemini-x", "responseId": "r1",
        "usageMetadata": {"promptTokenCount": 100, "totalTokenCount": 100},
    })
}

fn last(parts: impl Into<Vec<Value>>, reason: &str) -> Value {
    let mut chunk = chunk(parts);
    chunk["candidates"][0]["finishReason"] = reason.into();
    chunk["usageMetadata"] = json!({
        "promptTokenCount": 100, "cachedContentTokenCount": 20, "candidatesTokenCount": 10,
        "thoughtsTokenCount": 3, "totalTokenCount": 113,
    });
    chunk
}

/// Returns the usage event after the first chunk, which is emitted once.
fn used_at_first() -> ModelEvent {
    ModelEvent::Usage(TokenUsage {
        input: 100,
        ..TokenUsage::default()
    })
}

fn text(text: &str) -> Value {
    json!({"text": text})
}

fn decode_with(
    unnamed_answers: &Arc<AtomicU64>,
    chunks: &[Value],
) -> (Result<ModelReply, ModelError>, Vec<ModelEvent>) {
    let mut decoder = Box::new(ContentDecoder::new(unnamed_answers.clone()));
    let mut new_events = Vec::new();
    for chunk in chunks {
        let event = ServerEvent {
            name: String::new(),
            data: chunk.to_string(),
        };
        if let Err(error) = decoder.push(&event, &mut new_events) {
            return (Err(error), new_events);
        }
    }
    (decoder.finish(), new_events)
}

fn decode(chunks: &[Value]) -> (Result<ModelReply, ModelError>, Vec<ModelEvent>) {
    decode_with(&Arc::default(), chunks)
}

#[test]
fn all_part_types_are_decoded_in_order_and_preserved() {
    let thought = |text: &str| json!({"text": text, "thought": true});
    let signed = json!({"text": "Now.", "thoughtSignature": "c2ln"});
    let unnamed_answers = json!({"functionCall": {"name": "Read", "args": {"path": "a"}},
                          "thoughtSignature": "eA=="});
    let named = json!({"functionCall": {"id": "fc-7", "name": "List"}});
    let unknown = json!({"executableCode": {"code": "1"}});
    let end = json!({"text": "", "thoughtSignature": "ZW5k"});

    let (reply, new_events) = decode(&[
        chunk([thought("H")]),
        chunk([thought("m.")]),
        chunk([text("I "), text("look.")]),
        chunk([signed.clone()]),
        chunk([text(" After.")]),
        chunk([unnamed_answers.clone(), named.clone()]),
        chunk([unknown.clone()]),
        last([text(""), end.clone()], "STOP"),
    ]);

    let received = |part: MessagePart, item: Value| part.with_wire(PROTOCOL, item);
    let expected = AssistantMessage::new([
        received(MessagePart::thinking("Hm."), thought("Hm.")),
        received(MessagePart::text("I look."), text("I look.")),
        received(MessagePart::text("Now."), signed),
        received(MessagePart::text(" After."), text(" After.")),
        received(
            MessagePart::tool_call("call-r1-0", "Read", json!({"path": "a"})),
            unnamed_answers,
        ),
        received(MessagePart::tool_call("fc-7", "List", json!({})), named),
        received(MessagePart::opaque(), unknown),
        received(MessagePart::text(""), end),
    ]);
    let usage = TokenUsage {
        input: 80,
        output: 10,
        cache_read: 20,
        cache_write: 0,
        reasoning: 3,
    };
    let expected = ModelReply::new(expected)
        .with_stop(StopReason::ToolUse)
        .with_usage(usage)
        .with_model("gemini-x".to_owned())
        .with_id("r1".to_owned());
    assert_eq!(reply, Ok(expected));
    let call = |id: &str, name: &str| ModelEvent::ToolCall {
        id: id.into(),
        name: name.into(),
    };
    let expected = [
        ModelEvent::Thinking("H".into()),
        used_at_first(),
        ModelEvent::Thinking("m.".into()),
        ModelEvent::Text("I ".into()),
        ModelEvent::Text("look.".into()),
        ModelEvent::Text("Now.".into()),
        ModelEvent::Text(" After.".into()),
        call("call-r1-0", "Read"),
        call("fc-7", "List"),
    ];
    assert_eq!(new_events, expected);
}

#[test]
fn calls_of_nameless_answers_have_names_of_their_own() {
    let counter = Arc::default();
    let call = || json!({"functionCall": {"name": "Read", "args": {}}});
    let unnamed_answers = |mut chunk: Value| {
        chunk["responseId"] = Value::Null;
        chunk
    };
    let ids = || {
        let chunks = [
            unnamed_answers(chunk([call()])),
            unnamed_answers(last([call()], "STOP")),
        ];
        let reply = decode_with(&counter, &chunks).0.expect("it is whole");
        let calls = reply.message.calls();
        calls.map(|(id, ..)| id.to_owned()).collect::<Vec<_>>()
    };

    assert_eq!(ids(), ["call-0-0", "call-0-1"]);
    assert_eq!(ids(), ["call-1-0", "call-1-1"]);
}

#[test]
fn an_answer_is_whole_with_its_reason_and_its_counts() {
    let mut decoder = ContentDecoder::new(Arc::default());
    let mut take = |chunk: &Value| {
        let event = ServerEvent {
            name: String::new(),
            data: chunk.to_string(),
        };
        decoder
            .push(&event, &mut Vec::new())
            .expect("it makes sense");
        decoder.is_complete()
    };
    let mut uncounted = last([text("Hi.")], "STOP");
    uncounted["usageMetadata"] = Value::Null;

    assert!(!take(&chunk([text("Hi.")])));
    assert!(!take(&uncounted));
    assert!(take(&json!({"usageMetadata": {"candidatesTokenCount": 4}})));
}

#[test]
fn an_answer_without_a_stop_reason_fails_with_its_usage() {
    for (chunks, used) in [(vec![], 0), (vec![chunk([text("Hi.")])], 100)] {
        let error = decode(&chunks).0.expect_err("it is not whole");

        assert_eq!(error.code, ModelErrorCode::NetworkError);
        assert_eq!(error.usage.known().total(), used);
    }
}

#[test]
fn a_prompt_that_is_refused_is_a_refusal() {
    let blocked = json!({
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
        "usageMetadata": {"promptTokenCount": 7, "totalTokenCount": 7},
    });

    let reply = decode(&[blocked]).0.expect("it is an answer");

    assert_eq!(reply.stop, StopReason::Refused);
    assert_eq!(reply.message, AssistantMessage::default());
    assert_eq!(reply.usage.known().total(), 7);
}

#[test]
fn an_error_in_the_stream_is_the_error_of_the_call() {
    let failed = json!({"error": {
        "code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE",
    }});

    let error = decode(&[chunk([text("Hi.")]), failed])
        .0
        .expect_err("it failed");

    assert_eq!(error.code, ModelErrorCode::NetworkError);
    assert_eq!(error.reason.as_deref(), Some("UNAVAILABLE"));
    assert_eq!(error.usage.known().total(), 100);
}

#[test]
fn malformed_stream_is_an_invalid_response() {
    for nonsense in [
        json!([]),
        json!("text"),
        chunk([json!(1)]),
        chunk([json!({"text": 1})]),
        chunk([json!({"functionCall": {"args": {}}})]),
    ] {
        let chunks = [chunk([text("Hi.")]), nonsense.clone(), last([], "STOP")];
        let error = decode(&chunks).0.expect_err("it makes no sense");

        assert_eq!(error.code, ModelErrorCode::InvalidResponse, "{nonsense}");
        assert_eq!(error.usage.known().total(), 100);
    }
    let mut decoder = ContentDecoder::new(Arc::default());
    let event = ServerEvent {
        name: String::new(),
        data: "{\"candidates\": [".into(),
    };
    let error = decoder.push(&event, &mut Vec::new()).expect_err("no JSON");
    assert_eq!(error.code, ModelErrorCode::InvalidResponse);
}

proptest! {
    #[test]
    fn however_a_text_is_cut_it_is_one_part(pieces in prop::collection::vec("[a-zä€ ]{0,5}", 1..9)) {
        let chunks: Vec<Value> = pieces.iter().map(|piece| chunk([text(piece)])).collect();
        let whole = pieces.concat();

        let (reply, new_events) = decode(&[chunks, vec![last([text("")], "STOP")]].concat());

        let reply = reply.expect("it is whole");
        prop_assert_eq!(&reply.message.to_text(), &whole);
        prop_assert_eq!(reply.message.parts.len(), usize::from(!whole.is_empty()));
        let streamed: String = new_events.into_iter().map(|event| match event {
            ModelEvent::Text(text) => text,
            used if used == used_at_first() => String::new(),
            other => format!("{other:?}"),
        }).collect();
        prop_assert_eq!(streamed, whole);
    }
}
