//! What was said, in the shape of the conventions: messages of parts.

use serde_json::{Value, json};

use crate::port::{ModelAnswer, ModelAsked};

/// Writes what an agent is told.
pub(super) fn prompt(text: &str) -> String {
    json!([{"role": "user", "parts": [text_part(text)]}]).to_string()
}

/// Writes what an agent answered at its end.
pub(super) fn last_word(text: &str) -> String {
    output(&json!([text_part(text)]), None)
}

/// What a model is asked.
pub(super) struct Asked {
    /// What holds for the whole conversation.
    pub(super) system: Option<String>,
    pub(super) messages: String,
}

/// Writes what a model is asked.
pub(super) fn asked(asked: &ModelAsked<'_>) -> Asked {
    let mut messages = asked.messages.to_json();
    let system = match messages.as_array_mut() {
        Some(list) if list.first().is_some_and(|first| first["role"] == "system") => {
            Some(list.remove(0)["parts"].to_string())
        }
        _ => None,
    };
    Asked {
        system,
        messages: messages.to_string(),
    }
}

/// Writes what a model answered.
pub(super) fn answered(answer: &ModelAnswer<'_>) -> String {
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

/// Says why an answer ended in the words of the conventions, as far as they have one.
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
    use crate::domain::TokenUsage;
    use crate::port::ModelMessages;

    fn read(text: &str) -> Value {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn what_holds_for_the_whole_conversation_is_not_one_of_its_messages() {
        let user = json!({"role": "user", "parts": [{"type": "text", "content": "Hi."}]});
        let system = json!({"role": "system", "parts": [{"type": "text", "content": "Be kind."}]});
        for (given, expected) in [
            (json!([system, user]), Some(system["parts"].clone())),
            (json!([user]), None),
        ] {
            let content = || given.clone();
            let question = ModelAsked::new("a-model", ModelMessages::new(1, &content));

            let told = asked(&question);

            assert_eq!(told.system.as_deref().map(read), expected);
            assert_eq!(read(&told.messages), json!([user]));
        }
    }

    #[test]
    fn an_answer_has_its_parts_and_why_it_ended() {
        let call = json!([{"type": "tool_call", "id": "c", "name": "Read", "arguments": {}}]);
        let parts = || call.clone();
        let answer = ModelAnswer::new("", TokenUsage::default())
            .with_parts(ModelMessages::new(1, &parts))
            .with_stop_reason("tool_use");

        let told = answered(&answer);

        let expected = json!([{"role": "assistant", "parts": call, "finish_reason": "tool_call"}]);
        assert_eq!(read(&told), expected);
    }

    #[test]
    fn the_conventions_have_words_of_their_own_for_the_end() {
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
