//! A part of a message as an output item.

use serde_json::{Value, json};

use crate::model_server::block::{Block, Content};
use crate::model_server::ids::Ids;
use crate::model_server::json::{SIGNATURE, items as items_of};
use crate::model_server::{Message, Prompt};

/// Returns the items of a message, or says why they cannot be told.
pub(super) fn items(message: &Message, prompt: &Prompt, ids: Ids) -> Result<Vec<Value>, String> {
    let blocks = message.blocks.iter().enumerate();
    blocks
        .map(|(index, block)| item(block, index, prompt, ids))
        .collect()
}

fn item(block: &Block, index: usize, prompt: &Prompt, ids: Ids) -> Result<Value, String> {
    let is_thought = matches!(block.content, Content::Thinking(_));
    if block.signature.is_some() && !is_thought {
        return Err("the Responses API encrypts nothing but what was thought".to_owned());
    }
    Ok(match &block.content {
        Content::Text(text) => json!({
            "id": ids.of_block("msg", index),
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        Content::Thinking(text) => {
            let summary: Vec<Value> = match text.as_str() {
                "" => Vec::new(),
                text => vec![json!({"type": "summary_text", "text": text})],
            };
            let id = ids.of_block("rs", index);
            let mut item = json!({"id": id, "type": "reasoning", "summary": summary});
            if wants_thoughts(prompt) {
                let signature = block.signature.as_deref();
                item["encrypted_content"] = signature.unwrap_or(SIGNATURE).into();
            }
            item
        }
        Content::ToolUse { id, name, input } => json!({
            "id": ids.of_block("fc", index),
            "type": "function_call",
            "status": "completed",
            "call_id": id.clone().unwrap_or_else(|| ids.of_block("call", index)),
            "name": name,
            "arguments": input.to_text(),
        }),
        Content::Raw(item) => item.clone(),
    })
}

/// Says whether the client asks for what the model thought in a form that it can give back.
fn wants_thoughts(prompt: &Prompt) -> bool {
    let mut include = items_of(&prompt.raw["include"]);
    include.any(|wanted| wanted == "reasoning.encrypted_content")
}
