//! [`MessageDecoder`]: decoder of streamed messages and their content blocks.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use autonoe_core::agent::TokenUsage;
use serde_json::{Map, Value};

use super::{PROTOCOL, error};
use crate::contract::{
    AssistantMessage, CallUsage, MessagePart, ModelError, ModelEvent, ModelReply, StopReason,
};
use crate::wire::{Decoder, ServerEvent, incomplete_answer, invalid_response, parse_event};

/// Decodes one message.
#[derive(Debug, Default)]
pub(super) struct MessageDecoder {
    has_started: bool,
    is_whole: bool,
    id: Option<String>,
    model: Option<String>,
    /// By index in the message.
    blocks: BTreeMap<u64, Block>,
    stop: Option<StopReason>,
    usage: Usage,
    /// Whether usage was reported after the stop reason.
    is_counted: bool,
}

impl MessageDecoder {
    fn take_message_start(&mut self, data: &Value, new_events: &mut Vec<ModelEvent>) -> Option<()> {
        let message = data["message"].as_object()?;
        let text = |name: &str| message.get(name).and_then(Value::as_str).map(str::to_owned);
        self.has_started = true;
        self.id = text("id");
        self.model = text("model");
        self.usage.update(&data["message"]["usage"]);
        // The prompt is charged even if the answer fails.
        new_events.push(ModelEvent::Usage(self.usage.tokens()));
        Some(())
    }

    fn take_block(
        &mut self,
        kind: &str,
        data: &Value,
        new_events: &mut Vec<ModelEvent>,
    ) -> Option<()> {
        let index = data["index"].as_u64()?;
        if kind == "content_block_start" {
            let block = Block::start(&data["content_block"], new_events)?;
            let is_new = self.blocks.insert(index, block).is_none();
            return is_new.then_some(());
        }
        let block = self.blocks.get_mut(&index).filter(|block| block.is_open)?;
        if kind == "content_block_stop" {
            block.end();
            return Some(());
        }
        block.apply_delta(&data["delta"], new_events)
    }

    fn take_message_delta(&mut self, data: &Value) {
        if let Some(word) = data["delta"]["stop_reason"].as_str() {
            self.stop = Some(stop_reason(word));
        }
        self.usage.update(&data["usage"]);
        // The usage at the start of a message only covers the prompt.
        let counts = data["usage"]["output_tokens"].is_u64();
        self.is_counted |= self.stop.is_some() && counts && self.usage.tokens().prompt() > 0;
    }

    fn take_message_stop(&mut self) -> Option<()> {
        self.is_whole = self.stop.is_some() && self.blocks.values().all(|block| !block.is_open);
        self.is_whole.then_some(())
    }
}

impl Decoder for MessageDecoder {
    fn push(
        &mut self,
        event: &ServerEvent,
        new_events: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        let data = parse_event(event, self.usage.tokens())?;
        let kind = data["type"].as_str().unwrap_or(&event.name);
        let understood = match kind {
            "error" => {
                return Err(error::from_event(&data).with_usage(self.usage.tokens()));
            }
            "message_start" if !self.has_started => self.take_message_start(&data, new_events),
            "content_block_start" | "content_block_delta" | "content_block_stop"
                if self.has_started =>
            {
                self.take_block(kind, &data, new_events)
            }
            "message_delta" if self.has_started => {
                self.take_message_delta(&data);
                Some(())
            }
            "message_stop" if self.has_started => self.take_message_stop(),
            "message_start"
            | "content_block_start"
            | "content_block_delta"
            | "content_block_stop"
            | "message_delta"
            | "message_stop" => None,
            // Keep-alive messages and unknown events.
            _ => Some(()),
        };
        let problem = || format!("an unexpected `{kind}`");
        understood.ok_or_else(|| invalid_response(&problem(), self.usage.tokens()))
    }

    fn is_complete(&self) -> bool {
        self.is_whole
    }

