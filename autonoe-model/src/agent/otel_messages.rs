//! Messages in the format of OpenTelemetry's GenAI conventions, for observers.

use serde_json::{Value, json};

use crate::contract::{AssistantMessage, Message, ModelRequest, PartKind};

/// Formats a request, with the system prompt first.
pub(super) fn request_messages(request: &ModelRequest) -> Value {
    let system = request
        .system
        .as_deref()
        .map(|text| message("system", [text_part(text)]));
    let messages = request.messages.iter().map(|it| match it {
        Message::User { text } => message("user", [text_part(text)]),
        Message::Assistant(answer) => json!({"role": "assistant", "parts": answer_parts(answer)}),
        Message::Results { results } => message(
            "tool",
            results.iter().map(|result| {
                json!({
                    "type": "tool_call_response", "id": result.call_id, "response": result.output,
                })
            }),
        ),
    });
    system.into_iter().chain(messages).collect()
}

/// Formats the parts of an answer. Opaque parts are left out.
pub(super) fn answer_parts(answer: &AssistantMessage) -> Value {
    let parts = answer.parts.iter().filter_map(|part| match &part.kind {
        PartKind::Text { text } => Some(text_part(text)),
        PartKind::Thinking { text } => Some(json!({"type": "reasoning", "content": text})),
        PartKind::ToolCall { id, name, input } => {
            Some(json!({"type": "tool_call", "id": id, "name": name, "arguments": input}))
        }
        PartKind::Opaque => None,
    });
    parts.collect()
}

fn message(role: &str, parts: impl IntoIterator<Item = Value>) -> Value {
    json!({"role": role, "parts": Value::from_iter(parts)})
}

fn text_part(text: &str) -> Value {
    json!({"type": "text", "content": text})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{MessagePart, ToolResult};

    #[test]
    fn a_conversation_is_exported_in_the_format_of_the_conventions() {
        let mut request = ModelRequest::prompt("Look.").with_system("Be kind.".to_owned());
        let answer = AssistantMessage::new([
            MessagePart::thinking("Where?"),
            MessagePart::text("I look."),
            MessagePart::tool_call("call-1", "Read", json!({"path": "a"})),
            MessagePart::opaque(),
        ]);
        request.messages.push(answer.into());
        let result = ToolResult::ok("call-1", "Read", "text");
        request.messages.push(Message::results([result]));

        let messages = request_messages(&request);

        let expected = json!([
            {"role": "system", "parts": [{"type": "text", "content": "Be kind."}]},
            {"role": "user", "parts": [{"type": "text", "content": "Look."}]},
            {"role": "assistant", "parts": [
                {"type": "reasoning", "content": "Where?"},
                {"type": "text", "content": "I look."},
                {"type": "tool_call", "id": "call-1", "name": "Read", "arguments": {"path": "a"}},
            ]},
            {"role": "tool", "parts": [
                {"type": "tool_call_response", "id": "call-1", "response": "text"},
            ]},
        ]);
        assert_eq!(messages, expected);
    }
}
