//! [`ChatDecoder`]: decoder of streamed chunks.

use serde_json::{Map, Value, json};

use super::PROTOCOL;
use super::calls::{Calls, OutputEnd};
use super::reasoning::{Reasoning, append};
use crate::contract::{
    AssistantMessage, CallUsage, MessagePart, ModelError, ModelErrorCode, ModelEvent, ModelReply,
    StopReason,
};
use crate::wire::openai::{ApiError, Counts, Frame, incomplete_answer, invalid_response};
use crate::wire::{Decoder, ServerEvent};

/// Decodes one answer.
///
/// The answer is complete when the service has sent a finish reason. Later data, such as token
/// counts, is read up to `[DONE]`.
#[derive(Debug, Default)]
pub(super) struct ChatDecoder {
    text: String,
    refusal: String,
    thoughts: Reasoning,
    calls: Calls,
    /// Unknown fields, in their original form.
    others: Map<String, Value>,
    /// Complete if it was reported after the finish reason.
    usage: CallUsage,
    id: String,
    model: Option<String>,
    reason: Option<String>,
    done: bool,
}

impl Decoder for ChatDecoder {
    fn push(&mut self, event: &ServerEvent, news: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if self.done {
            return Ok(());
        }
        match Frame::read(event) {
            Frame::Nothing => Ok(()),
            Frame::Object(chunk) => self.chunk(&chunk, news),
            Frame::Invalid => Err(invalid_response(
                "an event that is not valid JSON",
                self.usage.known(),
            )),
            // Without a finish reason, the answer is incomplete.
            Frame::Done if self.reason.is_none() => Err(incomplete_answer(self.usage.known())),
            Frame::Done => {
                self.done = true;
                Ok(())
            }
        }
    }

    fn is_complete(&self) -> bool {
        self.done
    }

    fn finish(self: Box<Self>) -> Result<ModelReply, ModelError> {
        let usage = self.usage;
        let Some(reason) = self.reason else {
            return Err(incomplete_answer(usage.known()));
        };
        let written = match reason.as_str() {
            "length" => OutputEnd::Cut,
            _ => OutputEnd::Complete,
        };
        let refuses = !self.refusal.is_empty();
        let field = |name: &str, text: String| {
            let item = json!({name: &text});
            (!text.is_empty()).then(|| MessagePart::text(text).with_wire(PROTOCOL, item))
        };
        let mut parts: Vec<MessagePart> = self.thoughts.into_part().into_iter().collect();
        parts.extend(field("content", self.text));
        parts.extend(field("refusal", self.refusal));
        let calls = self.calls.into_parts(written);
        parts.extend(calls.map_err(|what| invalid_response(what, usage.known()))?);
        let others = self.others.into_iter();
        parts.extend(others.map(|(field, value)| {
            MessagePart::opaque().with_wire(PROTOCOL, json!({field: value}))
        }));
        let message = AssistantMessage::new(parts);
        let stop = stop(reason, refuses, message.calls().next().is_some());
        Ok(ModelReply::new(message)
            .with_stop(stop)
            .with_usage(usage)
            .with_model(self.model)
            .with_id((!self.id.is_empty()).then_some(self.id)))
    }
}

impl ChatDecoder {
    fn chunk(&mut self, chunk: &Value, news: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if let Some(id) = chunk["id"].as_str() {
            self.id = id.into();
        }
        if let Some(model) = chunk["model"].as_str() {
            self.model = Some(model.into());
        }
        let counts = Counts::read(&chunk["usage"], "prompt_tokens", "completion_tokens");
        let tokens = counts.map(Counts::usage);
        if let Some(tokens) = tokens.filter(|tokens| *tokens != self.usage.known()) {
            news.push(ModelEvent::Used(tokens));
        }
        self.usage = tokens.map_or(self.usage, CallUsage::AtLeast);
        if !chunk["error"].is_null() {
            let fault = ApiError::read(chunk).unwrap_or_default();
            return Err(fault.into_stream_error(self.usage.known()));
        }
        let choices = chunk["choices"].as_array().into_iter().flatten();
        // Requests ask for one answer only.
        for choice in choices.filter(|choice| choice["index"].as_u64().unwrap_or(0) == 0) {
            self.delta(&choice["delta"], news)?;
            if let Some(reason) = choice["finish_reason"].as_str() {
                self.stopped(reason)?;
            }
        }
        if let (Some(tokens), Some(_)) = (tokens, &self.reason) {
            self.usage = CallUsage::Complete(tokens);
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Value, news: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let words = self.thoughts.push(delta);
        if !words.is_empty() {
            news.push(ModelEvent::Thinking(words));
        }
        for (field, value) in delta.as_object().into_iter().flatten() {
            match (field.as_str(), value) {
                (_, Value::Null) | ("role", _) => {}
                ("content", Value::String(more)) => push_text(&mut self.text, more, news),
                ("refusal", Value::String(more)) => push_text(&mut self.refusal, more, news),
                ("tool_calls", Value::Array(fragments)) => {
                    for fragment in fragments {
                        self.calls.push(fragment, &self.id, news);
                    }
                }
                ("content" | "refusal" | "tool_calls", _) => {
                    return Err(invalid_response(
                        "an answer in an unknown form",
                        self.usage.known(),
                    ));
                }
                (field, _) if Reasoning::is_field(field) => {}
                (field, value) => add(&mut self.others, field, value),
            }
        }
        Ok(())
    }

    fn stopped(&mut self, reason: &str) -> Result<(), ModelError> {
        match reason {
            "" => Ok(()),
            // The service aborted the answer.
            "error" | "abort" | "insufficient_system_resource" => Err(ModelError::new(
                ModelErrorCode::NetworkError,
                "the provider stopped the answer",
            )
            .with_reason(reason.to_owned())
            .with_usage(self.usage.known())),
            reason => {
                self.reason = Some(reason.into());
                Ok(())
            }
        }
    }
}

fn push_text(text: &mut String, more: &str, news: &mut Vec<ModelEvent>) {
    if !more.is_empty() {
        *text += more;
        news.push(ModelEvent::Text(more.into()));
    }
}

/// Merges an unknown field: texts and lists grow, other values are replaced.
fn add(fields: &mut Map<String, Value>, field: &str, value: &Value) {
    match (value, fields.get_mut(field)) {
        (Value::String(more), _) if !more.is_empty() => append(fields, field, more),
        (Value::Array(more), Some(Value::Array(list))) => list.extend(more.iter().cloned()),
        (Value::String(_), _) => {}
        (Value::Array(more), _) if more.is_empty() => {}
        (value, _) => {
            fields.insert(field.into(), value.clone());
        }
    }
}

/// Returns the stop reason.
fn stop(reason: String, refuses: bool, calls: bool) -> StopReason {
    match reason.as_str() {
        "stop" if refuses => StopReason::Refused,
        // Some services send `stop` also after calls.
        "stop" | "tool_calls" if calls => StopReason::ToolUse,
        "stop" => StopReason::EndTurn,
        "length" => StopReason::MaxTokens,
        "model_length" => StopReason::ContextFull,
        "content_filter" => StopReason::Refused,
        _ => StopReason::Other(reason),
    }
}
