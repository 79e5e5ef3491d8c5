//! Chat Completions messages: complete, and as the chunks of a stream.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::{finish_reason, usage};
use crate::model_server::ids::Ids;
use crate::model_server::openai::CREATED;
use crate::model_server::streamed_body::{Block, Content, Event, Stage, in_pieces};
use crate::model_server::{ReceivedPrompt, ScriptedMessage};

/// Returns the complete message, or the reason why it cannot be encoded.
pub(super) fn encode_message(
    message: &ScriptedMessage,
    prompt: &ReceivedPrompt,
    ids: Ids,
) -> Result<Value, String> {
    // Returns the reason if the message cannot be encoded.
    deltas(message, ids)?;
    let stop = message.stop_reason();
    let choice = json!({
        "index": 0,
        "message": message_fields(message, ids),
        "logprobs": null,
        "finish_reason": finish_reason(&stop)?,
    });
    let mut whole = frame("chat.completion", message, prompt, ids);
    whole["choices"] = json!([choice]);
    whole["usage"] = usage(message.usage);
    Ok(whole)
}

/// Returns the chunks of the message, or the reason why there are none.
pub(super) fn stream(
    message: &ScriptedMessage,
    prompt: &ReceivedPrompt,
    ids: Ids,
) -> Result<Vec<Event>, String> {
    let wants_usage = prompt.raw["stream_options"]["include_usage"] == true;
    let chunk = |choices: Value| {
        let mut chunk = frame("chat.completion.chunk", message, prompt, ids);
        chunk["choices"] = choices;
        if wants_usage {
            chunk["usage"] = Value::Null;
        }
        chunk
    };
    let choice = |delta: &Value, finish: Option<&str>| json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
    let first = json!({"role": "assistant", "content": ""});
    let mut events = vec![Event::data(&chunk(choice(&first, None)))];
    events.extend(deltas(message, ids)?.into_iter().map(|delta| {
        let chunk = chunk(choice(&delta.fields, None));
        Event::data(&chunk).in_block(delta.block, delta.stage)
    }));
    let stop = message.stop_reason();
    let end = choice(&json!({}), Some(finish_reason(&stop)?));
    events.push(Event::data(&chunk(end)));
    if wants_usage {
        let mut last = chunk(json!([]));
        last["usage"] = usage(message.usage);
        events.push(Event::data(&last));
    }
    events.push(Event::text(None, "[DONE]"));
    Ok(events)
}

/// Returns the object around the choices.
fn frame(object: &str, message: &ScriptedMessage, prompt: &ReceivedPrompt, ids: Ids) -> Value {
    json!({
        "id": ids.answer_id("chatcmpl"),
        "object": object,
        "created": CREATED,
        "model": message.model.as_ref().unwrap_or(&prompt.model),
        "choices": [],
    })
}

/// Returns the message of the model, with all parts of one kind in one field.
fn message_fields(message: &ScriptedMessage, ids: Ids) -> Value {
    let mut sent = json!({"role": "assistant", "content": null, "refusal": null});
    let mut calls = Vec::new();
    for (index, block) in message.blocks.iter().enumerate() {
        match &block.content {
            Content::Text(text) => append(&mut sent["content"], text),
            Content::Thinking(text) => append(&mut sent["reasoning_content"], text),
            Content::ToolUse { id, name, input } => calls.push(json!({
                "id": id.clone().unwrap_or_else(|| ids.block_id("call", index)),
                "type": "function",
                "function": {"name": name, "arguments": input.to_text()},
            })),
            Content::Raw(fields) => {
                for (name, value) in fields.as_object().into_iter().flatten() {
                    sent[name] = value.clone();
                }
            }
        }
    }
    if !calls.is_empty() {
        sent["tool_calls"] = calls.into();
    }
    sent
}

fn append(field: &mut Value, text: &str) {
    *field = format!("{}{text}", field.as_str().unwrap_or_default()).into();
}

/// The part of the message that one chunk adds.
#[derive(Debug)]
pub(super) struct Delta {
    pub(super) block: usize,
    pub(super) stage: Stage,
    pub(super) fields: Value,
}

/// Returns the deltas of a message in order, or the reason why it cannot be encoded.
pub(super) fn deltas(message: &ScriptedMessage, ids: Ids) -> Result<Vec<Delta>, String> {
    let mut deltas = Vec::new();
    // Adjacent calls, whose pieces are interleaved.
    let mut calls: Vec<VecDeque<Delta>> = Vec::new();
    let mut called = 0;
    for (index, block) in message.blocks.iter().enumerate() {
        let pieces = of_block(block, index, called, message.piece, ids)?;
        match block.content {
            Content::ToolUse { .. } => {
                called += 1;
                calls.push(pieces.into());
            }
            _ => {
                deltas.extend(interleave(&mut calls));
                deltas.extend(pieces);
            }
        }
    }
    deltas.extend(interleave(&mut calls));
    Ok(deltas)
}

