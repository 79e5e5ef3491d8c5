//! The parts of a message, piece by piece.

use serde_json::{Value, json};

use crate::model_server::Message;
use crate::model_server::block::{Block, Content, ToolInput};
use crate::model_server::event::in_pieces;
use crate::model_server::json::SIGNATURE;

/// Returns the parts of each block: a text comes in pieces of so many characters, or as one.
pub(super) fn parts(message: &Message, piece: Option<usize>) -> Result<Vec<Vec<Value>>, String> {
    let calls = |block: &Block| matches!(block.content, Content::ToolUse { .. });
    let first_call = message.blocks.iter().position(calls);
    let blocks = message.blocks.iter().enumerate();
    blocks
        .map(|(index, block)| {
            let mut parts = of_block(block, piece)?;
            let signature = match &block.signature {
                None if first_call == Some(index) => Some(SIGNATURE),
                signature => signature.as_deref(),
            };
            // What signs a text comes when all of it is known.
            if let (Some(signature), Some(last)) = (signature, parts.last_mut()) {
                last["thoughtSignature"] = signature.into();
            }
            Ok(parts)
        })
        .collect()
}

fn of_block(block: &Block, piece: Option<usize>) -> Result<Vec<Value>, String> {
    let in_pieces = |text: &str| match piece {
        // A part has something in it, and be it an empty text.
        Some(characters) if !text.is_empty() => in_pieces(text, characters),
        _ => vec![text.to_owned()],
    };
    Ok(match &block.content {
        Content::Text(text) => {
            let pieces = in_pieces(text).into_iter();
            pieces.map(|text| json!({"text": text})).collect()
        }
        Content::Thinking(text) => {
            let pieces = in_pieces(text).into_iter();
            let part = |text| json!({"text": text, "thought": true});
            pieces.map(part).collect()
        }
        Content::ToolUse { id, name, input } => {
            let ToolInput::Json(input) = input else {
                return Err(format!(
                    "Gemini sends JSON, and the input of {name} is text"
                ));
            };
            let mut call = json!({"name": name, "args": input});
            if let Some(id) = id {
                call["id"] = id.as_str().into();
            }
            vec![json!({"functionCall": call})]
        }
        Content::Raw(part) => vec![part.clone()],
    })
}
