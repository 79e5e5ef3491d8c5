//! An answer that is read as it comes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use super::error;
use super::parts::Parts;
use super::stop::finish_reason;
use super::usage::Usage;
use crate::contract::{
    AssistantMessage, CallUsage, ModelError, ModelErrorCode, ModelEvent, ModelReply, StopReason,
};
use crate::wire::{Decoder, ServerEvent};

/// Reads one answer.
#[derive(Debug)]
pub(super) struct ContentDecoder {
    nameless: Arc<AtomicU64>,
    id: Option<String>,
    /// What the names of calls begin with.
    call_prefix: Option<String>,
    model: Option<String>,
    parts: Parts,
    end: Option<End>,
    usage: Usage,
    /// Whether it was counted when the model had stopped.
    is_counted: bool,
    is_whole: bool,
}

/// Why there is no more.
#[derive(Debug)]
enum End {
    Finished(String),
    /// The prompt itself was refused.
    Blocked,
}

impl ContentDecoder {
    pub(super) fn new(nameless: Arc<AtomicU64>) -> Self {
        Self {
            nameless,
            id: None,
            call_prefix: None,
            model: None,
            parts: Parts::default(),
            end: None,
            usage: Usage::default(),
            is_counted: false,
            is_whole: false,
        }
    }

    fn take_chunk(&mut self, chunk: &Value, news: &mut Vec<ModelEvent>) -> Option<()> {
        chunk.as_object()?;
        let text = |name: &str| chunk[name].as_str().map(str::to_owned);
        self.id = self.id.take().or_else(|| text("responseId"));
        self.model = self.model.take().or_else(|| text("modelVersion"));
        let known = self.usage;
        self.usage.update(&chunk["usageMetadata"]);
        let candidate = &chunk["candidates"][0];
        if let Some(parts) = candidate["content"]["parts"].as_array() {
            for part in parts {
                let prefix = &mut self.call_prefix;
                let (id, nameless) = (&self.id, &self.nameless);
                let new_id = |number| {
                    let prefix = prefix.get_or_insert_with(|| call_prefix(id, nameless));
                    format!("{prefix}-{number}")
                };
                self.parts.take(part, new_id, news)?;
            }
        }
        if chunk["promptFeedback"]["blockReason"].is_string() {
            self.end = Some(End::Blocked);
        }
        if let Some(reason) = candidate["finishReason"].as_str() {
            self.end = Some(End::Finished(reason.to_owned()));
        }
        // No event says that it is the last. Counts come with every one that matters.
        self.is_whole = self.end.is_some() && chunk["usageMetadata"].is_object();
        self.is_counted |= self.is_whole && self.usage.tokens().prompt() > 0;
        if self.usage != known && !self.is_whole {
            news.push(ModelEvent::Used(self.usage.tokens()));
        }
        Some(())
    }

    fn nonsense(&self, message: String) -> ModelError {
        ModelError::new(ModelErrorCode::InvalidResponse, message).with_usage(self.usage.tokens())
    }
}

/// Returns what the names of calls begin with: the API gives them none.
fn call_prefix(id: &Option<String>, nameless: &AtomicU64) -> String {
    match id {
        Some(id) => format!("call-{id}"),
        None => format!("call-{}", nameless.fetch_add(1, Ordering::Relaxed)),
    }
}

impl Decoder for ContentDecoder {
    fn take(&mut self, event: &ServerEvent, news: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let chunk: Value = serde_json::from_str(&event.data).map_err(|error| {
            self.nonsense(format!(
                "the provider sent an event that is no JSON: {error}"
            ))
        })?;
        if let Some(error) = error::of_event(&chunk) {
            return Err(error.with_usage(self.usage.tokens()));
        }
        self.take_chunk(&chunk, news).ok_or_else(|| {
            self.nonsense("the provider sent a part of an answer that makes no sense".to_owned())
        })
    }

    fn is_whole(&self) -> bool {
        self.is_whole
    }

    fn finish(self: Box<Self>) -> Result<ModelReply, ModelError> {
        let tokens = self.usage.tokens();
        let usage = match self.is_counted {
            true => CallUsage::Told(tokens),
            false => CallUsage::AtLeast(tokens),
        };
        let stop = match self.end {
            Some(End::Finished(word)) => finish_reason(&word, self.parts.calls() > 0),
            Some(End::Blocked) => StopReason::Refused,
            None => {
                let message = "the answer ended before it was complete";
                let error = ModelError::new(ModelErrorCode::NetworkError, message);
                return Err(error.with_usage(tokens));
            }
        };
        Ok(
            ModelReply::new(AssistantMessage::new(self.parts.into_parts()))
                .with_stop(stop)
                .with_usage(usage)
                .with_model(self.model)
                .with_id(self.id),
        )
    }
}

#[cfg(test)]
mod tests;
