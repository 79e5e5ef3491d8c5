//! Encoding of conversations for the Gemini API.

use std::collections::BTreeMap;

use autonoe_core::tool::Attachment;
use serde_json::{Value, json};

use super::PROTOCOL;
use crate::contract::{Message, MessagePart, PartKind, ToolResult};
use crate::wire::{base64, merged_turns, object_input};

/// Documented placeholder for the signature of other models' calls.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// IDs of calls in the API, by our IDs. `None` if the API assigned none: our ID must not be sent
/// then.
type WireIds<'a> = BTreeMap<&'a str, Option<&'a str>>;

/// Returns the contents: alternating roles, none empty, and results first.
pub(super) fn contents(model: &str, conversation: &[Message]) -> Vec<Value> {
    let mut ids = WireIds::new();
    let messages = conversation.iter().map(|message| match message {
        Message::User { text } => ("user", text_part(text).into_iter().collect()),
        Message::Assistant(answer) => {
            ids.extend(answer.parts.iter().filter_map(wire_id));
            let parts = answer.parts.iter();
            ("model", parts.filter_map(|it| part(model, it)).collect())
        }
        Message::Results { results } => {
            let parts = results.iter().flat_map(|it| result(it, &ids));
            ("user", parts.collect())
        }
    });
    let turns = merged_turns(messages, |part| part.get("functionResponse").is_some());
    let turn = |(role, parts)| json!({"role": role, "parts": parts});
    turns.into_iter().map(turn).collect()
}

/// Returns our ID of a call, and its ID in the API.
fn wire_id(part: &MessagePart) -> Option<(&str, Option<&str>)> {
    let PartKind::ToolCall { id, .. } = &part.kind else {
        return None;
    };
    let item = part.wire_item(PROTOCOL);
    let wire_id = item.and_then(|item| item["functionCall"]["id"].as_str());
    Some((id, wire_id))
}

/// Returns a part in its original form, or its meaning; `None` for the thinking of other
/// providers' models, and for parts that cannot be sent.
fn part(model: &str, part: &MessagePart) -> Option<Value> {
    if let Some(item) = part.wire_item(PROTOCOL) {
        return Some(item.clone());
    }
    match &part.kind {
        PartKind::Text { text } => text_part(text),
        PartKind::ToolCall { name, input, .. } => {
            let args = object_input(input);
            let mut call = json!({"functionCall": {"name": name, "args": args}});
            if wants_signatures(model) {
                call["thoughtSignature"] = UNSIGNED.into();
            }
            Some(call)
        }
        PartKind::Thinking { .. } | PartKind::Opaque => None,
    }
}

/// Returns whether a model rejects calls without a signature, as models since version 3 do.
fn wants_signatures(model: &str) -> bool {
    let model = model.rsplit('/').next().unwrap_or(model);
    !model.starts_with("gemini-1") && !model.starts_with("gemini-2")
}

/// Returns the parts of a result: the response to the call, then its files.
fn result(result: &ToolResult, ids: &WireIds<'_>) -> Vec<Value> {
    let field = if result.is_error { "error" } else { "output" };
    let (mut output, mut files) = (result.output.clone(), Vec::new());
    for file in &result.attachments {
        if supports_file(&file.media_type) {
            files.push(file_part(file));
        } else {
            output = format!("{output}\n{}", file.to_text());
        }
    }
    let mut response = json!({"name": result.name, "response": {field: output}});
    if let Some(Some(id)) = ids.get(result.call_id.as_str()) {
        response["id"] = (*id).into();
    }
    let mut parts = vec![json!({"functionResponse": response})];
    parts.extend(files);
    parts
}

/// Returns whether models support this kind of file.
fn supports_file(kind: &str) -> bool {
    const IMAGES: [&str; 5] = ["heic", "heif", "jpeg", "png", "webp"];
    let is_image = kind
        .strip_prefix("image/")
        .is_some_and(|kind| IMAGES.contains(&kind));
    is_image || kind == "application/pdf"
}

fn file_part(file: &Attachment) -> Value {
    let data = base64(file);
    json!({"inlineData": {"mimeType": file.media_type, "data": data}})
}

fn text_part(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"text": text}))
}

#[cfg(test)]
mod tests;
