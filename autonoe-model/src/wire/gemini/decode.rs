//! [`ContentDecoder`]: decoder of streamed chunks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use autonoe_core::agent::TokenUsage;
use serde_json::Value;

use super::error;
use super::parts::Parts;
use crate::contract::{
    AssistantMessage, CallUsage, ModelError, ModelErrorCode, ModelEvent, ModelReply, StopReason,
};
use crate::wire::{Decoder, ServerEvent};

/// Decodes one answer.
#[derive(Debug)]
pub(super) struct ContentDecoder {
    nameless: Arc<AtomicU64>,
    id: Option<String>,
    /// Prefix of generated call IDs.
    call_prefix: Option<String>,
    model: Option<String>,
    parts: Parts,
    end: Option<End>,
    usage: Usage,
    /// Whether usage was reported after the finish reason.
    is_counted: bool,
    is_whole: bool,
}

/// End of an answer.
#[derive(Debug)]
enum End {
    Finished(String),
    /// The prompt itself was blocked.
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
                self.parts.push(part, new_id, news)?;
            }
        }
        if chunk["promptFeedback"]["blockReason"].is_string() {
            self.end = Some(End::Blocked);
        }
        if let Some(reason) = candidate["finishReason"].as_str() {
            self.end = Some(End::Finished(reason.to_owned()));
        }
        // No event is marked as the last one. Every relevant event contains usage.
        self.is_whole = self.end.is_some() && chunk["usageMetadata"].is_object();
        self.is_counted |= self.is_whole && self.usage.tokens().prompt() > 0;
        if self.usage != known && !self.is_whole {
            news.push(ModelEvent::Used(self.usage.tokens()));
        }
        Some(())
    }

    fn invalid_response(&self, message: String) -> ModelError {
        ModelError::new(ModelErrorCode::InvalidResponse, message).with_usage(self.usage.tokens())
    }
}

/// Returns the prefix of generated call IDs, because the API assigns none.
fn call_prefix(id: &Option<String>, nameless: &AtomicU64) -> String {
    match id {
        Some(id) => format!("call-{id}"),
        None => format!("call-{}", nameless.fetch_add(1, Ordering::Relaxed)),
    }
}

impl Decoder for ContentDecoder {
    fn push(&mut self, event: &ServerEvent, news: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let chunk: Value = serde_json::from_str(&event.data).map_err(|error| {
            self.invalid_response(format!(
                "the provider sent an event that is not valid JSON: {error}"
            ))
        })?;
        if let Some(error) = error::from_event(&chunk) {
            return Err(error.with_usage(self.usage.tokens()));
        }
        self.take_chunk(&chunk, news).ok_or_else(|| {
            self.invalid_response("the provider sent an answer part that is not valid".to_owned())
        })
    }

    fn is_complete(&self) -> bool {
        self.is_whole
    }

    fn finish(self: Box<Self>) -> Result<ModelReply, ModelError> {
        let tokens = self.usage.tokens();
        let usage = if self.is_counted {
            CallUsage::Complete(tokens)
        } else {
            CallUsage::AtLeast(tokens)
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

/// Parses a `finishReason`.
pub(super) fn finish_reason(word: &str, has_calls: bool) -> StopReason {
    match word {
        // The API has no separate reason for tool calls.
        "STOP" if has_calls => StopReason::ToolUse,
        "STOP" => StopReason::EndTurn,
        "MAX_TOKENS" => StopReason::MaxTokens,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => StopReason::Refused,
        // `MALFORMED_FUNCTION_CALL`, `UNEXPECTED_TOOL_CALL`, `OTHER` and unknown reasons: the API
        // has no other reason for a successful answer.
        other => StopReason::Failed(other.to_owned()),
    }
}

/// Token counts of the API. Each report is cumulative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    prompt: u64,
    tool_use_prompt: u64,
    cached: u64,
    candidates: u64,
    thoughts: u64,
}

impl Usage {
    /// Applies a report.
    pub(super) fn update(&mut self, report: &Value) {
        for (count, reported) in [
            (&mut self.prompt, &report["promptTokenCount"]),
            (
                &mut self.tool_use_prompt,
                &report["toolUsePromptTokenCount"],
            ),
            (&mut self.cached, &report["cachedContentTokenCount"]),
            (&mut self.candidates, &report["candidatesTokenCount"]),
            (&mut self.thoughts, &report["thoughtsTokenCount"]),
        ] {
            *count = reported.as_u64().unwrap_or(*count);
        }
    }

    /// Returns disjoint counts: the API includes cached tokens in the prompt.
    pub(super) fn tokens(self) -> TokenUsage {
        let cache_read = self.cached.min(self.prompt);
        TokenUsage {
            input: (self.prompt - cache_read).saturating_add(self.tool_use_prompt),
            output: self.candidates,
            cache_read,
            cache_write: 0,
            reasoning: self.thoughts,
        }
    }
}

#[cfg(test)]
mod stop_tests {
    use super::*;

    #[test]
    fn every_reason_is_known_and_others_are_kept() {
        for (word, has_calls, expected) in [
            ("STOP", false, StopReason::EndTurn),
            ("STOP", true, StopReason::ToolUse),
            ("MAX_TOKENS", true, StopReason::MaxTokens),
            ("SAFETY", false, StopReason::Refused),
            ("RECITATION", false, StopReason::Refused),
            ("LANGUAGE", false, StopReason::Refused),
            ("BLOCKLIST", false, StopReason::Refused),
            ("PROHIBITED_CONTENT", false, StopReason::Refused),
            ("SPII", false, StopReason::Refused),
            ("IMAGE_SAFETY", false, StopReason::Refused),
            (
                "MALFORMED_FUNCTION_CALL",
                false,
                StopReason::Failed("MALFORMED_FUNCTION_CALL".into()),
            ),
            ("OTHER", false, StopReason::Failed("OTHER".into())),
            ("NEW", true, StopReason::Failed("NEW".into())),
        ] {
            assert_eq!(finish_reason(word, has_calls), expected, "{word}");
        }
    }
}

#[cfg(test)]
mod usage_tests {
    use serde_json::json;

    use super::*;

    // Shows: framework/models/usage-of-providers
    #[test]
    fn overlapping_token_counts_are_counted_once() {
        let mut usage = Usage::default();
        usage.update(&json!({"promptTokenCount": 100, "totalTokenCount": 100}));
        usage.update(&json!({
            "promptTokenCount": 100, "cachedContentTokenCount": 20, "candidatesTokenCount": 10,
            "thoughtsTokenCount": 3, "toolUsePromptTokenCount": 7, "totalTokenCount": 120,
        }));

        let expected = TokenUsage {
            input: 87,
            output: 10,
            cache_read: 20,
            cache_write: 0,
            reasoning: 3,
        };
        assert_eq!(usage.tokens(), expected);
        assert_eq!(usage.tokens().total(), 120);
    }

    #[test]
    fn nonsense_counts_for_nothing() {
        let mut usage = Usage::default();
        usage.update(&json!({"promptTokenCount": -1, "cachedContentTokenCount": 9}));
        usage.update(&Value::Null);

        assert_eq!(usage.tokens(), TokenUsage::default());
    }
}
