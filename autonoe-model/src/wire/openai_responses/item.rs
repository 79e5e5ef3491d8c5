//! Conversion of answer items into parts and back, and [`OpenItem`], an item of a streamed answer.

use serde_json::{Value, json};

use super::PROTOCOL;
use crate::contract::{AssistantMessage, MessagePart, ModelEvent, PartKind};
use crate::wire::openai::{read_arguments, write_arguments};

/// Converts a finished item into a part.
///
/// # Errors
///
/// A call has no name or ID. The error says so.
pub(super) fn part(item: &Value) -> Result<MessagePart, &'static str> {
    let part = match item["type"].as_str() {
        Some("message") => MessagePart::text(message_text(item)),
        Some("reasoning") => MessagePart::thinking(reasoning_text(item)),
        Some("function_call") => call(item)?,
        _ => MessagePart::opaque(),
    };
    Ok(part.with_wire(PROTOCOL, item.clone()))
}

/// Returns whether the item is a refusal.
pub(super) fn refuses(item: &Value) -> bool {
    let content = item["content"].as_array();
    content.is_some_and(|content| content.iter().any(|part| part["type"] == "refusal"))
}

/// Returns the text of a message, or of its refusal.
fn message_text(item: &Value) -> String {
    let content = item["content"].as_array().into_iter().flatten();
    content
        .filter_map(|part| part["text"].as_str().or(part["refusal"].as_str()))
        .collect()
}

/// Returns the summary of the reasoning, or the reasoning itself if there is none, as with open
/// models.
fn reasoning_text(item: &Value) -> String {
    let texts = |list: &Value| -> Vec<String> {
        let list = list.as_array().into_iter().flatten();
        list.filter_map(|part| part["text"].as_str().map(Into::into))
            .collect()
    };
    let summary = texts(&item["summary"]);
    if summary.is_empty() {
        texts(&item["content"]).concat()
    } else {
        summary.join("\n\n")
    }
}

fn call(item: &Value) -> Result<MessagePart, &'static str> {
    let (Some(id), Some(name)) = (item["call_id"].as_str(), item["name"].as_str()) else {
        return Err("a call without an id or a name");
    };
    let text = item["arguments"].as_str().unwrap_or_default();
    let input = match item["status"].as_str() {
        // The call was cut: an empty input is not what the model meant.
        Some("incomplete") if text.trim().is_empty() => text.into(),
        _ => read_arguments(text),
    };
    Ok(MessagePart::tool_call(id, name, input))
}

/// Returns the items of an answer: its own in their original form, others by their meaning.
pub(super) fn input_items(answer: &AssistantMessage) -> Vec<Value> {
    let items = answer.parts.iter().filter_map(|part| {
        if let Some(item) = part.wire_item(PROTOCOL) {
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

/// Returns whether the service can read an item again. It stores nothing, so reasoning without its
/// content is only an unknown ID.
fn is_complete(item: &Value) -> bool {
    item["type"] != "reasoning" || item["encrypted_content"].is_string()
}

/// Returns the number of items of an answer that can be sent back. The service rejects trailing
/// reasoning, which occurs if the answer was cut during reasoning.
pub(super) fn sendable_len(items: &[Value]) -> usize {
    let last = items.iter().rposition(|item| item["type"] != "reasoning");
    last.map_or(0, |last| last + 1)
}

/// End of the answer, for items that were never marked as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerEnd {
    /// The answer and its items are complete.
    Complete,
    /// The answer was cut.
    Cut,
}

/// An item in progress, and what has been emitted of it.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenItem {
    started: Value,
    done: Option<MessagePart>,
    text: String,
    reasoning: String,
    arguments: String,
    emitted_call: bool,
    refuses: bool,
}

impl OpenItem {
    /// Starts the item.
    pub(super) fn start(&mut self, item: &Value, new_events: &mut Vec<ModelEvent>) {
        self.started = item.clone();
        self.emit_call(item, new_events);
    }

    /// Appends text.
    pub(super) fn push_text(&mut self, more: &str, new_events: &mut Vec<ModelEvent>) {
        if !more.is_empty() {
            self.text += more;
            new_events.push(ModelEvent::Text(more.into()));
        }
    }

    /// Marks the text as a refusal.
    pub(super) fn mark_refusal(&mut self) {
        self.refuses = true;
    }

    /// Appends reasoning.
    pub(super) fn push_reasoning(&mut self, more: &str, new_events: &mut Vec<ModelEvent>) {
        if !more.is_empty() {
            self.reasoning += more;
            new_events.push(ModelEvent::Thinking(more.into()));
        }
    }

    /// Starts a new paragraph of reasoning, unless it is the first.
    pub(super) fn start_paragraph(&mut self, new_events: &mut Vec<ModelEvent>) {
        if !self.reasoning.is_empty() {
            self.push_reasoning("\n\n", new_events);
        }
    }

    /// Appends to the arguments of a call.
    pub(super) fn push_arguments(&mut self, more: &str) {
        self.arguments += more;
    }

    /// Ends the item with its final form, which is authoritative, and emits what was not emitted
    /// yet.
    ///
    /// # Errors
    ///
    /// The item is invalid. The error says why.
    pub(super) fn finish(
        &mut self,
        item: &Value,
        new_events: &mut Vec<ModelEvent>,
    ) -> Result<(), &'static str> {
        let part = part(item)?;
        self.refuses = refuses(item);
        self.emit_call(item, new_events);
        match &part.kind {
            PartKind::Text { text } if self.text.is_empty() => {
                self.push_text(text, new_events);
            }
            PartKind::Thinking { text } if self.reasoning.is_empty() => {
                self.push_reasoning(text, new_events);
            }
            _ => {}
        }
        self.done = Some(part);
        Ok(())
    }

    /// Returns whether the item was marked as done.
    pub(super) fn is_done(&self) -> bool {
        self.done.is_some()
    }

    /// Returns whether the item is a refusal.
    pub(super) fn refuses(&self) -> bool {
        self.refuses
    }

    /// Converts the item into a part. An item that was never marked as done has no original form,
    /// only its meaning so far.
    pub(super) fn into_part(self, ended: AnswerEnd) -> Option<MessagePart> {
        if self.done.is_some() {
            return self.done;
        }
        if let (Some(id), Some(name)) = call_names(&self.started) {
            let input = match ended {
                AnswerEnd::Complete => read_arguments(&self.arguments),
                AnswerEnd::Cut => self.arguments.into(),
            };
            return Some(MessagePart::tool_call(id, name, input));
        }
        if !self.text.is_empty() {
            return Some(MessagePart::text(self.text));
        }
        (!self.reasoning.is_empty()).then(|| MessagePart::thinking(self.reasoning))
    }

    fn emit_call(&mut self, item: &Value, new_events: &mut Vec<ModelEvent>) {
        if self.emitted_call {
            return;
        }
        if let (Some(id), Some(name)) = call_names(item) {
            self.emitted_call = true;
            new_events.push(ModelEvent::ToolCall {
                id: id.into(),
                name: name.into(),
            });
        }
    }
}

fn call_names(item: &Value) -> (Option<&str>, Option<&str>) {
    if item["type"] == "function_call" {
        (item["call_id"].as_str(), item["name"].as_str())
    } else {
        (None, None)
    }
}
