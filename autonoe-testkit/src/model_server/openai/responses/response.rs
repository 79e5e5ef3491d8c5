//! The response object that encloses the output items.

use serde_json::{Value, json};

use crate::model_server::api::Failure;
use crate::model_server::ids::Ids;
use crate::model_server::json::{SIGNATURE, items as items_of};
use crate::model_server::openai::CREATED;
use crate::model_server::streamed_body::{Block, Content};
use crate::model_server::{MessageStopReason, ReceivedPrompt, ScriptedMessage, Usage};

/// Returns the response object at its start.
pub(super) fn started(model: Option<&str>, prompt: &ReceivedPrompt, ids: Ids) -> Value {
    json!({
        "id": ids.answer_id("resp"),
        "object": "response",
        "created_at": CREATED,
        "status": "in_progress",
        "error": null,
        "incomplete_details": null,
        "model": model.unwrap_or(&prompt.model),
        "output": [],
        "usage": null,
    })
}

/// Returns the response object at its end, or an error if it cannot end this way.
pub(super) fn ended(
    message: &ScriptedMessage,
    prompt: &ReceivedPrompt,
    ids: Ids,
    items: Vec<Value>,
) -> Result<Value, String> {
    let mut response = started(message.model.as_deref(), prompt, ids);
    response["output"] = items.into();
    response["usage"] = usage(message.usage);
    response["status"] = "completed".into();
    if let Some(reason) = incomplete(&message.stop_reason())? {
        response["status"] = "incomplete".into();
        response["incomplete_details"] = json!({"reason": reason});
    }
    Ok(response)
}

/// Returns a failed response object.
pub(super) fn failed(failure: Failure<'_>, prompt: &ReceivedPrompt, ids: Ids) -> Value {
    let mut response = started(None, prompt, ids);
    response["status"] = "failed".into();
    response["error"] = json!({"code": failure.code, "message": failure.message});
    response
}

/// Returns the reason why a response is incomplete, or `None` if it is complete.
fn incomplete(stop: &MessageStopReason) -> Result<Option<&str>, String> {
    Ok(match stop {
        MessageStopReason::EndTurn
        | MessageStopReason::ToolUse
        | MessageStopReason::StopSequence => None,
        MessageStopReason::MaxTokens => Some("max_output_tokens"),
        MessageStopReason::Refusal => Some("content_filter"),
        MessageStopReason::PauseTurn => return Err("the Responses API does not pause".to_owned()),
        MessageStopReason::Other(reason) => Some(reason),
    })
}

fn usage(used: Usage) -> Value {
    json!({
        "input_tokens": used.whole_input(),
        "input_tokens_details": {"cached_tokens": used.cache_read},
        "output_tokens": used.output,
        "output_tokens_details": {"reasoning_tokens": used.reasoning},
        "total_tokens": used.whole_input() + used.output,
    })
}

/// Returns the items of a message, or the reason why they cannot be encoded.
pub(super) fn items(
    message: &ScriptedMessage,
    prompt: &ReceivedPrompt,
    ids: Ids,
) -> Result<Vec<Value>, String> {
    let blocks = message.blocks.iter().enumerate();
    blocks
        .map(|(index, block)| item(block, index, prompt, ids))
        .collect()
}

fn item(block: &Block, index: usize, prompt: &ReceivedPrompt, ids: Ids) -> Result<Value, String> {
    let is_thought = matches!(block.content, Content::Thinking(_));
    if block.signature.is_some() && !is_thought {
        return Err("the Responses API encrypts reasoning only".to_owned());
    }
    Ok(match &block.content {
        Content::Text(text) => json!({
            "id": ids.block_id("msg", index),
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
            let id = ids.block_id("rs", index);
            let mut item = json!({"id": id, "type": "reasoning", "summary": summary});
            if wants_thoughts(prompt) {
                let signature = block.signature.as_deref();
                item["encrypted_content"] = signature.unwrap_or(SIGNATURE).into();
            }
            item
        }
        Content::ToolUse { id, name, input } => json!({
            "id": ids.block_id("fc", index),
            "type": "function_call",
            "status": "completed",
            "call_id": id.clone().unwrap_or_else(|| ids.block_id("call", index)),
            "name": name,
            "arguments": input.to_text(),
        }),
        Content::Raw(item) => item.clone(),
    })
}

/// Returns whether the client requests reasoning in a form that it can send back.
fn wants_thoughts(prompt: &ReceivedPrompt) -> bool {
    let mut include = items_of(&prompt.raw["include"]);
    include.any(|field| field == "reasoning.encrypted_content")
}
