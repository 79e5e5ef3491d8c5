//! A message as JSON: whole, and as the events of a stream.

use serde_json::{Value, json};

use super::ids::Ids;
use super::message::{Block, Message, ToolInput};
use super::{MessagesRequest, Place};

/// Stands where the API signs what its model thought.
const SIGNATURE: &str = "c2NyaXB0ZWQ=";

/// One event of a stream.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Event {
    pub(super) name: &'static str,
    pub(super) data: Value,
}

/// Returns the whole message, or says why it cannot be told in one piece.
pub(super) fn whole(
    message: &Message,
    request: &MessagesRequest,
    ids: Ids,
) -> Result<Value, String> {
    let blocks = message.blocks.iter().enumerate();
    let content: Result<Vec<Value>, String> = blocks
        .map(|(index, block)| whole_block(block, index, ids))
        .collect();
    let mut whole = frame(message, request, ids);
    whole["content"] = content?.into();
    whole["stop_reason"] = message.stop_reason().as_str().into();
    whole["usage"] = message.usage.at_end();
    Ok(whole)
}

/// Returns the events of the message.
pub(super) fn stream(message: &Message, request: &MessagesRequest, ids: Ids) -> Vec<Event> {
    let start = frame(message, request, ids);
    let mut events = vec![event("message_start", json!({"message": start}))];
    for (index, block) in message.blocks.iter().enumerate() {
        let (start, deltas) = streamed_block(block, index, ids, message.piece);
        events.push(event(
            "content_block_start",
            json!({"index": index, "content_block": start}),
        ));
        events.extend(deltas.into_iter().map(|delta| {
            event(
                "content_block_delta",
                json!({"index": index, "delta": delta}),
            )
        }));
        events.push(event("content_block_stop", json!({"index": index})));
    }
    let stop = json!({"stop_reason": message.stop_reason().as_str(), "stop_sequence": null});
    let end = json!({"delta": stop, "usage": message.usage.at_end()});
    events.push(event("message_delta", end));
    events.push(event("message_stop", json!({})));
    events
}

/// Returns how many events come before `place`, or `None` if the stream has no such place.
pub(super) fn events_before(place: Place, events: &[Event]) -> Option<usize> {
    let of_block = |name: &str, block: usize| {
        let wanted = |event: &Event| event.name == name && event.data["index"] == block;
        events.iter().position(wanted)
    };
    match place {
        Place::AfterEvents(count) => (count <= events.len()).then_some(count),
        // With its first piece, if it has pieces, so that there is something of it.
        Place::InBlock(block) => {
            let start = of_block("content_block_start", block)? + 1;
            let pieces = of_block("content_block_stop", block)? - start;
            Some(start + pieces.min(1))
        }
        Place::AfterBlock(block) => Some(of_block("content_block_stop", block)? + 1),
    }
}

fn event(name: &'static str, mut data: Value) -> Event {
    data["type"] = name.into();
    Event { name, data }
}

/// Returns the message as it is told when it begins.
fn frame(message: &Message, request: &MessagesRequest, ids: Ids) -> Value {
    json!({
        "id": ids.message(),
        "type": "message",
        "role": "assistant",
        "model": message.model.as_ref().unwrap_or(&request.model),
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": message.usage.at_start(),
    })
}

fn whole_block(block: &Block, index: usize, ids: Ids) -> Result<Value, String> {
    Ok(match block {
        Block::Text(text) => json!({"type": "text", "text": text}),
        Block::Thinking(text) => {
            json!({"type": "thinking", "thinking": text, "signature": SIGNATURE})
        }
        Block::ToolUse { id, name, input } => {
            let input = match input {
                ToolInput::Json(input) => input.clone(),
                ToolInput::Text(text) => serde_json::from_str(text).map_err(|error| {
                    format!("no stream is asked for, and the input of {name} is no JSON: {error}")
                })?,
            };
            json!({"type": "tool_use", "id": tool_id(id, index, ids), "name": name, "input": input})
        }
        Block::Raw(block) => block.clone(),
    })
}

