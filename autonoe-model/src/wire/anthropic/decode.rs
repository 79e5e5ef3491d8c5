//! A message that is read as it comes.

use std::collections::BTreeMap;

use serde_json::Value;

use super::block::Block;
use super::error;
use super::stop::stop_reason;
use super::usage::Usage;
use crate::contract::{
    AssistantMessage, CallUsage, ModelError, ModelErrorCode, ModelEvent, ModelReply, StopReason,
};
use crate::wire::{Decoder, ServerEvent};

/// Reads one message.
#[derive(Debug, Default)]
pub(super) struct MessageDecoder {
    has_begun: bool,
    is_whole: bool,
    id: Option<String>,
    model: Option<String>,
    /// By their index in the message.
    blocks: BTreeMap<u64, Block>,
    stop: Option<StopReason>,
    usage: Usage,
    /// Whether it was counted when the model had stopped.
    is_counted: bool,
}

impl MessageDecoder {
    fn take_message_start(&mut self, data: &Value, news: &mut Vec<ModelEvent>) -> Option<()> {
        let message = data["message"].as_object()?;
        let text = |name: &str| message.get(name).and_then(Value::as_str).map(str::to_owned);
        self.has_begun = true;
        self.id = text("id");
        self.model = text("model");
        self.usage.update(&data["message"]["usage"]);
        // The prompt is paid for, whatever becomes of the answer.
        news.push(ModelEvent::Used(self.usage.tokens()));
        Some(())
    }

    fn take_block(&mut self, kind: &str, data: &Value, news: &mut Vec<ModelEvent>) -> Option<()> {
        let index = data["index"].as_u64()?;
        if kind == "content_block_start" {
            let block = Block::begin(&data["content_block"], news)?;
            let is_new = self.blocks.insert(index, block).is_none();
            return is_new.then_some(());
        }
        let block = self.blocks.get_mut(&index).filter(|block| block.is_open)?;
        if kind == "content_block_stop" {
            block.end();
            return Some(());
        }
        block.grow(&data["delta"], news)
    }

    fn take_message_delta(&mut self, data: &Value) {
        if let Some(word) = data["delta"]["stop_reason"].as_str() {
            self.stop = Some(stop_reason(word));
        }
        self.usage.update(&data["usage"]);
        // What a message starts with counts the prompt alone.
        let counts = data["usage"]["output_tokens"].is_u64();
        self.is_counted |= self.stop.is_some() && counts && self.usage.tokens().prompt() > 0;
    }

    fn take_message_stop(&mut self) -> Option<()> {
        self.is_whole = self.stop.is_some() && self.blocks.values().all(|block| !block.is_open);
        self.is_whole.then_some(())
    }

    fn nonsense(&self, message: String) -> ModelError {
        ModelError::new(ModelErrorCode::InvalidResponse, message).with_usage(self.usage.tokens())
    }
}

impl Decoder for MessageDecoder {
    fn take(&mut self, event: &ServerEvent, news: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let data: Value = serde_json::from_str(&event.data).map_err(|error| {
            self.nonsense(format!(
                "the provider sent an event that is no JSON: {error}"
            ))
        })?;
        let kind = data["type"].as_str().unwrap_or(&event.name);
        let understood = match kind {
            "error" => {
                return Err(error::of_event(&data).with_usage(self.usage.tokens()));
            }
            "message_start" if !self.has_begun => self.take_message_start(&data, news),
            "content_block_start" | "content_block_delta" | "content_block_stop"
                if self.has_begun =>
            {
                self.take_block(kind, &data, news)
            }
            "message_delta" if self.has_begun => {
                self.take_message_delta(&data);
                Some(())
            }
            "message_stop" if self.has_begun => self.take_message_stop(),
            "message_start"
            | "content_block_start"
            | "content_block_delta"
            | "content_block_stop"
            | "message_delta"
            | "message_stop" => None,
            // Signs of life, and what may be new one day.
            _ => Some(()),
        };
        understood.ok_or_else(|| {
            self.nonsense(format!(
                "the provider sent a `{kind}` that makes no sense there"
            ))
        })
    }

    fn is_whole(&self) -> bool {
        self.is_whole
    }

    fn finish(mut self: Box<Self>) -> Result<ModelReply, ModelError> {
        let tokens = self.usage.tokens();
        let usage = match self.is_counted {
            true => CallUsage::Told(tokens),
            false => CallUsage::AtLeast(tokens),
        };
        let stop = match self.stop {
            Some(stop) if self.is_whole => stop,
            _ => {
                let message = "the answer ended before it was complete";
                let error = ModelError::new(ModelErrorCode::NetworkError, message);
                return Err(error.with_usage(tokens));
            }
        };
        if matches!(stop, StopReason::MaxTokens | StopReason::ContextFull)
            && let Some(mut last) = self.blocks.last_entry()
        {
            last.get_mut().was_cut();
        }
        let parts = self.blocks.into_values().map(Block::into_part);
        Ok(ModelReply::new(AssistantMessage::new(parts))
            .with_stop(stop)
            .with_usage(usage)
            .with_model(self.model)
            .with_id(self.id))
    }
}

#[cfg(test)]
mod tests;
