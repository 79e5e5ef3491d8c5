//! Encoding of earlier answers.

use serde_json::{Map, Value, json};

use super::PROTOCOL;
use super::dialect::{CallArguments, ChatDialect, ReasoningField};
use crate::contract::{AssistantMessage, MessagePart, PartKind};
use crate::wire::openai::{read_arguments, write_arguments};

/// Encodes an answer: its own parts in their original form, others by their meaning. An answer
/// without text and calls is omitted, because it would be rejected.
pub(super) fn assistant(dialect: &ChatDialect, answer: &AssistantMessage) -> Option<Value> {
    let mut message = Map::new();
    let mut content = String::new();
    let mut calls = Vec::new();
    for part in &answer.parts {
        let own = part.wire_item(PROTOCOL);
        match &part.kind {
            PartKind::Text { text } => match own.and_then(Value::as_object) {
                Some(fields) if !fields.contains_key("content") => message.extend(fields.clone()),
                _ => content += text,
            },
            PartKind::Thinking { .. } => message.extend(own.and_then(|item| echo(dialect, item))),
            PartKind::ToolCall { .. } => calls.extend(call(dialect, part)),
            PartKind::Opaque => {
                let fields = own.and_then(Value::as_object).cloned();
                message.extend(fields.unwrap_or_default());
            }
        }
    }
    let says = !content.is_empty() || message.contains_key("refusal");
    if !says && calls.is_empty() {
        return None;
    }
    message.insert("role".into(), "assistant".into());
    let content = (!content.is_empty()).then_some(content);
    message.insert("content".into(), content.into());
    if !calls.is_empty() {
        message.insert("tool_calls".into(), calls.into());
    }
    Some(message.into())
}

/// Returns the reasoning field that the service requires in later requests.
fn echo(dialect: &ChatDialect, item: &Value) -> Option<(String, Value)> {
    let fields = dialect.echo.iter().copied().map(ReasoningField::as_str);
    fields
        .filter_map(|field| Some((field.to_owned(), item.get(field)?.clone())))
        .next()
}

fn call(dialect: &ChatDialect, part: &MessagePart) -> Option<Value> {
    let PartKind::ToolCall { id, name, input } = &part.kind else {
        return None;
    };
    let mut item = match part.wire_item(PROTOCOL) {
        Some(item) => item.clone(),
        None => json!({
            "id": id,
            "type": "function",
            "function": {"name": name, "arguments": write_arguments(input)},
        }),
    };
    if dialect.arguments == CallArguments::Object
        && let Some(Value::String(arguments)) = item.pointer_mut("/function/arguments")
    {
        *arguments = as_object(std::mem::take(arguments));
    }
    Some(item)
}

/// Returns arguments that are an object: unchanged, if they are one.
fn as_object(arguments: String) -> String {
    match read_arguments(&arguments) {
        Value::Object(object) if object.is_empty() => "{}".into(),
        Value::Object(_) => arguments,
        _ => json!({"arguments": arguments}).to_string(),
    }
}