/// Returns how a block begins, and what is added to it piece by piece.
fn streamed_block(block: &Block, index: usize, ids: Ids, piece: usize) -> (Value, Vec<Value>) {
    let delta = |kind: &str, field: &str, text: &str| json!({"type": kind, field: text});
    match block {
        Block::Text(text) => (
            json!({"type": "text", "text": ""}),
            in_pieces(text, piece)
                .map(|text| delta("text_delta", "text", &text))
                .collect(),
        ),
        Block::Thinking(text) => (
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            in_pieces(text, piece)
                .map(|text| delta("thinking_delta", "thinking", &text))
                .chain([delta("signature_delta", "signature", SIGNATURE)])
                .collect(),
        ),
        Block::ToolUse { id, name, input } => {
            let id = tool_id(id, index, ids);
            let input = match input {
                ToolInput::Json(input) => input.to_string(),
                ToolInput::Text(text) => text.clone(),
            };
            (
                json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
                in_pieces(&input, piece)
                    .map(|text| delta("input_json_delta", "partial_json", &text))
                    .collect(),
            )
        }
        Block::Raw(block) => (block.clone(), Vec::new()),
    }
}

fn tool_id(id: &Option<String>, index: usize, ids: Ids) -> String {
    id.clone().unwrap_or_else(|| ids.tool_use(index))
}

/// Cuts a text into pieces of so many characters.
fn in_pieces(text: &str, characters: usize) -> impl Iterator<Item = String> {
    let text: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = text.chunks(characters).map(String::from_iter).collect();
    pieces.into_iter()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn request() -> MessagesRequest {
        MessagesRequest::from_json(br#"{"model": "claude-x", "messages": []}"#).unwrap()
    }

    fn names(message: &Message) -> Vec<&'static str> {
        let events = stream(message, &request(), Ids::fixed());
        events.iter().map(|event| event.name).collect()
    }

    #[test]
    fn a_place_is_found_by_the_events_before_it() {
        let message = Message::new()
            .says("abcdef")
            .uses_tool("Bash", json!({}))
            .in_pieces_of(2);
        let events = stream(&message, &request(), Ids::fixed());

        // 0 start, 1 block, 2-4 pieces, 5 stop, 6 block, 7 piece, 8 stop, 9 delta, 10 stop.
        assert_eq!(names(&message)[5], "content_block_stop");
        for (place, before) in [
            (Place::AfterEvents(0), Some(0)),
            (Place::AfterEvents(11), Some(11)),
            (Place::AfterEvents(12), None),
            (Place::InBlock(0), Some(3)),
            (Place::AfterBlock(0), Some(6)),
            (Place::InBlock(1), Some(8)),
            (Place::AfterBlock(1), Some(9)),
            (Place::InBlock(2), None),
            (Place::AfterBlock(2), None),
        ] {
            assert_eq!(events_before(place, &events), before, "{place:?}");
        }
    }

    #[test]
    fn an_empty_block_can_be_broken_before_its_end() {
        let events = stream(&Message::new().says(""), &request(), Ids::fixed());

        assert_eq!(events_before(Place::InBlock(0), &events), Some(2));
        assert_eq!(events[2].name, "content_block_stop");
    }

    proptest! {
        #[test]
        fn the_pieces_of_a_stream_make_up_the_whole(text in ".*", piece in 1_usize..50) {
            let message = Message::new()
                .thinks(&text)
                .says(&text)
                .uses_tool("Write", json!({"content": &text}))
                .in_pieces_of(piece);

            let events = stream(&message, &request(), Ids::fixed());

            let joined = |field: &str| -> String {
                let pieces = events.iter().filter_map(|event| event.data["delta"][field].as_str());
                pieces.collect()
            };
            let whole = whole(&message, &request(), Ids::fixed()).unwrap();
            prop_assert_eq!(&whole["content"][0]["thinking"], &joined("thinking"));
            prop_assert_eq!(&whole["content"][1]["text"], &joined("text"));
            let input: Value = serde_json::from_str(&joined("partial_json")).unwrap();
            prop_assert_eq!(&whole["content"][2]["input"], &input);
        }
    }
}
