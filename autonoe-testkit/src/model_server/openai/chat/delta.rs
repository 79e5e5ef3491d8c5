//! A part of a message, piece by piece.

use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::model_server::Message;
use crate::model_server::block::{Block, Content};
use crate::model_server::event::{Stage, in_pieces};
use crate::model_server::ids::Ids;

/// What one chunk adds to the message.
#[derive(Debug)]
pub(super) struct Delta {
    pub(super) block: usize,
    pub(super) stage: Stage,
    pub(super) fields: Value,
}

/// Returns what the chunks of a message add, in their order, or says why it cannot be told.
pub(super) fn deltas(message: &Message, ids: Ids) -> Result<Vec<Delta>, String> {
    let mut deltas = Vec::new();
    // Calls that follow each other, whose pieces take turns.
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
                deltas.extend(taking_turns(&mut calls));
                deltas.extend(pieces);
            }
        }
    }
    deltas.extend(taking_turns(&mut calls));
    Ok(deltas)
}

/// Returns one piece of each call, then the next of each, until none has any.
fn taking_turns(calls: &mut Vec<VecDeque<Delta>>) -> Vec<Delta> {
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
            let begun = json!({
                "index": call,
                "id": id.clone().unwrap_or_else(|| ids.of_block("call", index)),
                "type": "function",
                "function": {"name": name, "arguments": ""},
            });
            let arguments = in_pieces(&input.to_text(), piece).into_iter();
            let arguments = arguments.map(|text| {
                let more = json!({"index": call, "function": {"arguments": text}});
                delta(Stage::Piece, json!({"tool_calls": [more]}))
            });
            let begun = delta(Stage::Frame, json!({"tool_calls": [begun]}));
            std::iter::once(begun).chain(arguments).collect()
        }
        Content::Raw(fields) => vec![delta(Stage::Piece, fields.clone())],
    })
}
