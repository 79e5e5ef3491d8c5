//! Tests of nonstandard and truncated tool calls.

use autonoe_model::{ModelRequest, StopReason};
use serde_json::{Value, json};

use crate::providers::raw_server::{Act, RawServer, stream};
use crate::providers::support::{call, model};

/// Plays events to a provider of this kind, and returns its calls and the stop reason.
async fn calls(kind: &str, events: &[Value]) -> (Vec<(String, Value)>, StopReason) {
    let events = events.iter().map(|event| format!("data: {event}\n\n"));
    let server = RawServer::once([stream(&events.collect::<String>()), Act::Close]).await;
    let model = model(kind, &server.url(), &json!({}));

    let (_, end) = call(&model, &ModelRequest::prompt("Hello.")).await;

    let reply = end.expect("it answers");
    let calls = reply
        .message
        .calls()
        .map(|(_, name, input)| (name.to_owned(), input.clone()));
    (calls.collect(), reply.stop.clone())
}

fn chat(fragments: &Value) -> Value {
    json!({"id": "a", "choices": [{"index": 0, "delta": {"tool_calls": fragments}}]})
}

fn stopped(reason: &str) -> Value {
    json!({"id": "a", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn function(name: &str, arguments: &Value) -> Value {
    json!({"name": name, "arguments": arguments})
}

#[tokio::test]
async fn calls_without_ids_are_distinguished_by_their_names() {
    let read = || function("Read", &json!("{\"path\": \"a\"}"));
    let list = || function("List", &json!("{}"));
    let expected = [
        ("Read".to_owned(), json!({"path": "a"})),
        ("List".to_owned(), json!({})),
    ];
    let as_objects = [
        json!({"index": 0, "function": function("Read", &json!({"path": "a"}))}),
        json!({"index": 0, "function": function("List", &json!({}))}),
    ];
    for fragments in [
        [
            json!({"index": 0, "id": "", "function": read()}),
            json!({"index": 0, "id": "", "function": list()}),
        ],
        [
            json!({"index": 0, "function": read()}),
            json!({"index": 0, "function": list()}),
        ],
        [json!({"function": read()}), json!({"function": list()})],
        as_objects,
    ] {
        let [first, second] = fragments.clone();
        let together = [chat(&json!(fragments)), stopped("tool_calls")];
        let apart = [
            chat(&json!([first])),
            chat(&json!([second])),
            stopped("tool_calls"),
        ];

        for events in [&together[..], &apart[..]] {
            let (calls, _) = calls("openai-compatible", events).await;
            assert_eq!(calls, expected, "{events:?}");
        }
    }
}

#[tokio::test]
async fn two_calls_of_one_tool_without_ids_are_two() {
    let read =
        |path: &str| json!({"index": 0, "function": function("Read", &json!({"path": path}))});

    let events = [chat(&json!([read("a"), read("b")])), stopped("tool_calls")];
    let (calls, _) = calls("openai-compatible", &events).await;

    let inputs: Vec<_> = calls
        .iter()
        .map(|(_, input)| input["path"].clone())
        .collect();
    assert_eq!(inputs, ["a", "b"]);
}

#[tokio::test]
async fn a_service_that_repeats_the_name_in_every_fragment_makes_one_call() {
    for id in ["", "call_1"] {
        let fragment = |text: &str| {
            let function = function("Read", &json!(text));
            chat(&json!([{"index": 0, "id": id, "function": function}]))
        };
        let events = [
            fragment(""),
            fragment("{\"path\""),
            fragment(": \"a\"}"),
            stopped("tool_calls"),
        ];

        let (calls, _) = calls("openai-compatible", &events).await;

        assert_eq!(calls, [("Read".to_owned(), json!({"path": "a"}))], "{id}");
    }
}

#[tokio::test]
async fn a_call_that_was_cut_before_its_input_has_none() {
    let message = |stop: &str| {
        let block = |index: u64, id: &str| {
            let call = json!({"type": "tool_use", "id": id, "name": "Wipe", "input": {}});
            [
                json!({"type": "content_block_start", "index": index, "content_block": call}),
                json!({"type": "content_block_stop", "index": index}),
            ]
        };
        let mut events = vec![json!({"type": "message_start", "message": {"id": "m"}})];
        events.extend(block(0, "a"));
        events.extend(block(1, "b"));
        events.push(json!({"type": "message_delta", "delta": {"stop_reason": stop}}));
        events.push(json!({"type": "message_stop"}));
        events
    };
    let called = |input: Value| ("Wipe".to_owned(), input);

    let (whole, _) = calls("anthropic", &message("tool_use")).await;
    let (cut, stop) = calls("anthropic", &message("max_tokens")).await;

    assert_eq!(whole, [called(json!({})), called(json!({}))]);
    // Only the last call can be cut. An input that is not an object is not run.
    assert_eq!(cut, [called(json!({})), called(json!(""))]);
    assert_eq!(stop, StopReason::MaxTokens);
}

#[tokio::test]
async fn an_answer_that_the_provider_broke_is_not_one_that_ended() {
    let gemini = |word: &str| vec![json!({"candidates": [{"finishReason": word}]})];
    for word in [
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "OTHER",
        "NEW",
    ] {
        let (_, stop) = calls("google", &gemini(word)).await;
        assert_eq!(stop, StopReason::Failed(word.into()));
    }
    let incomplete = |details: Value| {
        let response = json!({"id": "r", "status": "incomplete", "output": [],
            "incomplete_details": details});
        vec![json!({"type": "response.incomplete", "response": response})]
    };
    for (details, word) in [
        (json!({"reason": "tired"}), "tired"),
        (json!(null), "incomplete"),
    ] {
        let (_, stop) = calls("openai", &incomplete(details)).await;
        assert_eq!(stop, StopReason::Failed(word.into()));
    }
}
