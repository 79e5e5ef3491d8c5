//! Encoding of conversations for the Messages API.

use autonoe_core::tool::Attachment;
use serde_json::{Value, json};

use super::PROTOCOL;
use crate::contract::{Message, MessagePart, PartKind, ToolResult};
use crate::wire::{base64, merged_turns, object_input};

const IMAGES: [&str; 4] = ["image/gif", "image/jpeg", "image/png", "image/webp"];

/// Returns the messages: alternating roles, none empty, and results first.
pub(super) fn messages(conversation: &[Message]) -> Vec<Value> {
    let messages = conversation.iter().map(|message| match message {
        Message::User { text } => ("user", text_block(text).into_iter().collect()),
        Message::Assistant(answer) => ("assistant", answer.parts.iter().filter_map(part).collect()),
        Message::Results { results } => ("user", results.iter().map(result).collect()),
    });
    let turns = merged_turns(messages, |block| block["type"] == "tool_result");
    let turn = |(role, content)| json!({"role": role, "content": content});
    turns.into_iter().map(turn).collect()
}

/// Returns a part in its original form, or its meaning; `None` for the thinking of other
/// providers' models, and for parts that cannot be sent.
fn part(part: &MessagePart) -> Option<Value> {
    if let Some(item) = part.wire_item(PROTOCOL) {
        return sendable(item);
    }
    match &part.kind {
        PartKind::Text { text } => text_block(text),
        PartKind::ToolCall { id, name, input } => Some(json!({
            "type": "tool_use",
            "id": legal_id(id),
            "name": name,
            "input": object_input(input),
        })),
        PartKind::Thinking { .. } | PartKind::Opaque => None,
    }
}

/// Returns a block of an earlier answer in its original form, except for content that the API sends
/// but does not accept.
fn sendable(item: &Value) -> Option<Value> {
    match item["type"].as_str() {
        Some("text") if is_blank(item["text"].as_str().unwrap_or_default()) => None,
        Some("tool_use" | "server_tool_use") if !item["input"].is_object() => {
            let mut item = item.clone();
            item["input"] = object_input(&item["input"]);
            Some(item)
        }
        _ => Some(item.clone()),
    }
}

fn result(result: &ToolResult) -> Value {
    let mut content: Vec<Value> = text_block(&result.output).into_iter().collect();
    // The API accepts only text in the result of a failed call.
    let file = |attachment: &Attachment| {
        if result.is_error {
            text_block(&attachment.to_text())
        } else {
            Some(file_block(attachment))
        }
    };
    content.extend(result.attachments.iter().filter_map(file));
    let mut block = json!({"type": "tool_result", "tool_use_id": legal_id(&result.call_id)});
    if result.is_error {
        block["is_error"] = true.into();
        // The API requires content in a failed result.
        if content.is_empty() {
            content.extend(text_block("the call failed"));
        }
    }
    if !content.is_empty() {
        block["content"] = content.into();
    }
    block
}

fn file_block(file: &Attachment) -> Value {
    let kind = file.media_type.as_str();
    let block = match kind {
        _ if IMAGES.contains(&kind) => "image",
        "application/pdf" => "document",
        _ => return json!({"type": "text", "text": file.to_text()}),
    };
    let data = base64(file);
    json!({"type": block, "source": {"type": "base64", "media_type": kind, "data": data}})
}

/// Returns a text block. The API rejects blank ones.
fn text_block(text: &str) -> Option<Value> {
    (!is_blank(text)).then(|| json!({"type": "text", "text": text}))
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Returns an ID with the characters that the API allows; IDs of other providers may have more.
fn legal_id(id: &str) -> String {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    id.chars().map(|c| if legal(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests;
