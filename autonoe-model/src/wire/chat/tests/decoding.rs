//! Tests of decoding.

use autonoe_core::agent::TokenUsage;
use serde_json::json;

use super::*;
use crate::contract::{AssistantMessage, MessagePart, ModelErrorCode, StopReason};
use crate::wire::openai::testing::streamed;

const USED: TokenUsage = TokenUsage {
    input: 80,
    cache_read: 20,
    cache_write: 0,
    output: 7,
    reasoning: 3,
};

fn own(part: MessagePart, item: &Value) -> MessagePart {
    part.with_wire("openai-chat", item.clone())
}

fn inputs(reply: &ModelReply) -> Vec<(&str, &str, &Value)> {
    reply.message.calls().collect()
}

#[test]
fn a_thought_a_text_and_calls_in_turns_are_one_answer() {
    let (new_events, reply) = answer(&[
        chunk(&json!({"role": "assistant", "content": "", "refusal": null})),
        chunk(&json!({"reasoning_content": "Hm"})),
        chunk(&json!({"reasoning_content": "."})),
        chunk(&json!({"content": "I "})),
        chunk(&json!({"content": "look."})),
        calls(&[fragment(0, "call_1", "Read", "")]),
        calls(&[
            fragment(1, "call_2", "Grep", "{\"p\""),
            fragment(0, "", "", "{\"path\":"),
        ]),
        calls(&[fragment(0, "", "", "\"a\"}"), fragment(1, "", "", ": 1}")]),
        stopped("tool_calls"),
        usage(),
    ]);

    let message = AssistantMessage::new([
        own(
            MessagePart::thinking("Hm."),
            &json!({"reasoning_content": "Hm."}),
        ),
        own(MessagePart::text("I look."), &json!({"content": "I look."})),
        own(
            MessagePart::tool_call("call_1", "Read", json!({"path": "a"})),
            &call("call_1", "Read", "{\"path\":\"a\"}"),
        ),
        own(
            MessagePart::tool_call("call_2", "Grep", json!({"p": 1})),
            &call("call_2", "Grep", "{\"p\": 1}"),
        ),
    ]);
    let expected = ModelReply::new(message)
        .with_stop(StopReason::ToolUse)
        .with_usage(USED)
        .with_id("chatcmpl-1".to_owned())
        .with_model("m-1".to_owned());
    assert_eq!(reply.expect("whole"), expected);
    assert_eq!(streamed(&new_events), ("I look.".into(), "Hm.".into()));
    assert_eq!(new_events.last(), Some(&ModelEvent::Usage(USED)));
    let started_calls = new_events.iter().filter_map(|event| match event {
        ModelEvent::ToolCall { id, name } => Some((id.as_str(), name.as_str())),
        _ => None,
    });
    let expected = [("call_1", "Read"), ("call_2", "Grep")];
    assert_eq!(started_calls.collect::<Vec<_>>(), expected);
}

#[test]
fn calls_without_distinct_indexes_are_separated_by_id() {
    let mut bare = fragment(0, "call_3", "Read", "{}");
    bare.as_object_mut().expect("an object").remove("index");
    let mut another = bare.clone();
    another["id"] = json!("call_4");
    let table = [
        [
            fragment(0, "call_3", "Read", "{}"),
            fragment(0, "call_4", "Read", "{}"),
        ],
        [bare, another],
    ];

    for both in table {
        let (_, reply) = answer(&[calls(&both[..1]), calls(&both[1..]), stopped("tool_calls")]);

        let none = json!({});
        let expected = [("call_3", "Read", &none), ("call_4", "Read", &none)];
        assert_eq!(inputs(&reply.expect("whole")), expected);
    }
}

#[test]
fn a_call_without_an_id_gets_one() {
    let mut bare = fragment(0, "x", "Read", "{}");
    bare["id"] = json!(null);

    let (new_events, reply) = answer(&[calls(&[bare]), stopped("tool_calls")]);

    let reply = reply.expect("whole");
    assert_eq!(inputs(&reply), [("chatcmpl-1-0", "Read", &json!({}))]);
    let wire = reply.message.parts[0].wire_item("openai-chat");
    assert_eq!(wire, Some(&call("chatcmpl-1-0", "Read", "{}")));
    assert_eq!(new_events.len(), 1);
}

#[test]
fn an_id_on_every_fragment_is_one_call() {
    let (new_events, reply) = answer(&[
        calls(&[fragment(0, "call_1", "Read", "{\"a\"")]),
        calls(&[fragment(0, "call_1", "Read", ":1}")]),
        stopped("tool_calls"),
    ]);

    assert_eq!(
        inputs(&reply.expect("whole")),
        [("call_1", "Read", &json!({"a": 1}))]
    );
    assert_eq!(new_events.len(), 1);
}

#[test]
fn every_reason_to_stop_is_known() {
    let text = chunk(&json!({"content": "So"}));
    let refusal = chunk(&json!({"refusal": "No"}));
    let one = calls(&[fragment(0, "call_1", "Read", "{}")]);
    let table = [
        ("stop", &text, StopReason::EndTurn),
        ("stop", &refusal, StopReason::Refused),
        ("stop", &one, StopReason::ToolUse),
        ("tool_calls", &one, StopReason::ToolUse),
        ("tool_calls", &text, StopReason::Other("tool_calls".into())),
        ("length", &text, StopReason::MaxTokens),
        ("model_length", &text, StopReason::ContextFull),
        ("content_filter", &text, StopReason::Refused),
        ("tired", &text, StopReason::Other("tired".into())),
    ];

    for (reason, first, stop) in table {
        let (_, reply) = answer(&[first.clone(), stopped(reason)]);
        assert_eq!(reply.expect("whole").stop, stop, "{reason}");
    }
}

