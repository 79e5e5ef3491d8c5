//! [`Parts`]: parts of a streamed answer.

use serde_json::Value;

use super::PROTOCOL;
use crate::contract::{MessagePart, ModelEvent};

/// Parts so far.
#[derive(Debug, Default)]
pub(super) struct Parts {
    parts: Vec<ReceivedPart>,
}

/// A part, with its call ID if it is a call.
#[derive(Debug)]
struct ReceivedPart {
    item: Value,
    call_id: Option<String>,
}

impl Parts {
    /// Adds the next part; `None` if it is invalid. `new_id` generates the ID of a call without
    /// one.
    pub(super) fn push(
        &mut self,
        item: &Value,
        new_id: impl FnOnce(usize) -> String,
        news: &mut Vec<ModelEvent>,
    ) -> Option<()> {
        let fields = item.as_object()?;
        if let Some(call) = fields.get("functionCall") {
            let name = call["name"].as_str()?.to_owned();
            let id = match call["id"].as_str().filter(|id| !id.is_empty()) {
                Some(id) => id.to_owned(),
                None => new_id(self.calls()),
            };
            let call_id = Some(id.clone());
            news.push(ModelEvent::ToolCall { id, name });
            self.parts.push(ReceivedPart {
                item: item.clone(),
                call_id,
            });
            return Some(());
        }
        if let Some(text) = fields.get("text") {
            let text = text.as_str()?;
            if !text.is_empty() {
                news.push(if is_thought(item) {
                    ModelEvent::Thinking(text.to_owned())
                } else {
                    ModelEvent::Text(text.to_owned())
                });
            }
            if is_plain(item) {
                return self.add_text(item, text);
            }
        }
        self.parts.push(ReceivedPart {
            item: item.clone(),
            call_id: None,
        });
        Some(())
    }

    /// Appends a piece of text to the text before it. Signed parts stay separate, as the
    /// documentation requires.
    fn add_text(&mut self, item: &Value, text: &str) -> Option<()> {
        let last = self.parts.last_mut().map(|part| &mut part.item);
        let same = last.filter(|last| is_plain(last) && is_thought(last) == is_thought(item));
        match same.and_then(|last| last.get_mut("text")) {
            Some(Value::String(whole)) => whole.push_str(text),
            // An empty text is not a part.
            _ if text.is_empty() => {}
            _ => self.parts.push(ReceivedPart {
                item: item.clone(),
                call_id: None,
            }),
        }
        Some(())
    }

    /// Returns the number of calls.
    pub(super) fn calls(&self) -> usize {
        self.parts
            .iter()
            .filter(|part| part.call_id.is_some())
            .count()
    }

    pub(super) fn into_parts(self) -> impl Iterator<Item = MessagePart> {
        self.parts.into_iter().map(ReceivedPart::into_part)
    }
}

impl ReceivedPart {
    fn into_part(self) -> MessagePart {
        let Self { item, call_id } = self;
        let part = match (call_id, item["text"].as_str()) {
            (Some(id), _) => {
                let call = &item["functionCall"];
                let args = match &call["args"] {
                    // Calls of tools without parameters may omit the arguments.
                    Value::Null => Value::Object(serde_json::Map::new()),
                    args => args.clone(),
                };
                MessagePart::tool_call(id, call["name"].as_str().unwrap_or_default(), args)
            }
            (None, Some(text)) if is_thought(&item) => MessagePart::thinking(text),
            (None, Some(text)) => MessagePart::text(text),
            (None, None) => MessagePart::opaque(),
        };
        part.with_wire(PROTOCOL, item)
    }
}

fn is_thought(item: &Value) -> bool {
    item["thought"] == true
}

/// Returns whether a part consists of text only.
fn is_plain(item: &Value) -> bool {
    let is_known = |name: &String| name == "text" || name == "thought";
    let fields = item.as_object();
    item["text"].is_string() && fields.is_some_and(|fields| fields.keys().all(is_known))
}
