//! Prompts and answers in the format of the OpenTelemetry conventions: messages of parts.

use serde_json::{Value, json};

use crate::agent::{ModelAnswer, ModelCallRequest};

/// Renders the prompt of an agent.
pub(super) fn prompt(text: &str) -> String {
    json!([{"role": "user", "parts": [text_part(text)]}]).to_string()
}

/// Renders the final answer of an agent.
pub(super) fn final_answer(text: &str) -> String {
    output(&json!([text_part(text)]), None)
}

/// A rendered model request.
pub(super) struct RenderedRequest {
    /// The system instructions of the conversation.
    pub(super) system: Option<String>,
    pub(super) messages: String,
}

/// Renders the request to a model.
pub(super) fn request(asked: &ModelCallRequest<'_>) -> RenderedRequest {
    let mut messages = asked.messages.to_json();
    let system = match messages.as_array_mut() {
        Some(list) if list.first().is_some_and(|first| first["role"] == "system") => {
            Some(list.remove(0)["parts"].to_string())
        }
        _ => None,
    };
    RenderedRequest {
        system,
        messages: messages.to_string(),
    }
}

/// Renders the answer of a model.
pub(super) fn answer(answer: &ModelAnswer<'_>) -> String {
    let parts = match &answer.parts {
        Some(parts) => parts.to_json(),
        None => json!([text_part(answer.text)]),
    };
    output(&parts, answer.stop_reason)
}

fn output(parts: &Value, stop: Option<&str>) -> String {
    let message = json!({
        "role": "assistant", "parts": parts, "finish_reason": finish_reason(stop),
    });
    json!([message]).to_string()
}

fn text_part(text: &str) -> Value {
    json!({"type": "text", "content": text})
}

/// Maps a stop reason to the finish reasons of the conventions; unknown ones stay unchanged.
fn finish_reason(stop: Option<&str>) -> &str {
    match stop {
        None | Some("end_turn" | "stop_sequence") => "stop",
        Some("tool_use") => "tool_call",
        Some("max_tokens" | "context_full") => "length",
        Some("refused" | "refusal") => "content_filter",
        Some(other) => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::ModelMessages;
    use crate::agent::TokenUsage;

    fn read(text: &str) -> Value {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn system_instructions_are_not_one_of_the_messages() {
        let user = json!({"role": "user", "parts": [{"type": "text", "content": "Hi."}]});
        let system = json!({"role": "system", "parts": [{"type": "text", "content": "Be kind."}]});
        for (given, expected) in [
            (json!([system, user]), Some(system["parts"].clone())),
            (json!([user]), None),
        ] {
            let content = || given.clone();
            let question = ModelCallRequest::new("a-model", ModelMessages::new(1, &content));

            let rendered = request(&question);

            assert_eq!(rendered.system.as_deref().map(read), expected);
            assert_eq!(read(&rendered.messages), json!([user]));
        }
    }

    #[test]
    fn an_answer_has_its_parts_and_why_it_ended() {
        let call = json!([{"type": "tool_call", "id": "c", "name": "Read", "arguments": {}}]);
        let parts = || call.clone();
        let reply = ModelAnswer::new("", TokenUsage::default())
            .with_parts(ModelMessages::new(1, &parts))
            .with_stop_reason("tool_use");

        let rendered = answer(&reply);

        let expected = json!([{"role": "assistant", "parts": call, "finish_reason": "tool_call"}]);
        assert_eq!(read(&rendered), expected);
    }

    #[test]
    fn stop_reasons_are_mapped_to_those_of_the_conventions() {
        for (stop, expected) in [
            (None, "stop"),
            (Some("end_turn"), "stop"),
            (Some("tool_use"), "tool_call"),
            (Some("max_tokens"), "length"),
            (Some("context_full"), "length"),
            (Some("refused"), "content_filter"),
            (Some("paused"), "paused"),
        ] {
            assert_eq!(finish_reason(stop), expected, "{stop:?}");
        }
    }
}