#[test]
fn a_call_that_was_cut_is_never_one_without_arguments() {
    let one = calls(&[fragment(0, "call_1", "Write", "")]);

    let (_, cut) = answer(&[one.clone(), stopped("length")]);
    let (_, whole) = answer(&[one, stopped("tool_calls")]);

    assert_eq!(
        inputs(&cut.expect("an end")),
        [("call_1", "Write", &json!(""))]
    );
    assert_eq!(
        inputs(&whole.expect("an end")),
        [("call_1", "Write", &json!({}))]
    );
}

#[test]
fn arguments_that_are_no_json_are_a_text() {
    let one = calls(&[fragment(0, "call_1", "Read", "{\"path\": ")]);

    let (_, reply) = answer(&[one, stopped("tool_calls")]);

    let expected = [("call_1", "Read", &json!("{\"path\": "))];
    assert_eq!(inputs(&reply.expect("whole")), expected);
}

#[test]
fn unknown_fields_are_preserved() {
    let (_, reply) = answer(&[
        chunk(&json!({"content": "See.", "annotations": [{"url": "a"}], "audio": null})),
        chunk(&json!({"annotations": [{"url": "b"}], "note": "x"})),
        chunk(&json!({"note": "y", "annotations": [], "mark": {"n": 1}})),
        stopped("stop"),
    ]);

    let parts = reply.expect("whole").message.parts;
    let expected = [
        own(MessagePart::text("See."), &json!({"content": "See."})),
        own(
            MessagePart::opaque(),
            &json!({"annotations": [{"url": "a"}, {"url": "b"}]}),
        ),
        own(MessagePart::opaque(), &json!({"note": "xy"})),
        own(MessagePart::opaque(), &json!({"mark": {"n": 1}})),
    ];
    assert_eq!(parts, expected);
}

#[test]
fn classifies_every_stream_failure_as_one_of_ten_codes() {
    use ModelErrorCode::*;
    #[rustfmt::skip]
    let table = [
        (json!({"error": {"message": "Sorry.", "type": "server_error"}}), NetworkError),
        (json!({"error": {"code": 502, "message": "Down."}, "choices": [{"finish_reason": "error"}]}), NetworkError),
        (json!({"error": {"code": 429, "message": "Slow."}}), RateLimited),
        (json!({"error": {"code": "insufficient_quota", "message": "No."}}), AuthenticationError),
        (json!({"error": "maximum context length"}), ContextLengthExceeded),
        (stopped("error"), NetworkError),
        (stopped("insufficient_system_resource"), NetworkError),
        (json!([1]), InvalidResponse),
        (chunk(&json!({"content": ["x"]})), InvalidResponse),
        (chunk(&json!({"tool_calls": {}})), InvalidResponse),
    ];

    for (event, code) in table {
        let (_, reply) = answer(&[usage(), event.clone()]);
        let error = reply.expect_err("it failed");
        assert_eq!(error.code, code, "{event}");
        assert_eq!(error.usage.known(), USED, "{event}");
    }
}

#[test]
fn a_call_without_a_name_is_invalid() {
    let (_, reply) = answer(&[calls(&[fragment(0, "", "", "{}")]), stopped("tool_calls")]);

    assert_eq!(
        reply.expect_err("it fails").code,
        ModelErrorCode::InvalidResponse
    );
}

#[test]
fn answer_is_complete_once_stop_reason_arrives() {
    let text = event(&chunk(&json!({"content": "So"})));
    let stop = event(&stopped("stop"));
    let used = event(&usage());
    let play = |events: &[&ServerEvent]| {
        let events = events.iter().copied().cloned();
        super::play(wire(Dialect::Plain).decoder(), events).1
    };

    for cut in [&[&text][..], &[&text, &used], &[&text, &used, &end()], &[]] {
        let error = play(cut).expect_err("it is cut");
        assert_eq!(error.code, ModelErrorCode::NetworkError);
        let is_reported = cut.contains(&&used);
        assert_eq!(
            error.usage.known(),
            if is_reported {
                USED
            } else {
                TokenUsage::default()
            }
        );
    }
    let whole = [
        &[&text, &stop][..],
        &[&text, &stop, &end()],
        &[&text, &stop, &used, &end()],
    ];
    for whole in whole {
        let reply = play(whole).expect("whole");
        assert_eq!(reply.message.to_text(), "So");
        let is_reported = whole.contains(&&used);
        assert_eq!(reply.usage.complete(), is_reported.then_some(USED));
    }
}

#[test]
fn an_end_without_a_reason_is_not_waited_upon() {
    let mut decoder = wire(Dialect::Plain).decoder();

    let result = decoder.push(&end(), &mut Vec::new());

    assert_eq!(
        result.expect_err("it is incomplete").code,
        ModelErrorCode::NetworkError
    );
}

#[test]
fn chunks_without_choices_are_ignored() {
    let (_, reply) = answer(&[
        json!({"id": "x", "choices": null}),
        json!({"object": "ping"}),
        json!({"choices": [{"index": 1, "delta": {"content": "another"}}]}),
        chunk(&json!({"content": "So"})),
        stopped("stop"),
    ]);

    assert_eq!(reply.expect("whole").message.to_text(), "So");
}
