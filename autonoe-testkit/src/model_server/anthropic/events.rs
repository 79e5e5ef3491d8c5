//! Messages as JSON: complete, and as the events of a stream.

use serde_json::{Value, json};

use crate::model_server::ids::Ids;
use crate::model_server::json::SIGNATURE;
use crate::model_server::streamed_body::{Block, Content, Event, Stage, ToolInput, in_pieces};
use crate::model_server::{ReceivedPrompt, ScriptedMessage, Usage};

/// Returns the complete message, or the reason why it cannot be sent as one document.
pub(super) fn encode_message(
    message: &ScriptedMessage,
    request: &ReceivedPrompt,
    ids: Ids,
) -> Result<Value, String> {
    let blocks = message.blocks.iter().enumerate();
    let content: Result<Vec<Value>, String> = blocks
        .map(|(index, block)| whole_block(block, index, ids))
        .collect();
    let mut whole = frame(message, request, ids);
    whole["content"] = content?.into();
    whole["stop_reason"] = message.stop_reason().as_str().into();
    whole["usage"] = usage(message.usage);
    Ok(whole)
}

/// Returns the events of the message, or the reason why there are none.
pub(super) fn stream(
    message: &ScriptedMessage,
    request: &ReceivedPrompt,
    ids: Ids,
) -> Result<Vec<Event>, String> {
    let start = frame(message, request, ids);
    let mut events = vec![event("message_start", json!({"message": start}))];
    for (index, block) in message.blocks.iter().enumerate() {
        let (start, deltas) = streamed_block(block, index, ids, message.piece)?;
        let start = json!({"index": index, "content_block": start});
        events.push(event("content_block_start", start).in_block(index, Stage::Frame));
        events.extend(deltas.into_iter().map(|delta| {
            let delta = json!({"index": index, "delta": delta});
            event("content_block_delta", delta).in_block(index, Stage::Piece)
        }));
        let stop = json!({"index": index});
        events.push(event("content_block_stop", stop).in_block(index, Stage::Frame));
    }
    let stop = json!({"stop_reason": message.stop_reason().as_str(), "stop_sequence": null});
    let end = json!({"delta": stop, "usage": usage(message.usage)});
    events.push(event("message_delta", end));
    events.push(event("message_stop", json!({})));
    Ok(events)
}

fn event(name: &'static str, mut data: Value) -> Event {
    data["type"] = name.into();
    Event::named(name, &data)
}

/// Returns the usage at the start of a message.
fn usage_at_start(used: Usage) -> Value {
    usage(Usage {
        output: 1,
        reasoning: 0,
        ..used
    })
}

/// Returns the usage at the end of a message.
fn usage(used: Usage) -> Value {
    let mut usage = json!({
        "input_tokens": used.input,
        "cache_creation_input_tokens": used.cache_creation,
        "cache_read_input_tokens": used.cache_read,
        "output_tokens": used.output,
        "service_tier": "standard",
    });
    if used.reasoning > 0 {
        usage["output_tokens_details"] = json!({"thinking_tokens": used.reasoning});
    }
    usage
}

/// Returns the message as it is at the start of a stream.
fn frame(message: &ScriptedMessage, request: &ReceivedPrompt, ids: Ids) -> Value {
    json!({
        "id": ids.answer_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": message.model.as_ref().unwrap_or(&request.model),
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage_at_start(message.usage),
    })
}

fn whole_block(block: &Block, index: usize, ids: Ids) -> Result<Value, String> {
    let signature = signature(block)?;
    Ok(match &block.content {
        Content::Text(text) => json!({"type": "text", "text": text}),
        Content::Thinking(text) => {
            json!({"type": "thinking", "thinking": text, "signature": signature})
        }
        Content::ToolUse { id, name, input } => {
            let input = match input {
                ToolInput::Json(input) => input.clone(),
                ToolInput::Text(text) => serde_json::from_str(text).map_err(|error| {
                    format!("no stream is requested, and the input of {name} is not JSON: {error}")
                })?,
            };
            json!({"type": "tool_use", "id": tool_id(id, index, ids), "name": name, "input": input})
        }
        Content::Raw(block) => block.clone(),
    })
}

