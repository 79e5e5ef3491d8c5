//! An item of an answer: what it means, and how it is sent back.

use serde_json::{Value, json};

use super::PROTOCOL;
use crate::contract::{AssistantMessage, Part, PartKind};
use crate::wire::openai::{read_arguments, write_arguments};

/// Returns the part that a finished item is.
///
/// # Errors
///
/// It is a call that does not say what is called; the words say so.
pub(super) fn part(item: &Value) -> Result<Part, &'static str> {
    let part = match item["type"].as_str() {
        Some("message") => Part::text(said(item)),
        Some("reasoning") => Part::thinking(thought(item)),
        Some("function_call") => call(item)?,
        _ => Part::opaque(),
    };
    Ok(part.as_it_came(PROTOCOL, item.clone()))
}

/// Tells whether the model refuses in this item.
pub(super) fn refuses(item: &Value) -> bool {
    let content = item["content"].as_array();
    content.is_some_and(|content| content.iter().any(|part| part["type"] == "refusal"))
}

/// Returns what a message says, or why it says nothing.
fn said(item: &Value) -> String {
    let content = item["content"].as_array().into_iter().flatten();
    content
        .filter_map(|part| part["text"].as_str().or(part["refusal"].as_str()))
        .collect()
}

/// Returns the summary of thoughts; where there is none, the thoughts, which open models show.
fn thought(item: &Value) -> String {
    let texts = |list: &Value| -> Vec<String> {
        let list = list.as_array().into_iter().flatten();
        list.filter_map(|part| part["text"].as_str().map(Into::into))
            .collect()
    };
    let summary = texts(&item["summary"]);
    match summary.is_empty() {
        true => texts(&item["content"]).concat(),
        false => summary.join("\n\n"),
    }
}

fn call(item: &Value) -> Result<Part, &'static str> {
    let (Some(id), Some(name)) = (item["call_id"].as_str(), item["name"].as_str()) else {
        return Err("a call without an id or a name");
    };
    let text = item["arguments"].as_str().unwrap_or_default();
    let input = match item["status"].as_str() {
        // It was cut: even if it says nothing, that is not what the model meant.
        Some("incomplete") if text.trim().is_empty() => text.into(),
        _ => read_arguments(text),
    };
    Ok(Part::tool_call(id, name, input))
}

/// Returns the items of an answer: its own as they came, others as what they mean.
pub(super) fn input_items(answer: &AssistantMessage) -> Vec<Value> {
    let items = answer.parts.iter().filter_map(|part| {
        if let Some(item) = part.wire_of(PROTOCOL) {
            return is_complete(item).then(|| item.clone());
        }
        match &part.kind {
            PartKind::Text { text } if !text.is_empty() => {
                Some(json!({"type": "message", "role": "assistant", "content": text}))
            }
            PartKind::ToolCall { id, name, input } => Some(json!({
                "type": "function_call",
                "call_id": id,
                "name": name,
                "arguments": write_arguments(input),
            })),
            _ => None,
        }
    });
    items.collect()
}

/// Tells whether the service can read an item again. It has stored nothing, so thoughts without
/// their content are only a name that it does not find.
fn is_complete(item: &Value) -> bool {
    item["type"] != "reasoning" || item["encrypted_content"].is_string()
}

/// Returns how many items of an answer can be sent back. The service refuses thoughts that led
/// to nothing, which an answer ends with that was cut while the model thought.
pub(super) fn reasoning_leads_on(items: &[Value]) -> usize {
    let last = items.iter().rposition(|item| item["type"] != "reasoning");
    last.map_or(0, |last| last + 1)
}
