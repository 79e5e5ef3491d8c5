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

fn wire(dialect: Dialect) -> OpenAiChat {
    OpenAiChat::new(dialect.into())
}

fn end() -> ServerEvent {
    ServerEvent {
        name: String::new(),
        data: "[DONE]".into(),
    }
}

/// Feeds chunks and the end of the stream to the decoder.
fn answer(chunks: &[Value]) -> (Vec<ModelEvent>, Result<ModelReply, ModelError>) {
    let events = chunks.iter().map(event).chain([end()]);
    play(wire(Dialect::Plain).decoder(), events)
}

fn chunk(delta: &Value) -> Value {
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "model": "m-1",
        "choices": [{"index": 0, "delta": delta, "finish_reason": null}],
    })
}

fn stopped(reason: &str) -> Value {
    json!({
        "id": "chatcmpl-1",
        "model": "m-1",
        "choices": [{"index": 0, "delta": {}, "finish_reason": reason}],
    })
}

fn usage() -> Value {
    json!({
        "id": "chatcmpl-1",
        "choices": [],
        "usage": {
            "prompt_tokens": 100,
            "prompt_tokens_details": {"cached_tokens": 20},
            "completion_tokens": 10,
            "completion_tokens_details": {"reasoning_tokens": 3},
            "total_tokens": 110,
        },
    })
}

fn fragment(index: u64, id: &str, name: &str, arguments: &str) -> Value {
    let mut fragment = json!({"index": index, "function": {"arguments": arguments}});
    if !id.is_empty() {
        fragment["id"] = json!(id);
        fragment["type"] = json!("function");
        fragment["function"]["name"] = json!(name);
    }
    fragment
}

fn calls(fragments: &[Value]) -> Value {
    chunk(&json!({"tool_calls": fragments}))
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}
