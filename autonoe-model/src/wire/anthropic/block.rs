//! [`Block`]: content block of a streamed message.

use serde_json::{Map, Value};

use super::PROTOCOL;
use crate::contract::{MessagePart, ModelEvent};

/// A content block in progress.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// JSON of the block so far.
    item: Map<String, Value>,
    /// Input of a call as streamed so far; `None` if it arrived complete.
    input: Option<String>,
    pub(super) is_open: bool,
    /// Whether the answer was cut before the model wrote any input of this call.
    lacks_input: bool,
}

impl Block {
    /// Starts a block; `None` if `start` is invalid.
    pub(super) fn start(start: &Value, news: &mut Vec<ModelEvent>) -> Option<Self> {
        let block = Self {
            item: start.as_object()?.clone(),
            input: None,
            is_open: true,
            lacks_input: false,
        };
        let is_not_empty = |text: &str| !text.is_empty();
        let event = match block.text_of("type")? {
            "text" => block
                .text_of("text")
                .filter(|text| is_not_empty(text))
                .map(text_event),
            "thinking" => {
                let thought = block.text_of("thinking").filter(|text| is_not_empty(text));
                thought.map(|text| ModelEvent::Thinking(text.to_owned()))
            }
            "tool_use" => Some(ModelEvent::ToolCall {
                id: block.text_of("id")?.to_owned(),
                name: block.text_of("name")?.to_owned(),
            }),
            _ => None,
        };
        news.extend(event);
        Some(block)
    }

    /// Applies a delta; `None` if it is invalid.
    pub(super) fn apply_delta(&mut self, delta: &Value, news: &mut Vec<ModelEvent>) -> Option<()> {
        let delta = delta.as_object()?;
        let text = |name: &str| delta.get(name).and_then(Value::as_str);
        match text("type")? {
            "input_json_delta" => {
                let input = self.input.get_or_insert_default();
                input.push_str(text("partial_json")?);
                return Some(());
            }
            "citations_delta" => {
                let citation = delta.get("citation")?.clone();
                match self.item.get_mut("citations") {
                    Some(Value::Array(citations)) => citations.push(citation),
                    _ => {
                        self.item
                            .insert("citations".into(), Value::Array(vec![citation]));
                    }
                }
                return Some(());
            }
            "text_delta" => news.push(text_event(text("text")?)),
            "thinking_delta" => {
                news.push(ModelEvent::Thinking(text("thinking")?.to_owned()));
            }
            "signature_delta" => {
                text("signature")?;
            }
            _ => {}
        }
        // Deltas extend the field of the same name. Future kinds of deltas are expected to follow
        // this rule.
        for (name, more) in delta.iter().filter(|(name, _)| *name != "type") {
            match (self.item.get_mut(name), more) {
                (Some(Value::String(text)), Value::String(more)) => text.push_str(more),
                (Some(Value::Array(items)), Value::Array(more)) => items.extend_from_slice(more),
                _ => {
                    self.item.insert(name.clone(), more.clone());
                }
            }
        }
        Some(())
    }

    /// Ends the block.
    pub(super) fn end(&mut self) {
        self.is_open = false;
        let Some(written) = self.input.take().filter(|text| !text.is_empty()) else {
            return;
        };
        // Invalid JSON is kept as text.
        let input = serde_json::from_str(&written).unwrap_or(Value::String(written));
        self.item.insert("input".into(), input);
    }

    /// Marks this block, the last one, as cut.
    pub(super) fn mark_cut(&mut self) {
        // A call starts with an empty input, which is not what the model meant.
        self.lacks_input = match self.item.get("input") {
            Some(Value::Object(input)) => input.is_empty(),
            input => input.is_none(),
        };
    }

    /// Converts the block into a part of the answer.
    pub(super) fn into_part(self) -> MessagePart {
        let text = |name: &str| self.text_of(name).unwrap_or_default();
        let part = match self.text_of("type") {
            Some("text") => MessagePart::text(text("text")),
            Some("thinking") => MessagePart::thinking(text("thinking")),
            Some("redacted_thinking") => MessagePart::thinking(""),
            Some("tool_use") if self.lacks_input => {
                MessagePart::tool_call(text("id"), text("name"), Value::String(String::new()))
            }
            Some("tool_use") => {
                let input = self.item.get("input").cloned();
                let input = input.unwrap_or_else(|| Map::new().into());
                MessagePart::tool_call(text("id"), text("name"), input)
            }
            _ => MessagePart::opaque(),
        };
        part.with_wire(PROTOCOL, self.item.into())
    }

    fn text_of(&self, name: &str) -> Option<&str> {
        self.item.get(name).and_then(Value::as_str)
    }
}

fn text_event(text: &str) -> ModelEvent {
    ModelEvent::Text(text.to_owned())
}