/// Returns one piece of each call, then the next of each, until none is left.
fn interleave(calls: &mut Vec<VecDeque<Delta>>) -> Vec<Delta> {
    let mut calls = std::mem::take(calls);
    let mut deltas = Vec::new();
    while calls.iter().any(|pieces| !pieces.is_empty()) {
        deltas.extend(calls.iter_mut().filter_map(VecDeque::pop_front));
    }
    deltas
}

fn of_block(
    block: &Block,
    index: usize,
    call: usize,
    piece: usize,
    ids: Ids,
) -> Result<Vec<Delta>, String> {
    if block.signature.is_some() {
        return Err("Chat Completions sign nothing".to_owned());
    }
    let delta = |stage, fields| Delta {
        block: index,
        stage,
        fields,
    };
    let pieces = |field: &str, text: &str| -> Vec<Delta> {
        let pieces = in_pieces(text, piece).into_iter();
        pieces
            .map(|text| delta(Stage::Piece, json!({field: text})))
            .collect()
    };
    Ok(match &block.content {
        Content::Text(text) => pieces("content", text),
        Content::Thinking(text) => pieces("reasoning_content", text),
        Content::ToolUse { id, name, input } => {
            let first = json!({
                "index": call,
                "id": id.clone().unwrap_or_else(|| ids.block_id("call", index)),
                "type": "function",
                "function": {"name": name, "arguments": ""},
            });
            let arguments = in_pieces(&input.to_text(), piece).into_iter();
            let arguments = arguments.map(|text| {
                let more = json!({"index": call, "function": {"arguments": text}});
                delta(Stage::Piece, json!({"tool_calls": [more]}))
            });
            let first = delta(Stage::Frame, json!({"tool_calls": [first]}));
            std::iter::once(first).chain(arguments).collect()
        }
        Content::Raw(fields) => vec![delta(Stage::Piece, fields.clone())],
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model_server::openai::chat::read;

    fn joined(events: &[Event], pointer: &str) -> String {
        let chunks = events.iter().map(|event| {
            let chunk: Value = serde_json::from_str(&event.data).unwrap_or_default();
            let delta = &chunk["choices"][0]["delta"];
            delta
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        });
        chunks.collect()
    }

    proptest! {
        #[test]
        fn the_chunks_of_a_stream_make_up_the_whole(text in ".*", piece in 1_usize..50) {
            let prompt = read::prompt(br#"{"model": "gpt-x", "messages": []}"#).unwrap();
            let message = ScriptedMessage::new()
                .thinks(&text)
                .says(&text)
                .uses_tool("write", json!({"content": &text}))
                .in_pieces_of(piece);

            let events = stream(&message, &prompt, Ids::fixed()).unwrap();

            let whole = encode_message(&message, &prompt, Ids::fixed()).unwrap();
            let sent = &whole["choices"][0]["message"];
            prop_assert_eq!(&sent["reasoning_content"], &joined(&events, "/reasoning_content"));
            prop_assert_eq!(&sent["content"], &joined(&events, "/content"));
            let called = joined(&events, "/tool_calls/0/function/arguments");
            prop_assert_eq!(&sent["tool_calls"][0]["function"]["arguments"], &called);
        }

        #[test]
        fn each_call_is_whole_when_its_fragments_are_put_together(
            inputs in prop::collection::vec(".{0,60}", 1..5),
            piece in 1_usize..20,
        ) {
            let prompt = read::prompt(br#"{"model": "gpt-x", "messages": []}"#).unwrap();
            let message = inputs.iter().fold(ScriptedMessage::new().in_pieces_of(piece), |message, input| {
                message.uses_tool("write", json!(input))
            });

            let events = stream(&message, &prompt, Ids::fixed()).unwrap();

            let mut calls = vec![String::new(); inputs.len()];
            for event in &events {
                let chunk: Value = serde_json::from_str(&event.data).unwrap_or_default();
                let call = &chunk["choices"][0]["delta"]["tool_calls"][0];
                if let Some(index) = call["index"].as_u64() {
                    let more = call["function"]["arguments"].as_str().unwrap();
                    calls[usize::try_from(index).unwrap()].push_str(more);
                }
            }
            let expected: Vec<String> = inputs.iter().map(|input| json!(input).to_string()).collect();
            prop_assert_eq!(calls, expected);
        }
    }
}
