//! An item that is still being written.

use serde_json::Value;

use super::item::{part, refuses};
use crate::contract::{ModelEvent, Part, PartKind};
use crate::wire::openai::read_arguments;

/// How an answer ended, for an item that nobody said to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// It is whole, and so are its items.
    Whole,
    /// It was cut.
    Cut,
}

/// An item that is still being written, and what has been told of it.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenItem {
    begun: Value,
    done: Option<Part>,
    text: String,
    thoughts: String,
    arguments: String,
    told_call: bool,
    refuses: bool,
}

impl OpenItem {
    /// Begins with the item as it is at first.
    pub(super) fn begin(&mut self, item: &Value, news: &mut Vec<ModelEvent>) {
        self.begun = item.clone();
        self.tell_call(item, news);
    }

    /// Adds to what is said.
    pub(super) fn say(&mut self, more: &str, news: &mut Vec<ModelEvent>) {
        if !more.is_empty() {
            self.text += more;
            news.push(ModelEvent::Text(more.into()));
        }
    }

    /// Notes that what is said is a refusal.
    pub(super) fn refuse(&mut self) {
        self.refuses = true;
    }

    /// Adds to what is thought.
    pub(super) fn think(&mut self, more: &str, news: &mut Vec<ModelEvent>) {
        if !more.is_empty() {
            self.thoughts += more;
            news.push(ModelEvent::Thinking(more.into()));
        }
    }

    /// Begins a new paragraph of thoughts, unless it is the first.
    pub(super) fn think_on(&mut self, news: &mut Vec<ModelEvent>) {
        if !self.thoughts.is_empty() {
            self.think("\n\n", news);
        }
    }

    /// Adds to what a tool is called with.
    pub(super) fn call_with(&mut self, more: &str) {
        self.arguments += more;
    }

    /// Ends with the item as it is, which is the truth, and tells what was not told yet.
    ///
    /// # Errors
    ///
    /// The item makes no sense; the words say why.
    pub(super) fn end(
        &mut self,
        item: &Value,
        news: &mut Vec<ModelEvent>,
    ) -> Result<(), &'static str> {
        let part = part(item)?;
        self.refuses = refuses(item);
        self.tell_call(item, news);
        match &part.kind {
            PartKind::Text { text } if self.text.is_empty() => {
                self.say(text, news);
            }
            PartKind::Thinking { text } if self.thoughts.is_empty() => {
                self.think(text, news);
            }
            _ => {}
        }
        self.done = Some(part);
        Ok(())
    }

    /// Tells whether the item was said to be done.
    pub(super) fn is_done(&self) -> bool {
        self.done.is_some()
    }

    /// Tells whether the model refuses in it.
    pub(super) fn refuses(&self) -> bool {
        self.refuses
    }

    /// Returns the part that it is. One that nobody said to be done is not as it came; it is
    /// what it means so far.
    pub(super) fn into_part(self, ended: Ended) -> Option<Part> {
        if self.done.is_some() {
            return self.done;
        }
        if let (Some(id), Some(name)) = call_names(&self.begun) {
            let input = match ended {
                Ended::Whole => read_arguments(&self.arguments),
                Ended::Cut => self.arguments.into(),
            };
            return Some(Part::tool_call(id, name, input));
        }
        if !self.text.is_empty() {
            return Some(Part::text(self.text));
        }
        (!self.thoughts.is_empty()).then(|| Part::thinking(self.thoughts))
    }

    fn tell_call(&mut self, item: &Value, news: &mut Vec<ModelEvent>) {
        if self.told_call {
            return;
        }
        if let (Some(id), Some(name)) = call_names(item) {
            self.told_call = true;
            news.push(ModelEvent::ToolCall {
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
