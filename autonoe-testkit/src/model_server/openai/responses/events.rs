//! Messages as the events of the Responses API.

use serde_json::{Value, json};

use crate::model_server::ids::Ids;
use crate::model_server::streamed_body::{Content, Event, Stage, in_pieces};
use crate::model_server::{ReceivedPrompt, ScriptedMessage};

use super::response;

/// Returns the events of the message, or the reason why there are none.
pub(super) fn stream(
    message: &ScriptedMessage,
    prompt: &ReceivedPrompt,
    ids: Ids,
) -> Result<Vec<Event>, String> {
    let items = response::items(message, prompt, ids)?;
    let started = response::started(message.model.as_deref(), prompt, ids);
    let mut list = EventList::default();
    list.add("response.created", json!({"response": started}));
    list.add("response.in_progress", json!({"response": started}));
    for (index, (block, item)) in message.blocks.iter().zip(&items).enumerate() {
        let mut events = list.item(index, item);
        match &block.content {
            Content::Text(text) => events.text(text, message.piece),
            Content::Thinking(text) => events.thought(text, message.piece),
            Content::ToolUse { input, .. } => events.call(&input.to_text(), message.piece),
            Content::Raw(_) => events.other(),
        }
    }
    let ended = response::ended(message, prompt, ids, items)?;
    let end = if ended["status"] == "completed" {
        "response.completed"
    } else {
        "response.incomplete"
    };
    list.add(end, json!({"response": ended}));
    Ok(list.events)
}

/// The events so far.
#[derive(Debug, Default)]
struct EventList {
    events: Vec<Event>,
}

impl EventList {
    fn add(&mut self, name: &'static str, data: Value) {
        let event = self.next(name, data);
        self.events.push(event);
    }

    fn next(&self, name: &'static str, mut data: Value) -> Event {
        data["type"] = name.into();
        data["sequence_number"] = self.events.len().into();
        Event::named(name, &data)
    }

    fn item<'a>(&'a mut self, index: usize, item: &'a Value) -> ItemEvents<'a> {
        ItemEvents {
            list: self,
            index,
            item,
        }
    }
}

/// The events of one item.
#[derive(Debug)]
struct ItemEvents<'a> {
    list: &'a mut EventList,
    index: usize,
    item: &'a Value,
}

impl ItemEvents<'_> {
    fn text(&mut self, text: &str, piece: usize) {
        self.opens(&self.with(&[("content", json!([])), ("status", "in_progress".into())]));
        let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
        let at = |data| with(data, "content_index", 0);
        self.frame("response.content_part.added", at(json!({"part": part("")})));
        for delta in in_pieces(text, piece) {
            self.piece("response.output_text.delta", at(json!({"delta": delta})));
        }
        self.frame("response.output_text.done", at(json!({"text": text})));
        self.frame(
            "response.content_part.done",
            at(json!({"part": part(text)})),
        );
        self.closes();
    }

    fn thought(&mut self, text: &str, piece: usize) {
        // The encrypted content follows when it is complete.
        let id = &self.item["id"];
        self.opens(&json!({"id": id, "type": "reasoning", "summary": []}));
        if !text.is_empty() {
            self.summary(text, piece);
        }
        self.closes();
    }

    fn summary(&mut self, text: &str, piece: usize) {
        let part = |text: &str| json!({"type": "summary_text", "text": text});
        let at = |data| with(data, "summary_index", 0);
        let added = at(json!({"part": part("")}));
        self.frame("response.reasoning_summary_part.added", added);
        for delta in in_pieces(text, piece) {
            let delta = at(json!({"delta": delta}));
            self.piece("response.reasoning_summary_text.delta", delta);
        }
        let whole = at(json!({"text": text}));
        self.frame("response.reasoning_summary_text.done", whole);
        let done = at(json!({"part": part(text)}));
        self.frame("response.reasoning_summary_part.done", done);
    }

    fn call(&mut self, arguments: &str, piece: usize) {
        self.opens(&self.with(&[("arguments", "".into()), ("status", "in_progress".into())]));
        for delta in in_pieces(arguments, piece) {
            let delta = json!({"delta": delta});
            self.piece("response.function_call_arguments.delta", delta);
        }
        let whole = json!({"arguments": arguments});
        self.frame("response.function_call_arguments.done", whole);
        self.closes();
    }

    fn other(&mut self) {
        self.opens(self.item);
        self.closes();
    }

    /// Returns the item with these fields replaced.
    fn with(&self, fields: &[(&str, Value)]) -> Value {
        let mut item = self.item.clone();
        for (name, value) in fields {
            item[name] = value.clone();
        }
        item
    }

    /// Emits the start of the item.
    fn opens(&mut self, item: &Value) {
        let at = json!({"output_index": self.index, "item": item});
        self.event("response.output_item.added", at, Stage::Frame);
    }

    fn closes(&mut self) {
        let at = json!({"output_index": self.index, "item": self.item});
        self.event("response.output_item.done", at, Stage::Frame);
    }

    fn frame(&mut self, name: &'static str, data: Value) {
        let data = self.placed(data);
        self.event(name, data, Stage::Frame);
    }

    fn piece(&mut self, name: &'static str, data: Value) {
        let data = self.placed(data);
        self.event(name, data, Stage::Piece);
    }

    fn placed(&self, mut data: Value) -> Value {
        data["item_id"] = self.item["id"].clone();
        with(data, "output_index", self.index)
    }

    fn event(&mut self, name: &'static str, data: Value, stage: Stage) {
        let event = self.list.next(name, data).in_block(self.index, stage);
        self.list.events.push(event);
    }
}

fn with(mut data: Value, name: &str, value: usize) -> Value {
    data[name] = value.into();
    data
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model_server::openai::responses::read;

    fn joined(events: &[Event], name: &str) -> String {
        let matching = events.iter().filter(|event| event.name == Some(name));
        let deltas = matching.map(|event| {
            let data: Value = serde_json::from_str(&event.data).unwrap();
            data["delta"].as_str().unwrap().to_owned()
        });
        deltas.collect()
    }

    proptest! {
        #[test]
        fn the_pieces_of_a_stream_make_up_the_whole(text in ".*", piece in 1_usize..50) {
            let prompt = read::prompt(br#"{"model": "gpt-x", "input": []}"#).unwrap();
            let message = ScriptedMessage::new()
                .thinks(&text)
                .says(&text)
                .uses_tool("write", json!({"content": &text}))
                .in_pieces_of(piece);

            let events = stream(&message, &prompt, Ids::fixed()).unwrap();

            let thought = joined(&events, "response.reasoning_summary_text.delta");
            let text = joined(&events, "response.output_text.delta");
            let called = joined(&events, "response.function_call_arguments.delta");
            let items = response::items(&message, &prompt, Ids::fixed()).unwrap();
            prop_assert_eq!(items[0]["summary"][0]["text"].as_str().unwrap_or_default(), thought);
            prop_assert_eq!(&items[1]["content"][0]["text"], &text);
            prop_assert_eq!(&items[2]["arguments"], &called);
        }
    }
}
