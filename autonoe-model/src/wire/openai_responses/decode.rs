//! [`ResponsesDecoder`]: decoder of streamed events.

use std::collections::BTreeMap;

use autonoe_core::agent::TokenUsage;
use serde_json::Value;

use super::item::{AnswerEnd, OpenItem};
use crate::contract::{
    AssistantMessage, CallUsage, ModelError, ModelErrorCode, ModelEvent, ModelReply, StopReason,
};
use crate::wire::openai::{ApiError, Counts, Frame};
use crate::wire::{Decoder, ServerEvent, incomplete_answer, invalid_response};

/// Decodes one answer.
#[derive(Debug, Default)]
pub(super) struct ResponsesDecoder {
    items: BTreeMap<u64, OpenItem>,
    /// Complete if it came with the end.
    usage: CallUsage,
    id: Option<String>,
    model: Option<String>,
    end: Option<End>,
}

/// End of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
enum End {
    Completed,
    Incomplete(Option<String>),
}

impl Decoder for ResponsesDecoder {
    fn push(
        &mut self,
        event: &ServerEvent,
        new_events: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        if self.end.is_some() {
            return Ok(());
        }
        let data = match Frame::read(event) {
            Frame::Object(data) => data,
            // This protocol has a different end; proxies send this one.
            Frame::Nothing | Frame::Done => return Ok(()),
            Frame::Invalid => {
                return Err(invalid_response(
                    "an event that is not valid JSON",
                    self.usage.known(),
                ));
            }
        };
        let kind = data["type"].as_str().unwrap_or(&event.name);
        let delta = data["delta"].as_str().unwrap_or_default();
        match kind {
            "response.created" | "response.queued" | "response.in_progress" => {
                let before = self.usage;
                self.note(&data["response"], CallUsage::AtLeast);
                if self.usage != before {
                    new_events.push(ModelEvent::Usage(self.usage.known()));
                }
            }
            "response.output_item.added" => self.item(&data).start(&data["item"], new_events),
            "response.output_text.delta" => self.item(&data).push_text(delta, new_events),
            "response.refusal.delta" => {
                let item = self.item(&data);
                item.mark_refusal();
                item.push_text(delta, new_events);
            }
            "response.reasoning_summary_part.added" => self.item(&data).start_paragraph(new_events),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.item(&data).push_reasoning(delta, new_events);
            }
            "response.function_call_arguments.delta" => self.item(&data).push_arguments(delta),
            "response.output_item.done" => self.done(&data, new_events)?,
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.finished(kind, &data["response"], new_events)?;
            }
            "error" => {
                let fault = ApiError::read(&data).unwrap_or_default();
                return Err(fault.into_stream_error(self.usage.known()));
            }
            // Other events, including future ones, are not needed.
            _ => {}
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.end.is_some()
    }

    fn finish(self: Box<Self>) -> Result<ModelReply, ModelError> {
        let Some(end) = self.end else {
            return Err(incomplete_answer(self.usage.known()));
        };
        let refuses = self.items.values().any(OpenItem::refuses);
        let ended = match &end {
            End::Completed => AnswerEnd::Complete,
            End::Incomplete(_) => AnswerEnd::Cut,
        };
        let items = self.items.into_values();
        let message = AssistantMessage::new(items.filter_map(|item| item.into_part(ended)));
        let reply = ModelReply::new(message)
            .with_usage(self.usage)
            .with_model(self.model)
            .with_id(self.id);
        Ok(match end {
            End::Completed if refuses => reply.with_stop(StopReason::Refused),
            // The model waits for the results of its calls, or has finished.
            End::Completed => reply,
            End::Incomplete(reason) => reply.with_stop(stop(reason)),
        })
    }
}

impl ResponsesDecoder {
    /// Returns the item of an event. An event without an index belongs to the open item, or else to
    /// the next one.
    fn item(&mut self, data: &Value) -> &mut OpenItem {
        let index = data["output_index"].as_u64();
        let index = index.unwrap_or_else(|| match self.items.last_key_value() {
            Some((last, item)) if item.is_done() => last.saturating_add(1),
            Some((last, _)) => *last,
            None => 0,
        });
        self.items.entry(index).or_default()
    }

    fn done(&mut self, data: &Value, new_events: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let usage = self.usage.known();
        let item = &data["item"];
        if !item.is_object() {
            return Err(invalid_response("an item that is not valid", usage));
        }
        let ended = self.item(data).finish(item, new_events);
        ended.map_err(|problem| invalid_response(problem, usage))
    }

    fn note(&mut self, response: &Value, usage: impl FnOnce(TokenUsage) -> CallUsage) {
        let text = |value: &Value| value.as_str().map(Into::into);
        self.id = text(&response["id"]).or(self.id.take());
        self.model = text(&response["model"]).or(self.model.take());
        let counts = Counts::read(&response["usage"], "input_tokens", "output_tokens");
        self.usage = counts.map_or(self.usage, |counts| usage(counts.usage()));
    }

    fn finished(
        &mut self,
        kind: &str,
        response: &Value,
        new_events: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        // Earlier counts are incomplete.
        self.note(response, CallUsage::Complete);
        let end = match (kind, response["status"].as_str()) {
            ("response.failed", _) | (_, Some("failed")) => {
                let fault = ApiError::read(&response["error"]).unwrap_or_default();
                return Err(fault.into_stream_error(self.usage.known()));
            }
            (_, Some("cancelled")) => {
                let stopped = "the provider stopped the answer";
                return Err(ModelError::new(ModelErrorCode::NetworkError, stopped)
                    .with_reason("cancelled".to_owned())
                    .with_usage(self.usage.known()));
            }
            ("response.incomplete", _) | (_, Some("incomplete")) => {
                let reason = response["incomplete_details"]["reason"].as_str();
                End::Incomplete(reason.map(Into::into))
            }
            _ => End::Completed,
        };
        self.fill_gaps(&response["output"], new_events)?;
        self.end = Some(end);
        Ok(())
    }

    /// Takes items that were never marked as done from the complete answer at the end, if it has
    /// one.
    fn fill_gaps(
        &mut self,
        output: &Value,
        new_events: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        let output = output.as_array().into_iter().flatten().zip(0..);
        for (item, index) in output.filter(|(item, _)| item.is_object()) {
            let open = self.items.entry(index).or_default();
            if !open.is_done() {
                let ended = open.finish(item, new_events);
                ended.map_err(|problem| invalid_response(problem, self.usage.known()))?;
            }
        }
        Ok(())
    }
}

/// Returns the stop reason of an incomplete answer.
fn stop(reason: Option<String>) -> StopReason {
    match reason.as_deref() {
        Some("max_output_tokens") => StopReason::MaxTokens,
        Some("content_filter") => StopReason::Refused,
        // This is not the answer that the model intended.
        _ => StopReason::Failed(reason.unwrap_or_else(|| "incomplete".into())),
    }
}
