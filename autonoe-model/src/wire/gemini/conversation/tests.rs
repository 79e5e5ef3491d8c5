//! Tests of encoding conversations.

use crate::contract::AssistantMessage;

use super::*;

const MODEL: &str = "gemini-2.5-pro";

fn text(text: &str) -> Value {
    json!({"text": text})
}

fn turn(role: &str, parts: impl Into<Vec<Value>>) -> Value {
    json!({"role": role, "parts": parts.into()})
}

fn answered(name: &str, output: &str) -> Value {
    json!({"functionResponse": {"name": name, "response": {"output": output}}})
}

/// Returns an answer with all kinds of data that only its provider understands.
fn answer() -> (Vec<Value>, AssistantMessage) {
    let items = vec![
        json!({"text": "Hm.", "thought": true}),
        json!({"text": "I look.", "thoughtSignature": "c2ln"}),
        json!({"functionCall": {"name": "Read", "args": {"b": 1, "a": 2}}, "thoughtSignature": "eA=="}),
        json!({"functionCall": {"id": "fc-2", "name": "List", "args": {}}}),
        json!({"executableCode": {"language": "PYTHON", "code": "1"}}),
        json!({"text": "", "thoughtSignature": "ZW5k"}),
    ];
    let parts = [
        MessagePart::thinking("Hm."),
        MessagePart::text("I look."),
        MessagePart::tool_call("made-up-0", "Read", json!({"b": 1, "a": 2})),
        MessagePart::tool_call("fc-2", "List", json!({})),
        MessagePart::opaque(),
        MessagePart::text(""),
    ]
    .into_iter()
    .zip(items.clone())
    .map(|(part, item)| part.with_wire(PROTOCOL, item));
    (items, AssistantMessage::new(parts))
}

#[test]
fn a_saved_answer_is_sent_back_unchanged() {
    let (items, answer) = answer();
    let results = [
        ToolResult::ok("made-up-0", "Read", "found"),
        ToolResult::failed("fc-2", "List", "refused"),
    ];
    let conversation = vec![
        Message::user("Look."),
        answer.into(),
        Message::results(results),
    ];

    let saved = serde_json::to_string(&conversation).expect("it can be written");
    let loaded: Vec<Message> = serde_json::from_str(&saved).expect("it can be read");

    // The API gave the first call no ID, so its result has none; the second has its own.
    let failed = json!({"functionResponse": {
        "id": "fc-2", "name": "List", "response": {"error": "refused"},
    }});
    let expected = [
        turn("user", [text("Look.")]),
        turn("model", items),
        turn("user", [answered("Read", "found"), failed]),
    ];
    assert_eq!(contents(MODEL, &conversation), expected);
    assert_eq!(contents(MODEL, &loaded), expected);
}

#[test]
fn an_answer_of_another_provider_is_sent_by_meaning_without_thinking() {
    let signed = json!({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"});
    let conversation = [
        AssistantMessage::new([
            MessagePart::thinking("Hm.").with_wire("anthropic-messages", signed),
            MessagePart::text("I look."),
            MessagePart::tool_call("toolu_1", "Read", json!({"path": "x"})),
            MessagePart::tool_call("toolu_2", "Read", json!("{\"path")),
        ])
        .into(),
        Message::results([ToolResult::ok("toolu_1", "Read", "found")]),
    ];

    for (model, signature) in [
        ("gemini-2.5-pro", None),
        ("models/gemini-2.5-pro", None),
        ("gemini-3-pro-preview", Some(UNSIGNED)),
    ] {
        let call = |args: Value| {
            let mut call = json!({"functionCall": {"name": "Read", "args": args}});
            if let Some(signature) = signature {
                call["thoughtSignature"] = signature.into();
            }
            call
        };
        let parts = [
            text("I look."),
            call(json!({"path": "x"})),
            call(json!({"INVALID_JSON": "{\"path"})),
        ];
        let expected = [
            turn("model", parts),
            turn("user", [answered("Read", "found")]),
        ];
        assert_eq!(contents(model, &conversation), expected, "{model}");
    }
}

#[test]
fn contents_of_one_role_are_one_turn_with_results_first() {
    let sent = contents(
        MODEL,
        &[
            Message::user("One."),
            Message::user("Two."),
            AssistantMessage::new([MessagePart::tool_call("a", "Read", json!({}))]).into(),
            Message::user("Hurry."),
            Message::results([ToolResult::ok("a", "Read", "x")]),
            AssistantMessage::default().into(),
            Message::user("Go on."),
        ],
    );

    let call = json!({"functionCall": {"name": "Read", "args": {}}});
    let expected = [
        turn("user", [text("One."), text("Two.")]),
        turn("model", [call]),
        turn(
            "user",
            [answered("Read", "x"), text("Hurry."), text("Go on.")],
        ),
    ];
    assert_eq!(sent, expected);
}

#[test]
fn the_latest_call_of_an_id_counts() {
    let message = |item: Value| -> Message {
        let part = MessagePart::tool_call("call-0", "Read", json!({}));
        AssistantMessage::new([part.with_wire(PROTOCOL, item)]).into()
    };
    let results = || Message::results([ToolResult::ok("call-0", "Read", "x")]);
    let with_id = json!({"functionCall": {"id": "call-0", "name": "Read", "args": {}}});
    let without = json!({"functionCall": {"name": "Read", "args": {}}});

    let sent = contents(
        MODEL,
        &[message(with_id), results(), message(without), results()],
    );

    assert_eq!(sent[1]["parts"][0]["functionResponse"]["id"], "call-0");
    assert_eq!(sent[3]["parts"][0]["functionResponse"]["id"], Value::Null);
}

// Shows: framework/tools/attachment-types
#[test]
fn files_go_with_the_result_as_far_as_the_api_has_them() {
    let file = |kind: &str, name: &str, data: &[u8]| Attachment {
        media_type: kind.into(),
        name: Some(name.into()),
        data: data.into(),
    };
    let shot = ToolResult::ok("t", "Shot", "done").with_attachments(vec![
        file("image/png", "a.png", b"png"),
        file("text/plain", "a.txt", b"hello"),
        file("application/zip", "a.zip", b"zip"),
    ]);

    let output = "done\nattached file a.txt (text/plain):\nhello\n\
                  [attached file a.zip (application/zip), 3 bytes: it cannot be shown here]";
    let png = json!({"inlineData": {"mimeType": "image/png", "data": "cG5n"}});
    assert_eq!(
        result(&shot, &WireIds::new()),
        [answered("Shot", output), png]
    );
}
