//! Tests of encoding conversations.

use crate::contract::AssistantMessage;

use super::*;

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn turn(role: &str, content: impl Into<Vec<Value>>) -> Value {
    json!({"role": role, "content": content.into()})
}

/// Returns an answer with all kinds of data that only its provider understands.
fn answer() -> (Vec<Value>, AssistantMessage) {
    let blocks = vec![
        json!({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}),
        json!({"type": "redacted_thinking", "data": "b3BhcXVl"}),
        json!({"type": "text", "text": "I look.", "citations": [{"type": "page_location"}]}),
        json!({"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"b": 1, "a": 2}}),
        json!({"type": "new_block", "anything": [1, {"x": null}]}),
        json!({"type": "tool_use", "id": "toolu_2", "name": "Read", "input": {}}),
    ];
    let parts = [
        MessagePart::thinking("Hm."),
        MessagePart::thinking(""),
        MessagePart::text("I look."),
        MessagePart::tool_call("toolu_1", "Read", json!({"b": 1, "a": 2})),
        MessagePart::opaque(),
        MessagePart::tool_call("toolu_2", "Read", json!({})),
    ]
    .into_iter()
    .zip(blocks.clone())
    .map(|(part, block)| part.with_wire(PROTOCOL, block));
    (blocks, AssistantMessage::new(parts))
}

#[test]
fn a_saved_answer_is_sent_back_unchanged() {
    let (blocks, answer) = answer();
    let conversation = vec![Message::user("Look."), answer.into()];

    let saved = serde_json::to_string(&conversation).expect("it can be written");
    let loaded: Vec<Message> = serde_json::from_str(&saved).expect("it can be read");

    let expected = [turn("user", [text("Look.")]), turn("assistant", blocks)];
    assert_eq!(messages(&conversation), expected);
    assert_eq!(messages(&loaded), expected);
    // Byte by byte, too.
    let sent = serde_json::to_string(&messages(&loaded)).expect("JSON");
    assert_eq!(sent, serde_json::to_string(&expected).expect("JSON"));
}

#[test]
fn an_answer_of_another_provider_is_sent_by_meaning_without_thinking() {
    let answer = AssistantMessage::new([
        MessagePart::thinking("Hm.").with_wire("gemini", json!({"text": "Hm.", "thought": true})),
        MessagePart::text("I look.").with_wire("gemini", json!({"text": "I look."})),
        MessagePart::opaque().with_wire("gemini", json!({"executableCode": {}})),
        MessagePart::tool_call("call/1:a", "Read", json!({"path": "x"})),
    ]);
    let results = Message::results([ToolResult::ok("call/1:a", "Read", "found")]);

    let sent = messages(&[answer.into(), results]);

    let call = json!({
        "type": "tool_use", "id": "call_1_a", "name": "Read", "input": {"path": "x"},
    });
    let result = json!({
        "type": "tool_result", "tool_use_id": "call_1_a", "content": [text("found")],
    });
    let expected = [
        turn("assistant", [text("I look."), call]),
        turn("user", [result]),
    ];
    assert_eq!(sent, expected);
}

#[test]
fn an_input_with_invalid_json_is_sent_back_in_an_object() {
    let block = json!({"type": "tool_use", "id": "t", "name": "Read", "input": "{\"path\": "});
    let own = MessagePart::tool_call("t", "Read", json!("{\"path\": ")).with_wire(PROTOCOL, block);
    let foreign = MessagePart::tool_call("t", "Read", json!([1]));

    let inputs = [own, foreign].map(|call| part(&call).expect("a block")["input"].clone());

    let expected = [
        json!({"INVALID_JSON": "{\"path\": "}),
        json!({"INVALID_JSON": "[1]"}),
    ];
    assert_eq!(inputs, expected);
}

#[test]
fn messages_of_one_role_are_one_turn_with_results_first() {
    let sent = messages(&[
        Message::user("One."),
        Message::user("Two."),
        AssistantMessage::new([MessagePart::tool_call("a", "Read", json!({}))]).into(),
        Message::user("Hurry."),
        Message::results([ToolResult::ok("a", "Read", "x")]),
        AssistantMessage::text(" ").into(),
        Message::user("Go on."),
        AssistantMessage::default().into(),
        AssistantMessage::text("Done.").into(),
    ]);

    let call = json!({"type": "tool_use", "id": "a", "name": "Read", "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": "a", "content": [text("x")]});
    let expected = [
        turn("user", [text("One."), text("Two.")]),
        turn("assistant", [call]),
        turn("user", [result, text("Hurry."), text("Go on.")]),
        turn("assistant", [text("Done.")]),
    ];
    assert_eq!(sent, expected);
}

fn file(kind: &str, name: &str, data: &[u8]) -> Attachment {
    Attachment {
        media_type: kind.into(),
        name: Some(name.into()),
        data: data.into(),
    }
}

// Shows: framework/tools/pictures-of-failures, framework/tools/attachment-types
#[test]
fn files_go_with_the_result_as_far_as_the_api_has_them() {
    let files = vec![
        file("image/png", "a.png", b"png"),
        file("application/pdf", "a.pdf", b"pdf"),
        file("text/plain", "a.txt", b"hello"),
        file("audio/wav", "a.wav", b"wav"),
    ];
    let ok = ToolResult::ok("t", "Shot", "done").with_attachments(files.clone());
    let failed = ToolResult::failed("t", "Shot", "no").with_attachments(files);

    let source =
        |kind: &str, data: &str| json!({"type": "base64", "media_type": kind, "data": data});
    let hello = text("attached file a.txt (text/plain):\nhello");
    let wav = text("[attached file a.wav (audio/wav), 3 bytes: it cannot be shown here]");
    let expected = json!([
        text("done"),
        {"type": "image", "source": source("image/png", "cG5n")},
        {"type": "document", "source": source("application/pdf", "cGRm")},
        hello,
        wav,
    ]);
    assert_eq!(result(&ok)["content"], expected);
    // The API rejects a failed result with anything but text.
    let expected = json!([
        text("no"),
        text("[attached file a.png (image/png), 3 bytes: it cannot be shown here]"),
        text("[attached file a.pdf (application/pdf), 3 bytes: it cannot be shown here]"),
        hello,
        wav,
    ]);
    assert_eq!(result(&failed)["content"], expected);
    assert_eq!(result(&failed)["is_error"], true);
}

#[test]
fn an_empty_result_has_no_content_unless_it_failed() {
    let sent = result(&ToolResult::ok("t", "Touch", ""));
    assert_eq!(sent, json!({"type": "tool_result", "tool_use_id": "t"}));

    let sent = result(&ToolResult::failed("t", "Touch", " "));
    assert_eq!(sent["content"], json!([text("the call failed")]));
}
