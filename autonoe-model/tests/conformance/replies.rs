//! Answers in the format of each protocol, as received and as sent back.

use autonoe_model::contract::{AssistantMessage, PartKind};
use serde_json::{Map, Value, json};

use crate::conformance::scripted::Api;

/// Signature of the servers.
const SIGNATURE: &str = "c2NyaXB0ZWQ=";

/// Returns a part that no client knows.
pub(crate) fn unknown(api: Api) -> Value {
    match api {
        Api::Anthropic | Api::Responses => {
            json!({"type": "brand_new", "id": "new_1", "payload": {"a": [1, null, "ä"]}})
        }
        // Chat Completions has fields instead of parts.
        Api::Chat => json!({"brand_new": [{"payload": {"a": [1, null, "ä"]}}]}),
        Api::Google => json!({"brandNew": {"payload": {"a": [1, null, "ä"]}}}),
    }
}

/// Returns the server's answer for `message`, as one value.
pub(crate) fn received(api: Api, message: &AssistantMessage) -> Value {
    let parts = message.parts.iter().map(|part| &part.kind);
    match api {
        Api::Anthropic => parts.map(anthropic).collect(),
        Api::Responses => {
            let items = parts.enumerate();
            items.map(|(index, kind)| responses(index, kind)).collect()
        }
        Api::Chat => chat(parts),
        Api::Google => {
            let mut parts: Vec<Value> = parts.map(google).collect();
            let first_call = parts
                .iter_mut()
                .find(|part| part["functionCall"].is_object());
            if let Some(call) = first_call {
                call["thoughtSignature"] = SIGNATURE.into();
            }
            parts.into()
        }
    }
}

/// Returns the answer in a later request.
pub(crate) fn sent_back(api: Api, request: &Value) -> Value {
    let list = |name: &str| request[name].as_array().cloned().unwrap_or_default();
    let of_role = |name: &str, role: &str| {
        let mut messages = list(name).into_iter();
        messages.find(|message| message["role"] == role)
    };
    match api {
        Api::Anthropic => of_role("messages", "assistant").map(|mut it| it["content"].take()),
        Api::Google => of_role("contents", "model").map(|mut it| it["parts"].take()),
        Api::Chat => of_role("messages", "assistant"),
        Api::Responses => {
            let input = list("input").into_iter();
            let is_result =
                |item: &Value| item["role"] == "user" || item["type"] == "function_call_output";
            Some(
                input
                    .filter(|item| !is_result(item))
                    .map(with_plain_id)
                    .collect(),
            )
        }
    }
    .unwrap_or_default()
}

fn anthropic(kind: &PartKind) -> Value {
    match kind {
        PartKind::Text { text } => json!({"type": "text", "text": text}),
        PartKind::Thinking { text } => {
            json!({"type": "thinking", "thinking": text, "signature": SIGNATURE})
        }
        PartKind::ToolCall { id, name, input } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
        _ => unknown(Api::Anthropic),
    }
}

fn responses(index: usize, kind: &PartKind) -> Value {
    let id = |kind: &str| format!("{kind}_scripted_N_1_{index}");
    match kind {
        PartKind::Text { text } => json!({
            "id": id("msg"), "type": "message", "status": "completed", "role": "assistant",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        PartKind::Thinking { text } => json!({
            "id": id("rs"), "type": "reasoning", "encrypted_content": SIGNATURE,
            "summary": [{"type": "summary_text", "text": text}],
        }),
        PartKind::ToolCall {
            id: call_id,
            name,
            input,
        } => json!({
            "id": id("fc"), "type": "function_call", "status": "completed",
            "call_id": call_id, "name": name, "arguments": input.to_string(),
        }),
        _ => unknown(Api::Responses),
    }
}

/// Removes the number of the server from the IDs, because it is not known before.
fn with_plain_id(mut item: Value) -> Value {
    let id = item["id"].as_str().unwrap_or_default().to_owned();
    if let [kind, "scripted", _, answer, index] = id.split('_').collect::<Vec<_>>()[..] {
        item["id"] = format!("{kind}_scripted_N_{answer}_{index}").into();
    }
    item
}

fn chat<'a>(parts: impl Iterator<Item = &'a PartKind>) -> Value {
    let mut message = Map::from_iter([("role".to_owned(), json!("assistant"))]);
    let mut calls = Vec::new();
    for kind in parts {
        match kind {
            PartKind::Text { text } => {
                message.insert("content".into(), json!(text));
            }
            PartKind::Thinking { text } => {
                message.insert("reasoning_content".into(), json!(text));
            }
            PartKind::ToolCall { id, name, input } => calls.push(json!({
                "id": id, "type": "function",
                "function": {"name": name, "arguments": input.to_string()},
            })),
            _ => message.extend(unknown(Api::Chat).as_object().cloned().unwrap_or_default()),
        }
    }
    message.insert("tool_calls".into(), calls.into());
    message.into()
}

fn google(kind: &PartKind) -> Value {
    match kind {
        PartKind::Text { text } => json!({"text": text}),
        PartKind::Thinking { text } => json!({"text": text, "thought": true}),
        PartKind::ToolCall { id, name, input } => {
            json!({"functionCall": {"id": id, "name": name, "args": input}})
        }
        _ => unknown(Api::Google),
    }
}