    fn finish(mut self: Box<Self>) -> Result<ModelReply, ModelError> {
        let tokens = self.usage.tokens();
        let usage = if self.is_counted {
            CallUsage::Complete(tokens)
        } else {
            CallUsage::AtLeast(tokens)
        };
        let stop = match self.stop {
            Some(stop) if self.is_whole => stop,
            _ => return Err(incomplete_answer(tokens)),
        };
        if matches!(stop, StopReason::MaxTokens | StopReason::ContextFull)
            && let Some(mut last) = self.blocks.last_entry()
        {
            last.get_mut().mark_cut();
        }
        let parts = self.blocks.into_values().map(Block::into_part);
        Ok(ModelReply::new(AssistantMessage::new(parts))
            .with_stop(stop)
            .with_usage(usage)
            .with_model(self.model)
            .with_id(self.id))
    }
}

/// Parses a `stop_reason`.
pub(super) fn stop_reason(word: &str) -> StopReason {
    match word {
        "end_turn" | "stop_sequence" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" => StopReason::MaxTokens,
        "model_context_window_exceeded" => StopReason::ContextFull,
        "refusal" => StopReason::Refused,
        "pause_turn" => StopReason::Paused,
        other => StopReason::Other(other.to_owned()),
    }
}

/// Token counts of the API. Each report is cumulative for the message, and may omit unchanged
/// counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    input: u64,
    cache_creation: u64,
    cache_read: u64,
    output: u64,
    thinking: u64,
}

impl Usage {
    /// Applies a report.
    pub(super) fn update(&mut self, report: &Value) {
        let thinking = &report["output_tokens_details"]["thinking_tokens"];
        for (count, reported) in [
            (&mut self.input, &report["input_tokens"]),
            (
                &mut self.cache_creation,
                &report["cache_creation_input_tokens"],
            ),
            (&mut self.cache_read, &report["cache_read_input_tokens"]),
            (&mut self.output, &report["output_tokens"]),
            (&mut self.thinking, thinking),
        ] {
            *count = reported.as_u64().unwrap_or(*count);
        }
    }

    /// Returns disjoint counts: the API includes thinking in the output.
    pub(super) fn tokens(self) -> TokenUsage {
        let reasoning = self.thinking.min(self.output);
        TokenUsage {
            input: self.input,
            output: self.output - reasoning,
            cache_read: self.cache_read,
            cache_write: self.cache_creation,
            reasoning,
        }
    }
}

/// A content block in progress.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// JSON of the block so far.
    item: Map<String, Value>,
    /// Input of a call as streamed so far; `None` if it arrived complete.
    input: Option<String>,
    pub(super) is_open: bool,
    /// Whether the answer was cut before the model wrote any input of this call.
    lacks_input: bool,
}

impl Block {
    /// Starts a block; `None` if `start` is invalid.
    pub(super) fn start(start: &Value, new_events: &mut Vec<ModelEvent>) -> Option<Self> {
        let block = Self {
            item: start.as_object()?.clone(),
            input: None,
            is_open: true,
            lacks_input: false,
        };
        let is_not_empty = |text: &str| !text.is_empty();
        let event = match block.text_of("type")? {
            "text" => block
                .text_of("text")
                .filter(|text| is_not_empty(text))
                .map(text_event),
            "thinking" => {
                let thought = block.text_of("thinking").filter(|text| is_not_empty(text));
                thought.map(|text| ModelEvent::Thinking(text.to_owned()))
            }
            "tool_use" => Some(ModelEvent::ToolCall {
                id: block.text_of("id")?.to_owned(),
                name: block.text_of("name")?.to_owned(),
            }),
            _ => None,
        };
        new_events.extend(event);
        Some(block)
    }

    /// Applies a delta; `None` if it is invalid.
    pub(super) fn apply_delta(
        &mut self,
        delta: &Value,
        new_events: &mut Vec<ModelEvent>,
    ) -> Option<()> {
        let delta = delta.as_object()?;
        let text = |name: &str| delta.get(name).and_then(Value::as_str);
        match text("type")? {
            "input_json_delta" => {
                let input = self.input.get_or_insert_default();
                input.push_str(text("partial_json")?);
                return Some(());
            }
            "citations_delta" => {
                let citation = delta.get("citation")?.clone();
                match self.item.get_mut("citations") {
                    Some(Value::Array(citations)) => citations.push(citation),
                    _ => {
                        self.item
                            .insert("citations".into(), Value::Array(vec![citation]));
                    }
                }
                return Some(());
            }
            "text_delta" => new_events.push(text_event(text("text")?)),
            "thinking_delta" => {
                new_events.push(ModelEvent::Thinking(text("thinking")?.to_owned()));
            }
            "signature_delta" => {
                text("signature")?;
            }
            _ => {}
        }
        // Deltas extend the field of the same name. Future kinds of deltas are expected to follow
        // this rule.
        for (name, more) in delta.iter().filter(|(name, _)| *name != "type") {
            match (self.item.get_mut(name), more) {
                (Some(Value::String(text)), Value::String(more)) => text.push_str(more),
                (Some(Value::Array(items)), Value::Array(more)) => items.extend_from_slice(more),
                _ => {
                    self.item.insert(name.clone(), more.clone());
                }
            }
        }
        Some(())
    }

