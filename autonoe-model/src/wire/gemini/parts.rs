//! The parts of an answer, as they come.

use serde_json::Value;

use super::PROTOCOL;
use crate::contract::{ModelEvent, Part};

/// The parts that came so far.
#[derive(Debug, Default)]
pub(super) struct Parts {
    parts: Vec<Came>,
}

/// A part, and the id of its call if it is one.
#[derive(Debug)]
struct Came {
    item: Value,
    call_id: Option<String>,
}

impl Parts {
    /// Takes the next part; `None` if that makes no sense. `new_id` names a call that has no name.
    pub(super) fn take(
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
            self.parts.push(Came {
                item: item.clone(),
                call_id,
            });
            return Some(());
        }
        if let Some(text) = fields.get("text") {
            let text = text.as_str()?;
            if !text.is_empty() {
                news.push(match is_thought(item) {
                    true => ModelEvent::Thinking(text.to_owned()),
                    false => ModelEvent::Text(text.to_owned()),
                });
            }
            if is_plain(item) {
                return self.add_text(item, text);
            }
        }
        self.parts.push(Came {
            item: item.clone(),
            call_id: None,
        });
        Some(())
    }

    /// Adds a piece of a text to the text before it. What is signed stays alone, as the
    /// documentation asks.
    fn add_text(&mut self, item: &Value, text: &str) -> Option<()> {
        let last = self.parts.last_mut().map(|came| &mut came.item);
        let same = last.filter(|last| is_plain(last) && is_thought(last) == is_thought(item));
        match same.and_then(|last| last.get_mut("text")) {
            Some(Value::String(whole)) => whole.push_str(text),
            // Nothing alone is nothing.
            _ if text.is_empty() => {}
            _ => self.parts.push(Came {
                item: item.clone(),
                call_id: None,
            }),
        }
        Some(())
    }

    /// Returns how many calls came.
    pub(super) fn calls(&self) -> usize {
        self.parts
            .iter()
            .filter(|came| came.call_id.is_some())
            .count()
    }

    pub(super) fn into_parts(self) -> impl Iterator<Item = Part> {
        self.parts.into_iter().map(Came::into_part)
    }
}

impl Came {
    fn into_part(self) -> Part {
        let Self { item, call_id } = self;
        let part = match (call_id, item["text"].as_str()) {
            (Some(id), _) => {
                let call = &item["functionCall"];
                let args = match &call["args"] {
                    // A call of a tool that takes nothing may leave them out.
                    Value::Null => Value::Object(serde_json::Map::new()),
                    args => args.clone(),
                };
                Part::tool_call(id, call["name"].as_str().unwrap_or_default(), args)
            }
            (None, Some(text)) if is_thought(&item) => Part::thinking(text),
            (None, Some(text)) => Part::text(text),
            (None, None) => Part::opaque(),
        };
        part.as_it_came(PROTOCOL, item)
    }
}

fn is_thought(item: &Value) -> bool {
    item["thought"] == true
}

/// Tells whether a part is a text and nothing else.
fn is_plain(item: &Value) -> bool {
    let is_known = |name: &String| name == "text" || name == "thought";
    let fields = item.as_object();
    item["text"].is_string() && fields.is_some_and(|fields| fields.keys().all(is_known))
}
