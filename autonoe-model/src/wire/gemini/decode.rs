//! [`ContentDecoder`]: decoder of streamed chunks and the parts of an answer.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use autonoe_core::agent::TokenUsage;
use serde_json::Value;

use super::{PROTOCOL, error};
use crate::contract::{
    AssistantMessage, CallUsage, MessagePart, ModelError, ModelEvent, ModelReply, StopReason,
};
use crate::wire::{Decoder, ServerEvent, incomplete_answer, invalid_response, parse_event};

/// Decodes one answer.
#[derive(Debug)]
pub(super) struct ContentDecoder {
    unnamed_answers: Arc<AtomicU64>,
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
    pub(super) fn new(unnamed_answers: Arc<AtomicU64>) -> Self {
        Self {
            unnamed_answers,
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

    fn take_chunk(&mut self, chunk: &Value, new_events: &mut Vec<ModelEvent>) -> Option<()> {
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
                let (id, unnamed_answers) = (&self.id, &self.unnamed_answers);
                let new_id = |number| {
                    let prefix = prefix.get_or_insert_with(|| call_prefix(id, unnamed_answers));
                    format!("{prefix}-{number}")
                };
                self.parts.push(part, new_id, new_events)?;
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
            new_events.push(ModelEvent::Usage(self.usage.tokens()));
        }
        Some(())
    }
}

/// Returns the prefix of generated call IDs, because the API assigns none.
fn call_prefix(id: &Option<String>, unnamed_answers: &AtomicU64) -> String {
    match id {
        Some(id) => format!("call-{id}"),
        None => format!("call-{}", unnamed_answers.fetch_add(1, Ordering::Relaxed)),
    }
}

impl Decoder for ContentDecoder {
    fn push(
        &mut self,
        event: &ServerEvent,
        new_events: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        let chunk = parse_event(event, self.usage.tokens())?;
        if let Some(error) = error::from_event(&chunk) {
            return Err(error.with_usage(self.usage.tokens()));
        }
        self.take_chunk(&chunk, new_events).ok_or_else(|| {
            invalid_response("an answer part that is not valid", self.usage.tokens())
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
            None => return Err(incomplete_answer(tokens)),
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
    thinking: u64,
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
            (&mut self.thinking, &report["thoughtsTokenCount"]),
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
            reasoning: self.thinking,
        }
    }
}

/// Parts so far.
#[derive(Debug, Default)]
pub(super) struct Parts {
    parts: Vec<ReceivedPart>,
}

/// A part, with its call ID if it is a call.
#[derive(Debug)]
struct ReceivedPart {
    item: Value,
    call_id: Option<String>,
}

impl Parts {
    /// Adds the next part; `None` if it is invalid. `new_id` generates the ID of a call without
    /// one.
    pub(super) fn push(
        &mut self,
        item: &Value,
        new_id: impl FnOnce(usize) -> String,
        new_events: &mut Vec<ModelEvent>,
    ) -> Option<()> {
        let fields = item.as_object()?;
        if let Some(call) = fields.get("functionCall") {
            let name = call["name"].as_str()?.to_owned();
            let id = match call["id"].as_str().filter(|id| !id.is_empty()) {
                Some(id) => id.to_owned(),
                None => new_id(self.calls()),
            };
            let call_id = Some(id.clone());
            new_events.push(ModelEvent::ToolCall { id, name });
            self.parts.push(ReceivedPart {
                item: item.clone(),
                call_id,
            });
            return Some(());
        }
        if let Some(text) = fields.get("text") {
            let text = text.as_str()?;
            if !text.is_empty() {
                new_events.push(if is_thought(item) {
                    ModelEvent::Thinking(text.to_owned())
                } else {
                    ModelEvent::Text(text.to_owned())
                });
            }
            if is_plain(item) {
                return self.add_text(item, text);
            }
        }
        self.parts.push(ReceivedPart {
            item: item.clone(),
            call_id: None,
        });
        Some(())
    }

    /// Appends a piece of text to the text before it. Signed parts stay separate, as the
    /// documentation requires.
    fn add_text(&mut self, item: &Value, text: &str) -> Option<()> {
        let last = self.parts.last_mut().map(|part| &mut part.item);
        let same = last.filter(|last| is_plain(last) && is_thought(last) == is_thought(item));
        match same.and_then(|last| last.get_mut("text")) {
            Some(Value::String(whole)) => whole.push_str(text),
            // An empty text is not a part.
            _ if text.is_empty() => {}
            _ => self.parts.push(ReceivedPart {
                item: item.clone(),
                call_id: None,
            }),
        }
        Some(())
    }

    /// Returns the number of calls.
    pub(super) fn calls(&self) -> usize {
        self.parts
            .iter()
            .filter(|part| part.call_id.is_some())
            .count()
    }

    pub(super) fn into_parts(self) -> impl Iterator<Item = MessagePart> {
        self.parts.into_iter().map(ReceivedPart::into_part)
    }
}

impl ReceivedPart {
    fn into_part(self) -> MessagePart {
        let Self { item, call_id } = self;
        let part = match (call_id, item["text"].as_str()) {
            (Some(id), _) => {
                let call = &item["functionCall"];
                let args = match &call["args"] {
                    // Calls of tools without parameters may omit the arguments.
                    Value::Null => Value::Object(serde_json::Map::new()),
                    args => args.clone(),
                };
                MessagePart::tool_call(id, call["name"].as_str().unwrap_or_default(), args)
            }
            (None, Some(text)) if is_thought(&item) => MessagePart::thinking(text),
            (None, Some(text)) => MessagePart::text(text),
            (None, None) => MessagePart::opaque(),
        };
        part.with_wire(PROTOCOL, item)
    }
}

fn is_thought(item: &Value) -> bool {
    item["thought"] == true
}

/// Returns whether a part consists of text only.
fn is_plain(item: &Value) -> bool {
    let is_known = |name: &String| name == "text" || name == "thought";
    let fields = item.as_object();
    item["text"].is_string() && fields.is_some_and(|fields| fields.keys().all(is_known))
}

#[cfg(test)]
mod stop_tests {
    use super::*;

    #[test]
    fn every_stop_reason_is_known_and_others_are_preserved() {
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
    fn ignores_malformed_token_counts() {
        let mut usage = Usage::default();
        usage.update(&json!({"promptTokenCount": -1, "cachedContentTokenCount": 9}));
        usage.update(&Value::Null);

        assert_eq!(usage.tokens(), TokenUsage::default());
    }
}