    /// Ends the block.
    pub(super) fn end(&mut self) {
        self.is_open = false;
        let Some(written) = self.input.take().filter(|text| !text.is_empty()) else {
            return;
        };
        // Invalid JSON is kept as text.
        let input = serde_json::from_str(&written).unwrap_or(Value::String(written));
        self.item.insert("input".into(), input);
    }

    /// Marks this block, the last one, as cut.
    pub(super) fn mark_cut(&mut self) {
        // A call starts with an empty input, which is not what the model meant.
        self.lacks_input = match self.item.get("input") {
            Some(Value::Object(input)) => input.is_empty(),
            input => input.is_none(),
        };
    }

    /// Converts the block into a part of the answer.
    pub(super) fn into_part(self) -> MessagePart {
        let text = |name: &str| self.text_of(name).unwrap_or_default();
        let part = match self.text_of("type") {
            Some("text") => MessagePart::text(text("text")),
            Some("thinking") => MessagePart::thinking(text("thinking")),
            Some("redacted_thinking") => MessagePart::thinking(""),
            Some("tool_use") if self.lacks_input => {
                MessagePart::tool_call(text("id"), text("name"), Value::String(String::new()))
            }
            Some("tool_use") => {
                let input = self
                    .item
                    .get("input")
                    .cloned()
                    .unwrap_or_else(|| Map::new().into());
                MessagePart::tool_call(text("id"), text("name"), input)
            }
            _ => MessagePart::opaque(),
        };
        part.with_wire(PROTOCOL, self.item.into())
    }

    fn text_of(&self, name: &str) -> Option<&str> {
        self.item.get(name).and_then(Value::as_str)
    }
}

fn text_event(text: &str) -> ModelEvent {
    ModelEvent::Text(text.to_owned())
}

#[cfg(test)]
mod stop_tests {
    use super::*;

    #[test]
    fn every_stop_reason_is_known_and_others_are_preserved() {
        for (word, expected) in [
            ("end_turn", StopReason::EndTurn),
            ("stop_sequence", StopReason::EndTurn),
            ("tool_use", StopReason::ToolUse),
            ("max_tokens", StopReason::MaxTokens),
            ("model_context_window_exceeded", StopReason::ContextFull),
            ("refusal", StopReason::Refused),
            ("pause_turn", StopReason::Paused),
            ("new_reason", StopReason::Other("new_reason".into())),
        ] {
            assert_eq!(stop_reason(word), expected, "{word}");
        }
    }
}

#[cfg(test)]
mod usage_tests {
    use serde_json::json;

    use super::*;

    // Shows: framework/models/usage-of-providers
    #[test]
    fn reports_replace_and_do_not_add() {
        let mut usage = Usage::default();
        usage.update(&json!({
            "input_tokens": 10, "cache_creation_input_tokens": 20,
            "cache_read_input_tokens": 30, "output_tokens": 1,
        }));
        usage.update(&json!({"output_tokens": 50, "cache_read_input_tokens": null}));
        usage.update(&json!({
            "output_tokens": 90, "output_tokens_details": {"thinking_tokens": 60},
        }));

        let expected = TokenUsage {
            input: 10,
            output: 30,
            cache_read: 30,
            cache_write: 20,
            reasoning: 60,
        };
        assert_eq!(usage.tokens(), expected);
        assert_eq!(usage.tokens().total(), 150);
    }

    #[test]
    fn ignores_malformed_token_counts() {
        let mut usage = Usage::default();
        usage.update(&json!({"input_tokens": -1, "output_tokens": "many"}));
        usage.update(&Value::Null);
        usage.update(&json!({"output_tokens_details": {"thinking_tokens": 5}}));

        assert_eq!(usage.tokens(), TokenUsage::default());
    }
}
