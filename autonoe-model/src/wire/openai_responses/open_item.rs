//! [`OpenItem`]: item of a streamed answer.

use serde_json::Value;

use super::item::{part, refuses};
use crate::contract::{MessagePart, ModelEvent, PartKind};
use crate::wire::openai::read_arguments;

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
    begun: Value,
    done: Option<MessagePart>,
    text: String,
    thoughts: String,
    arguments: String,
    emitted_call: bool,
    refuses: bool,
}

impl OpenItem {
    /// Starts the item.
    pub(super) fn start(&mut self, item: &Value, news: &mut Vec<ModelEvent>) {
        self.begun = item.clone();
        self.emit_call(item, news);
    }

    /// Appends text.
    pub(super) fn push_text(&mut self, more: &str, news: &mut Vec<ModelEvent>) {
        if !more.is_empty() {
            self.text += more;
            news.push(ModelEvent::Text(more.into()));
        }
    }

    /// Marks the text as a refusal.
    pub(super) fn mark_refusal(&mut self) {
        self.refuses = true;
    }

    /// Appends reasoning.
    pub(super) fn push_reasoning(&mut self, more: &str, news: &mut Vec<ModelEvent>) {
        if !more.is_empty() {
            self.thoughts += more;
            news.push(ModelEvent::Thinking(more.into()));
        }
    }

    /// Starts a new paragraph of reasoning, unless it is the first.
    pub(super) fn start_paragraph(&mut self, news: &mut Vec<ModelEvent>) {
        if !self.thoughts.is_empty() {
            self.push_reasoning("\n\n", news);
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
        news: &mut Vec<ModelEvent>,
    ) -> Result<(), &'static str> {
        let part = part(item)?;
        self.refuses = refuses(item);
        self.emit_call(item, news);
        match &part.kind {
            PartKind::Text { text } if self.text.is_empty() => {
                self.push_text(text, news);
            }
            PartKind::Thinking { text } if self.thoughts.is_empty() => {
                self.push_reasoning(text, news);
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
        if let (Some(id), Some(name)) = call_names(&self.begun) {
            let input = match ended {
                AnswerEnd::Complete => read_arguments(&self.arguments),
                AnswerEnd::Cut => self.arguments.into(),
            };
            return Some(MessagePart::tool_call(id, name, input));
        }
        if !self.text.is_empty() {
            return Some(MessagePart::text(self.text));
        }
        (!self.thoughts.is_empty()).then(|| MessagePart::thinking(self.thoughts))
    }

    fn emit_call(&mut self, item: &Value, news: &mut Vec<ModelEvent>) {
        if self.emitted_call {
            return;
        }
        if let (Some(id), Some(name)) = call_names(item) {
            self.emitted_call = true;
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
