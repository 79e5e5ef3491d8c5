//! [`ChatDecoder`]: decoder of streamed chunks, with tool calls assembled from fragments.

use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::PROTOCOL;
use super::reasoning::{StreamedThinking, append};
use crate::contract::{
    AssistantMessage, CallUsage, MessagePart, ModelError, ModelErrorCode, ModelEvent, ModelReply,
    StopReason,
};
use crate::wire::openai::{ApiError, Counts, Frame, read_arguments};
use crate::wire::{Decoder, ServerEvent, incomplete_answer, invalid_response};

/// Decodes one answer.
///
/// The answer is complete when the service has sent a finish reason. Later data, such as token
/// counts, is read up to `[DONE]`.
#[derive(Debug, Default)]
pub(super) struct ChatDecoder {
    text: String,
    refusal: String,
    thinking: StreamedThinking,
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
    fn push(
        &mut self,
        event: &ServerEvent,
        new_events: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        if self.done {
            return Ok(());
        }
        match Frame::read(event) {
            Frame::Nothing => Ok(()),
            Frame::Object(chunk) => self.chunk(&chunk, new_events),
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
        let mut parts: Vec<MessagePart> = self.thinking.into_part().into_iter().collect();
        parts.extend(field("content", self.text));
        parts.extend(field("refusal", self.refusal));
        let calls = self.calls.into_parts(written);
        parts.extend(calls.map_err(|problem| invalid_response(problem, usage.known()))?);
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
    fn chunk(&mut self, chunk: &Value, new_events: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if let Some(id) = chunk["id"].as_str() {
            self.id = id.into();
        }
        if let Some(model) = chunk["model"].as_str() {
            self.model = Some(model.into());
        }
        let counts = Counts::read(&chunk["usage"], "prompt_tokens", "completion_tokens");
        let tokens = counts.map(Counts::usage);
        if let Some(tokens) = tokens.filter(|tokens| *tokens != self.usage.known()) {
            new_events.push(ModelEvent::Usage(tokens));
        }
        self.usage = tokens.map_or(self.usage, CallUsage::AtLeast);
        if !chunk["error"].is_null() {
            let fault = ApiError::read(chunk).unwrap_or_default();
            return Err(fault.into_stream_error(self.usage.known()));
        }
        let choices = chunk["choices"].as_array().into_iter().flatten();
        // Requests ask for one answer only.
        for choice in choices.filter(|choice| choice["index"].as_u64().unwrap_or(0) == 0) {
            self.delta(&choice["delta"], new_events)?;
            if let Some(reason) = choice["finish_reason"].as_str() {
                self.stopped(reason)?;
            }
        }
        if let (Some(tokens), Some(_)) = (tokens, &self.reason) {
            self.usage = CallUsage::Complete(tokens);
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Value, new_events: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let words = self.thinking.push(delta);
        if !words.is_empty() {
            new_events.push(ModelEvent::Thinking(words));
        }
        for (field, value) in delta.as_object().into_iter().flatten() {
            match (field.as_str(), value) {
                (_, Value::Null) | ("role", _) => {}
                ("content", Value::String(more)) => push_text(&mut self.text, more, new_events),
                ("refusal", Value::String(more)) => push_text(&mut self.refusal, more, new_events),
                ("tool_calls", Value::Array(fragments)) => {
                    for fragment in fragments {
                        self.calls.push(fragment, &self.id, new_events);
                    }
                }
                ("content" | "refusal" | "tool_calls", _) => {
                    return Err(invalid_response(
                        "an answer in an unknown form",
                        self.usage.known(),
                    ));
                }
                (field, _) if StreamedThinking::is_field(field) => {}
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

fn push_text(text: &mut String, more: &str, new_events: &mut Vec<ModelEvent>) {
    if !more.is_empty() {
        *text += more;
        new_events.push(ModelEvent::Text(more.into()));
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

/// Tool calls whose fragments may be interleaved.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
}

#[derive(Clone, Debug, Default)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// Other fields, for example a signature.
    rest: Map<String, Value>,
    is_emitted: bool,
}

/// Whether the model finished its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputEnd {
    /// The output is complete.
    Complete,
    /// The output was cut.
    Cut,
}

impl Calls {
    /// Processes a fragment of the answer with the ID `answer`.
    pub(super) fn push(
        &mut self,
        fragment: &Value,
        answer: &str,
        new_events: &mut Vec<ModelEvent>,
    ) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let function = &fragment["function"];
        let id = text(&fragment["id"]);
        let generated_id = format!(
            "{}-{}",
            if answer.is_empty() { "call" } else { answer },
            self.calls.len()
        );
        let name = text(&function["name"]);
        let call = self.call(fragment["index"].as_u64(), &id, &name);
        if call.id.is_empty() {
            call.id = if id.is_empty() { generated_id } else { id };
        }
        if call.name.is_empty() {
            call.name = name;
        }
        match &function["arguments"] {
            Value::String(more) => call.arguments += more,
            // Not in the specification, but sent by some services: arguments as an object.
            whole @ Value::Object(_) => call.arguments = whole.to_string(),
            _ => {}
        }
        let known = ["index", "id", "function"];
        let rest = fragment
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(field, value)| !known.contains(&field.as_str()) && !value.is_null());
        call.rest
            .extend(rest.map(|(field, value)| (field.clone(), value.clone())));
        if !call.is_emitted && !call.name.is_empty() {
            call.is_emitted = true;
            new_events.push(ModelEvent::ToolCall {
                id: call.id.clone(),
                name: call.name.clone(),
            });
        }
    }

    /// Finds the call of a fragment. Some services give every call the same index, or none; then a
    /// new ID starts a new call, and so does another name if there are no IDs.
    fn call(&mut self, index: Option<u64>, id: &str, name: &str) -> &mut Call {
        let found = self
            .calls
            .iter()
            .rposition(|call| match (index, call.index) {
                (Some(index), Some(its)) if index != its => false,
                _ if !id.is_empty() => call.id == id,
                _ => name.is_empty() || call.may_continue(index, name),
            });
        let at = found.unwrap_or(self.calls.len());
        if found.is_none() {
            self.calls.push(Call {
                index,
                ..Call::default()
            });
        }
        &mut self.calls[at]
    }

    /// Converts the calls into parts, in the order of the service.
    ///
    /// # Errors
    ///
    /// A call has no name. The error says so.
    pub(super) fn into_parts(
        mut self,
        written: OutputEnd,
    ) -> Result<Vec<MessagePart>, &'static str> {
        self.calls.sort_by_key(|call| call.index);
        let calls = self.calls.into_iter();
        calls.map(|call| call.into_part(written)).collect()
    }
}

impl Call {
    /// Returns whether a fragment with a name but without an ID can belong to this call: a call
    /// without a name yet, or one whose service repeats the name in every fragment.
    fn may_continue(&self, index: Option<u64>, name: &str) -> bool {
        let is_written = || serde_json::from_str::<IgnoredAny>(&self.arguments).is_ok();
        self.name.is_empty() || (index.is_some() && self.name == name && !is_written())
    }

    fn into_part(self, written: OutputEnd) -> Result<MessagePart, &'static str> {
        if self.name.is_empty() {
            return Err("a call without a name");
        }
        let input = match written {
            // An empty input of a cut call is not what the model meant.
            OutputEnd::Cut if self.arguments.trim().is_empty() => self.arguments.as_str().into(),
            _ => read_arguments(&self.arguments),
        };
        let mut item = self.rest;
        item.entry("type").or_insert_with(|| "function".into());
        item.insert("id".into(), self.id.as_str().into());
        let function = json!({"name": self.name, "arguments": self.arguments});
        item.insert("function".into(), function);
        Ok(MessagePart::tool_call(self.id, self.name, input).with_wire(PROTOCOL, item.into()))
    }
}
