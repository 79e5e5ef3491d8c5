//! Tests of encoding in every dialect.

use autonoe_core::agent::ThinkingBudget;
use autonoe_core::tool::{Attachment, ToolDefinition};
use serde_json::json;

use super::*;
use crate::contract::{AssistantMessage, Message, MessagePart, ToolChoice, ToolResult};

fn request() -> ModelRequest {
    let tool = ToolDefinition::new("Read", "Reads a file.", json!({"type": "object"}));
    ModelRequest::prompt("Look.")
        .with_system("You are terse.".to_owned())
        .with_tools([tool])
        .with_tool_choice(ToolChoice::Required)
        .with_max_output_tokens(2_000)
        .with_thinking(ThinkingBudget::default())
}

fn messages(dialect: Dialect, messages: Vec<Message>) -> Value {
    wire(dialect)
        .encode("m-1", &ModelRequest::new(messages))
        .body["messages"]
        .clone()
}

#[test]
fn a_whole_request_has_the_shape_of_the_service() {
    let encoded = wire(Dialect::Plain).encode("m-1", &request());

    assert_eq!(encoded.path, "/chat/completions");
    assert_eq!(
        encoded.body,
        json!({
            "model": "m-1",
            "messages": [
                {"role": "system", "content": "You are terse."},
                {"role": "user", "content": "Look."},
            ],
            "tools": [{
                "type": "function",
                "function": {
                    "name": "Read",
                    "description": "Reads a file.",
                    "parameters": {"type": "object", "properties": {}},
                },
            }],
            "tool_choice": "required",
            "max_tokens": 2_000,
            "reasoning_effort": "medium",
            "stream": true,
            "stream_options": {"include_usage": true},
        })
    );
}

#[test]
fn unset_options_are_not_sent() {
    let request = ModelRequest::prompt("Look.").with_tool_choice(ToolChoice::None);

    let body = wire(Dialect::OpenRouter).encode("m-1", &request).body;

    let message = json!([{"role": "user", "content": "Look."}]);
    assert_eq!(
        body,
        json!({"model": "m-1", "messages": message, "stream": true})
    );
}

#[test]
fn each_dialect_has_its_own_fields() {
    let stream_options = json!({"include_usage": true});
    let table = [
        (
            Dialect::Plain,
            "max_tokens",
            "reasoning_effort",
            json!("medium"),
            Some(&stream_options),
        ),
        (
            Dialect::OpenAi,
            "max_completion_tokens",
            "reasoning_effort",
            json!("medium"),
            Some(&stream_options),
        ),
        (
            Dialect::Ollama,
            "max_tokens",
            "reasoning_effort",
            json!("medium"),
            Some(&stream_options),
        ),
        (
            Dialect::Vllm,
            "max_tokens",
            "reasoning_effort",
            json!("medium"),
            Some(&stream_options),
        ),
        (
            Dialect::OpenRouter,
            "max_tokens",
            "reasoning",
            json!({"max_tokens": 8_192}),
            None,
        ),
    ];

    for (dialect, limit, thinking, budget, usage) in table {
        let body = wire(dialect).encode("m-1", &request()).body;
        assert_eq!(body[limit], 2_000, "{dialect:?}");
        assert_eq!(body[thinking], budget, "{dialect:?}");
        assert_eq!(body.get("stream_options"), usage, "{dialect:?}");
        assert_eq!(
            body.as_object().expect("an object").len(),
            7 + usize::from(usage.is_some())
        );
    }
}

#[test]
fn a_service_can_differ_from_its_dialect() {
    let changes: DialectChanges = serde_json::from_value(json!({
        "streamUsage": "doNotAsk",
        "limit": "max_completion_tokens",
        "thinking": "none",
        "echo": ["reasoning_details"],
        "arguments": "asWritten",
        "pictures": "name",
    }))
    .expect("they can be read");

    let dialect = ChatDialect::from(Dialect::Vllm).with(&changes);

    assert_eq!(
        dialect,
        ChatDialect {
            stream_usage: StreamUsage::DoNotAsk,
            limit: LimitField::MaxCompletionTokens,
            thinking: ThinkingField::None,
            echo: vec![ReasoningField::ReasoningDetails],
            arguments: CallArguments::AsWritten,
            pictures: Pictures::Name,
        }
    );
    let body = OpenAiChat::new(dialect).encode("m-1", &request()).body;
    assert_eq!(body.get("reasoning_effort"), None);
    let none = ChatDialect::from(Dialect::Vllm).with(&DialectChanges::default());
    assert_eq!(none, Dialect::Vllm.into());
}

// Shows: framework/tools/attachment-types
#[test]
fn pictures_follow_behind_all_results() {
    let file = |media_type: &str, name: &str| Attachment {
        media_type: media_type.into(),
        name: Some(name.into()),
        data: b"abc".as_slice().into(),
    };
    let results = Message::results([
        ToolResult::ok("call-1", "Read", "Two files.").with_attachments(vec![
            file("image/png", "a.png"),
            file("application/pdf", "b.pdf"),
        ]),
        ToolResult::failed("call-2", "Read", "no such file"),
    ]);

    assert_eq!(
        messages(Dialect::Plain, vec![results.clone()]),
        json!([
            {"role": "tool", "tool_call_id": "call-1", "content": "Two files.\n[attached file b.pdf (application/pdf), 3 bytes: it cannot be shown here]"},
            {"role": "tool", "tool_call_id": "call-2", "content": "Error: no such file"},
            {"role": "user", "content": [
                {"type": "text", "text": "Images in the result of Read (call-1):"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,YWJj"}},
            ]},
        ])
    );
    let blind = DialectChanges {
        pictures: Some(Pictures::Name),
        ..DialectChanges::default()
    };
    let blind = OpenAiChat::new(ChatDialect::from(Dialect::Plain).with(&blind));
    let body = blind.encode("m-1", &ModelRequest::new([results])).body;
    let content = "Two files.\n[attached file a.png (image/png), 3 bytes: it cannot be shown here]\n[attached file b.pdf (application/pdf), 3 bytes: it cannot be shown here]";
    assert_eq!(body["messages"][0]["content"], content);
    assert_eq!(body["messages"].as_array().map(Vec::len), Some(2));
}

#[test]
fn answers_of_other_providers_are_sent_by_meaning_without_thinking() {
    let other = "anthropic-messages";
    let foreign_answer = AssistantMessage::new([
        MessagePart::thinking("Hm.").with_wire(other, json!({"reasoning": "Hm."})),
        MessagePart::text("I look.").with_wire(other, json!({"refusal": "x"})),
        MessagePart::tool_call("call-1", "Read", json!({"path": "a"})),
        MessagePart::opaque().with_wire(other, json!({"type": "new"})),
    ]);
    let only_calls = AssistantMessage::new([MessagePart::tool_call("call-2", "Read", json!({}))]);
    let only_thinks = AssistantMessage::new([MessagePart::thinking("Hm.")]);

    let sent = messages(
        Dialect::OpenAi,
        vec![foreign_answer.into(), only_calls.into(), only_thinks.into()],
    );

    assert_eq!(
        sent,
        json!([
            {"role": "assistant", "content": "I look.", "tool_calls": [call("call-1", "Read", "{\"path\":\"a\"}")]},
            {"role": "assistant", "content": null, "tool_calls": [call("call-2", "Read", "{}")]},
        ])
    );
}
