//! A block of a message, as it grows.

use serde_json::{Map, Value};

use super::PROTOCOL;
use crate::contract::{ModelEvent, Part};

/// A block that has begun.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// The block as it came so far.
    item: Map<String, Value>,
    /// The input of a call as the model wrote it so far; `None` if it came whole.
    input: Option<String>,
    pub(super) is_open: bool,
    /// Whether the answer was cut before the model wrote any input of this call.
    lacks_input: bool,
}

impl Block {
    /// Begins a block; `None` if that is no block.
    pub(super) fn begin(start: &Value, news: &mut Vec<ModelEvent>) -> Option<Self> {
        let block = Self {
            item: start.as_object()?.clone(),
            input: None,
            is_open: true,
            lacks_input: false,
        };
        let is_said = |text: &str| !text.is_empty();
        let event = match block.text_of("type")? {
            "text" => block
                .text_of("text")
                .filter(|text| is_said(text))
                .map(text_event),
            "thinking" => {
                let thought = block.text_of("thinking").filter(|text| is_said(text));
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

    /// Lets the block grow; `None` if that makes no sense.
    pub(super) fn grow(&mut self, delta: &Value, news: &mut Vec<ModelEvent>) -> Option<()> {
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
        // The API lets a text grow by adding to the field of the same name; what it will add
        // one day is hoped to follow.
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
        // What is no JSON is kept as the model wrote it.
        let input = serde_json::from_str(&written).unwrap_or(Value::String(written));
        self.item.insert("input".into(), input);
    }

    /// Takes note that the answer was cut in this block, its last.
    pub(super) fn was_cut(&mut self) {
        // A call begins with an empty input, which is not what the model meant.
        self.lacks_input = match self.item.get("input") {
            Some(Value::Object(input)) => input.is_empty(),
            input => input.is_none(),
        };
    }

    /// Returns the part of the answer that the block is.
    pub(super) fn into_part(self) -> Part {
        let text = |name: &str| self.text_of(name).unwrap_or_default();
        let part = match self.text_of("type") {
            Some("text") => Part::text(text("text")),
            Some("thinking") => Part::thinking(text("thinking")),
            Some("redacted_thinking") => Part::thinking(""),
            Some("tool_use") if self.lacks_input => {
                Part::tool_call(text("id"), text("name"), Value::String(String::new()))
            }
            Some("tool_use") => {
                let input = self.item.get("input").cloned();
                let input = input.unwrap_or_else(|| Map::new().into());
                Part::tool_call(text("id"), text("name"), input)
            }
            _ => Part::opaque(),
        };
        part.as_it_came(PROTOCOL, self.item.into())
    }

    fn text_of(&self, name: &str) -> Option<&str> {
        self.item.get(name).and_then(Value::as_str)
    }
}

fn text_event(text: &str) -> ModelEvent {
    ModelEvent::Text(text.to_owned())
}