/// Returns the start of a block, and the deltas that follow.
fn streamed_block(
    block: &Block,
    index: usize,
    ids: Ids,
    piece: usize,
) -> Result<(Value, Vec<Value>), String> {
    let signature = signature(block)?;
    let delta = |kind: &str, field: &str, text: &str| json!({"type": kind, field: text});
    let in_pieces = |text: &str| in_pieces(text, piece).into_iter();
    Ok(match &block.content {
        Content::Text(text) => (
            json!({"type": "text", "text": ""}),
            in_pieces(text)
                .map(|text| delta("text_delta", "text", &text))
                .collect(),
        ),
        Content::Thinking(text) => (
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            in_pieces(text)
                .map(|text| delta("thinking_delta", "thinking", &text))
                .chain([delta("signature_delta", "signature", signature)])
                .collect(),
        ),
        Content::ToolUse { id, name, input } => {
            let id = tool_id(id, index, ids);
            let input = input.to_text();
            (
                json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
                in_pieces(&input)
                    .map(|text| delta("input_json_delta", "partial_json", &text))
                    .collect(),
            )
        }
        Content::Raw(block) => (block.clone(), Vec::new()),
    })
}

/// Returns the signature of a block, or an error if it cannot have one.
fn signature(block: &Block) -> Result<&str, String> {
    match (&block.content, &block.signature) {
        (Content::Thinking(_), Some(signature)) => Ok(signature),
        (_, None) => Ok(SIGNATURE),
        (_, Some(_)) => Err("the Messages API signs thinking only".to_owned()),
    }
}

fn tool_id(id: &Option<String>, index: usize, ids: Ids) -> String {
    id.clone().unwrap_or_else(|| ids.block_id("toolu", index))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model_server::FaultPosition;
    use crate::model_server::anthropic::read;
    use crate::model_server::streamed_body::events_before;

    fn request() -> ReceivedPrompt {
        read::prompt(br#"{"model": "claude-x", "messages": []}"#).unwrap()
    }

    fn streamed(message: &ScriptedMessage) -> Vec<Event> {
        stream(message, &request(), Ids::fixed()).unwrap()
    }

    #[test]
    fn a_place_is_found_by_the_events_before_it() {
        let message = ScriptedMessage::new()
            .says("abcdef")
            .uses_tool("Bash", json!({}))
            .in_pieces_of(2);
        let events = streamed(&message);

        // 0 start, 1 block, 2-4 pieces, 5 stop, 6 block, 7 piece, 8 stop, 9 delta, 10 stop.
        assert_eq!(events[5].name, Some("content_block_stop"));
        for (place, before) in [
            (FaultPosition::AfterEvents(0), Some(0)),
            (FaultPosition::AfterEvents(11), Some(11)),
            (FaultPosition::AfterEvents(12), None),
            (FaultPosition::InBlock(0), Some(3)),
            (FaultPosition::AfterBlock(0), Some(6)),
            (FaultPosition::InBlock(1), Some(8)),
            (FaultPosition::AfterBlock(1), Some(9)),
            (FaultPosition::InBlock(2), None),
            (FaultPosition::AfterBlock(2), None),
        ] {
            assert_eq!(events_before(place, &events), before, "{place:?}");
        }
    }

    #[test]
    fn an_empty_block_can_be_broken_before_its_end() {
        let events = streamed(&ScriptedMessage::new().says(""));

        assert_eq!(events_before(FaultPosition::InBlock(0), &events), Some(2));
        assert_eq!(events[2].name, Some("content_block_stop"));
    }

    proptest! {
        #[test]
        fn the_pieces_of_a_stream_make_up_the_whole(text in ".*", piece in 1_usize..50) {
            let message = ScriptedMessage::new()
                .thinks(&text)
                .says(&text)
                .uses_tool("Write", json!({"content": &text}))
                .in_pieces_of(piece);

            let events = streamed(&message);

            let joined = |field: &str| -> String {
                let pieces = events.iter().map(|event| {
                    let data: Value = serde_json::from_str(&event.data).unwrap();
                    data["delta"][field].as_str().unwrap_or_default().to_owned()
                });
                pieces.collect()
            };
            let whole = encode_message(&message, &request(), Ids::fixed()).unwrap();
            prop_assert_eq!(&whole["content"][0]["thinking"], &joined("thinking"));
            prop_assert_eq!(&whole["content"][1]["text"], &joined("text"));
            let input: Value = serde_json::from_str(&joined("partial_json")).unwrap();
            prop_assert_eq!(&whole["content"][2]["input"], &input);
        }
    }
}
