//! Wire format of Chat Completions.

mod chunks;
mod read;

use serde_json::{Value, json};

use crate::model_server::api::Wire;
use crate::model_server::ids::Ids;
use crate::model_server::streamed_body::Event;
use crate::model_server::{MessageStopReason, ReceivedPrompt, ScriptedMessage, Usage};

pub(super) use read::prompt;

/// The wire format of Chat Completions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chat;

impl Wire for Chat {
    fn encode_message(
        &self,
        message: &ScriptedMessage,
        prompt: &ReceivedPrompt,
        ids: Ids,
    ) -> Result<Value, String> {
        chunks::encode_message(message, prompt, ids)
    }

    fn stream(
        &self,
        message: &ScriptedMessage,
        prompt: &ReceivedPrompt,
        ids: Ids,
    ) -> Result<Vec<Event>, String> {
        chunks::stream(message, prompt, ids)
    }

    fn malformed(&self) -> Event {
        Event::text(None, r#"{"object": "chat.completion.chunk", broken"#)
    }

    fn error(&self, kind: &str, message: &str, _: usize) -> Event {
        let error = json!({"message": message, "type": kind, "param": null, "code": null});
        Event::data(&json!({"error": error}))
    }
}

/// Returns the finish reason, or an error if there is no equivalent.
fn finish_reason(stop: &MessageStopReason) -> Result<&str, String> {
    Ok(match stop {
        MessageStopReason::EndTurn | MessageStopReason::StopSequence => "stop",
        MessageStopReason::ToolUse => "tool_calls",
        MessageStopReason::MaxTokens => "length",
        MessageStopReason::Refusal => "content_filter",
        MessageStopReason::PauseTurn => return Err("Chat Completions do not pause".to_owned()),
        MessageStopReason::Other(reason) => reason,
    })
}

fn usage(used: Usage) -> Value {
    json!({
        "prompt_tokens": used.whole_input(),
        "completion_tokens": used.output,
        "total_tokens": used.whole_input() + used.output,
        "prompt_tokens_details": {"cached_tokens": used.cache_read},
        "completion_tokens_details": {"reasoning_tokens": used.reasoning},
    })
}
