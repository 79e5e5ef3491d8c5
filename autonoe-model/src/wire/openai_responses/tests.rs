//! Tests of the protocol: encoding, decoding and replay of answers.

mod decoding;
mod encoding;
mod properties;
mod replay;

use serde_json::{Value, json};

use super::*;
use crate::contract::{ModelEvent, ModelReply};
use crate::wire::ServerEvent;
use crate::wire::openai::testing::{event, play};

fn wire() -> OpenAiResponses {
    OpenAiResponses::default()
}

/// Feeds events to the decoder.
fn answer(events: &[Value]) -> (Vec<ModelEvent>, Result<ModelReply, ModelError>) {
    play(wire().decoder(), events.iter().map(event))
}

fn usage() -> Value {
    json!({
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 20},
        "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 110,
    })
}

fn created() -> Value {
    json!({
        "type": "response.created",
        "response": {"id": "resp_1", "model": "gpt-5-2025-08-07", "status": "in_progress", "output": []},
    })
}

fn added(index: u64, item: &Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn done(index: u64, item: &Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

fn delta(kind: &str, index: u64, delta: &str) -> Value {
    json!({"type": kind, "output_index": index, "delta": delta})
}

fn completed() -> Value {
    json!({
        "type": "response.completed",
        "response": {"id": "resp_1", "status": "completed", "output": [], "usage": usage()},
    })
}

fn message(text: &str) -> Value {
    json!({
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "phase": "final",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    })
}

fn reasoning(summary: &[&str]) -> Value {
    let summary: Vec<Value> = summary
        .iter()
        .map(|text| json!({"type": "summary_text", "text": text}))
        .collect();
    json!({"id": "rs_1", "type": "reasoning", "summary": summary, "encrypted_content": "ZmFrZQ=="})
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({
        "id": format!("fc_{id}"),
        "type": "function_call",
        "call_id": id,
        "name": name,
        "arguments": arguments,
        "status": "completed",
    })
}
