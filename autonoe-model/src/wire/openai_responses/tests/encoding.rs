//! Tests of encoding.

use autonoe_core::agent::ThinkingBudget;
use autonoe_core::tool::{Attachment, ToolDefinition};
use serde_json::json;

use super::*;
use crate::contract::{AssistantMessage, Message, MessagePart, ToolChoice, ToolResult};

fn body(request: &ModelRequest) -> Value {
    wire().encode("gpt-5", request).body
}

#[test]
fn a_whole_request_has_the_shape_of_the_service() {
    let tool = ToolDefinition::new("Read", "Reads a file.", json!({"type": "object"}));
    let request = ModelRequest::prompt("Look.")
        .with_system("You are terse.".to_owned())
        .with_tools([tool])
        .with_max_output_tokens(2_000)
        .with_thinking(ThinkingBudget::default());

    let encoded = wire().encode("gpt-5", &request);

    assert_eq!(encoded.path, "/responses");
    assert_eq!(
        encoded.body,
        json!({
            "model": "gpt-5",
            "instructions": "You are terse.",
            "input": [{
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "Look."}],
            }],
            "tools": [{
                "type": "function",
                "name": "Read",
                "description": "Reads a file.",
                "parameters": {"type": "object", "properties": {}},
                "strict": false,
            }],
            "tool_choice": "auto",
            "max_output_tokens": 2_000,
            "reasoning": {"effort": "medium"},
            "include": ["reasoning.encrypted_content"],
            "store": false,
            "stream": true,
        })
    );
}

#[test]
fn unset_options_are_not_sent() {
    let body = body(&ModelRequest::prompt("Look.").with_tool_choice(ToolChoice::Required));

    let mut fields: Vec<_> = body.as_object().expect("an object").keys().collect();
    fields.sort();
    assert_eq!(fields, ["include", "input", "model", "store", "stream"]);
}

#[test]
fn tools_may_must_or_must_not_be_called() {
    let tool = ToolDefinition::new("Read", "Reads.", json!({"type": "object"}));
    let table = [
        (ToolChoice::Auto, "auto"),
        (ToolChoice::Required, "required"),
        (ToolChoice::None, "none"),
    ];

    for (choice, word) in table {
        let request = ModelRequest::prompt("Look.").with_tools([tool.clone()]);
        assert_eq!(body(&request.with_tool_choice(choice))["tool_choice"], word);
    }
}

#[test]
fn models_without_reasoning_get_no_reasoning_options() {
    let request = ModelRequest::prompt("Look.").with_thinking(ThinkingBudget::default());

    let body = wire().encode("gpt-4.1", &request).body;

    assert_eq!(body.get("include"), None);
    assert_eq!(body.get("reasoning"), None);
    assert_eq!(body["store"], false);
}

#[test]
fn a_reasoning_summary_is_requested_if_configured() {
    let options = ResponsesOptions {
        summary: Some(ReasoningSummary::Auto),
        ..ResponsesOptions::default()
    };

    let encoded = OpenAiResponses::new(options).encode("gpt-5", &ModelRequest::prompt("Look."));

    assert_eq!(encoded.body["reasoning"], json!({"summary": "auto"}));
}

#[test]
fn the_key_is_a_bearer() {
    let expected = ("authorization", "Bearer k".to_owned());
    assert_eq!(wire().credential("k"), expected);
}

#[test]
fn results_contain_text_images_and_documents() {
    let file = |media_type: &str, name: &str| Attachment {
        media_type: media_type.into(),
        name: Some(name.into()),
        data: b"abc".as_slice().into(),
    };
    let request = ModelRequest::new([Message::results([
        ToolResult::ok("call-1", "Read", "It is there."),
        ToolResult::failed("call-2", "Read", "no such file"),
        ToolResult::ok("call-3", "Read", "Three files.").with_attachments(vec![
            file("image/png", "a.png"),
            file("application/pdf", "b.pdf"),
            file("video/mp4", "c.mp4"),
        ]),
    ])]);

    let body = body(&request);

    assert_eq!(
        body["input"],
        json!([
            {"type": "function_call_output", "call_id": "call-1", "output": "It is there."},
            {"type": "function_call_output", "call_id": "call-2", "output": "Error: no such file"},
            {"type": "function_call_output", "call_id": "call-3", "output": [
                {"type": "input_text", "text": "Three files."},
                {"type": "input_image", "image_url": "data:image/png;base64,YWJj"},
                {"type": "input_file", "filename": "b.pdf", "file_data": "data:application/pdf;base64,YWJj"},
                {"type": "input_text", "text": "[attached file c.mp4 (video/mp4), 3 bytes: it cannot be shown here]"},
            ]},
        ])
    );
}

#[test]
fn answers_of_other_providers_are_sent_by_meaning_without_thinking() {
    let other = "anthropic-messages";
    let answer = AssistantMessage::new([
        MessagePart::thinking("Hm.").with_wire(other, json!({"signature": "c2ln"})),
        MessagePart::text("I look.").with_wire(other, json!({"type": "text"})),
        MessagePart::text(""),
        MessagePart::tool_call("call-1", "Read", json!({"path": "a"})),
        MessagePart::tool_call("call-2", "Read", json!("no json")),
        MessagePart::opaque().with_wire(other, json!({"type": "new"})),
    ]);

    let body = body(&ModelRequest::new([answer.into()]));

    assert_eq!(
        body["input"],
        json!([
            {"type": "message", "role": "assistant", "content": "I look."},
            {"type": "function_call", "call_id": "call-1", "name": "Read", "arguments": "{\"path\":\"a\"}"},
            {"type": "function_call", "call_id": "call-2", "name": "Read", "arguments": "no json"},
        ])
    );
}
