//! Tests of sending earlier answers back.

use serde_json::json;

use super::*;
use crate::contract::Message;

/// Returns the message that is sent back for an answer, which was serialized and deserialized in
/// between.
fn sent_back(dialect: Dialect, chunks: &[Value]) -> Value {
    let (_, reply) = answer(chunks);
    let saved = serde_json::to_string(&Message::from(reply.expect("whole").message));
    let loaded = serde_json::from_str(&saved.expect("it can be written"));

    let request = ModelRequest::new([loaded.expect("it can be read")]);
    wire(dialect).encode("m-1", &request).body["messages"].clone()
}

#[test]
fn an_answer_is_sent_back_unchanged() {
    let mut signed = fragment(0, "call_1", "Read", "{ \"path\" :\"a\"}");
    signed["extra_content"] = json!({"google": {"thought_signature": "c2ln"}});
    let mut expected = call("call_1", "Read", "{ \"path\" :\"a\"}");
    expected["extra_content"] = signed["extra_content"].clone();

    let sent = sent_back(
        Dialect::Plain,
        &[
            chunk(&json!({"reasoning_content": "Hm."})),
            chunk(&json!({"content": "I look.", "annotations": [{"url": "a"}]})),
            calls(&[signed, fragment(1, "call_2", "Grep", "{}")]),
            stopped("tool_calls"),
        ],
    );

    assert_eq!(
        sent,
        json!([{
            "role": "assistant",
            "reasoning_content": "Hm.",
            "content": "I look.",
            "annotations": [{"url": "a"}],
            "tool_calls": [expected, call("call_2", "Grep", "{}")],
        }])
    );
}

#[test]
fn a_refusal_is_sent_back_as_a_refusal() {
    let chunks = [chunk(&json!({"refusal": "I will not."})), stopped("stop")];

    assert_eq!(
        sent_back(Dialect::OpenAi, &chunks),
        json!([{"role": "assistant", "content": null, "refusal": "I will not."}])
    );
}

#[test]
fn each_dialect_gets_the_reasoning_fields_that_it_requires() {
    let detail = json!([{"type": "reasoning.text", "text": "Hm.", "signature": "c2ln"}]);
    let all = json!({"reasoning": "Hm.", "reasoning_content": "Hm.", "reasoning_details": detail});
    let old = json!({"reasoning_content": "Hm."});
    let table = [
        (Dialect::OpenAi, &all, None),
        (Dialect::Plain, &all, Some("reasoning_content")),
        (Dialect::Ollama, &all, Some("reasoning")),
        (Dialect::Ollama, &old, None),
        (Dialect::Vllm, &all, Some("reasoning")),
        (Dialect::Vllm, &old, Some("reasoning_content")),
        (Dialect::OpenRouter, &all, Some("reasoning_details")),
    ];

    for (dialect, thinking, field) in table {
        let answer = chunk(&json!({"content": "Yes."}));
        let sent = sent_back(dialect, &[chunk(thinking), answer, stopped("stop")]);

        let mut expected = json!({"role": "assistant", "content": "Yes."});
        if let Some(field) = field {
            expected[field] = thinking[field].clone();
        }
        assert_eq!(sent, json!([expected]), "{dialect:?}");
    }
}

#[test]
fn arguments_that_are_no_object_do_not_spoil_the_conversation() {
    let table = [
        (Dialect::OpenAi, "{\"path\": ", "{\"path\": "),
        (Dialect::OpenAi, "", ""),
        (
            Dialect::Ollama,
            "{\"path\": ",
            r#"{"arguments":"{\"path\": "}"#,
        ),
        (Dialect::Vllm, "[1]", r#"{"arguments":"[1]"}"#),
        (Dialect::Plain, "", "{}"),
        (Dialect::Plain, "{ \"a\" : 1 }", "{ \"a\" : 1 }"),
    ];

    for (dialect, written, sent) in table {
        let one = calls(&[fragment(0, "call_1", "Read", written)]);
        let back = sent_back(dialect, &[one, stopped("tool_calls")]);

        let arguments = &back[0]["tool_calls"][0]["function"]["arguments"];
        assert_eq!(arguments, sent, "{dialect:?} {written}");
    }
}

#[test]
fn an_answer_that_only_thinks_is_not_sent() {
    let chunks = [
        chunk(&json!({"reasoning_content": "Hm."})),
        stopped("length"),
    ];

    assert_eq!(sent_back(Dialect::Plain, &chunks), json!([]));
}
