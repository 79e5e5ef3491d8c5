//! From the events of the service to an answer.

use std::collections::BTreeMap;

use autonoe_core::TokenUsage;
use serde_json::Value;

use super::open_item::{Ended, OpenItem};
use crate::contract::{
    AssistantMessage, CallUsage, ModelError, ModelErrorCode, ModelEvent, ModelReply, StopReason,
};
use crate::wire::openai::{Counts, Fault, Frame, broke_off, nonsense};
use crate::wire::{Decoder, ServerEvent};

/// Reads one answer.
#[derive(Debug, Default)]
pub(super) struct ResponsesDecoder {
    items: BTreeMap<u64, OpenItem>,
    /// Told if it came with the end.
    usage: CallUsage,
    id: Option<String>,
    model: Option<String>,
    end: Option<End>,
}

/// How the service ended the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
enum End {
    Completed,
    Incomplete(Option<String>),
}

impl Decoder for ResponsesDecoder {
    fn take(&mut self, event: &ServerEvent, news: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if self.end.is_some() {
            return Ok(());
        }
        let data = match Frame::read(event) {
            Frame::Object(data) => data,
            // The end of this protocol is another; this one is that of proxies.
            Frame::Nothing | Frame::Done => return Ok(()),
            Frame::Nonsense => {
                return Err(nonsense("an event that is no JSON", self.usage.known()));
            }
        };
        let kind = data["type"].as_str().unwrap_or(&event.name);
        let delta = data["delta"].as_str().unwrap_or_default();
        match kind {
            "response.created" | "response.queued" | "response.in_progress" => {
                let before = self.usage;
                self.note(&data["response"], CallUsage::AtLeast);
                if self.usage != before {
                    news.push(ModelEvent::Used(self.usage.known()));
                }
            }
            "response.output_item.added" => self.item(&data).begin(&data["item"], news),
            "response.output_text.delta" => self.item(&data).say(delta, news),
            "response.refusal.delta" => {
                let item = self.item(&data);
                item.refuse();
                item.say(delta, news);
            }
            "response.reasoning_summary_part.added" => self.item(&data).think_on(news),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.item(&data).think(delta, news);
            }
            "response.function_call_arguments.delta" => self.item(&data).call_with(delta),
            "response.output_item.done" => self.done(&data, news)?,
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.finished(kind, &data["response"], news)?;
            }
            "error" => {
                let fault = Fault::read(&data).unwrap_or_default();
                return Err(fault.in_stream(self.usage.known()));
            }
            // There are many more events, and there will be others: none of them is needed.
            _ => {}
        }
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.end.is_some()
    }

    fn finish(self: Box<Self>) -> Result<ModelReply, ModelError> {
        let Some(end) = self.end else {
            return Err(broke_off(self.usage.known()));
        };
        let refuses = self.items.values().any(OpenItem::refuses);
        let ended = match &end {
            End::Completed => Ended::Whole,
            End::Incomplete(_) => Ended::Cut,
        };
        let items = self.items.into_values();
        let message = AssistantMessage::new(items.filter_map(|item| item.into_part(ended)));
        let reply = ModelReply::new(message)
            .with_usage(self.usage)
            .with_model(self.model)
            .with_id(self.id);
        Ok(match end {
            End::Completed if refuses => reply.with_stop(StopReason::Refused),
            // It waits for the results of its calls, or has said all.
            End::Completed => reply,
            End::Incomplete(reason) => reply.with_stop(stop(reason)),
        })
    }
}

impl ResponsesDecoder {
    /// Returns the item that an event is about. One that does not say so is about the item that
    /// is open, or else about the next.
    fn item(&mut self, data: &Value) -> &mut OpenItem {
        let index = data["output_index"].as_u64();
        let index = index.unwrap_or_else(|| match self.items.last_key_value() {
            Some((last, item)) if item.is_done() => last.saturating_add(1),
            Some((last, _)) => *last,
            None => 0,
        });
        self.items.entry(index).or_default()
    }

    fn done(&mut self, data: &Value, news: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let usage = self.usage.known();
        let item = &data["item"];
        if !item.is_object() {
            return Err(nonsense("an item that is none", usage));
        }
        let ended = self.item(data).end(item, news);
        ended.map_err(|what| nonsense(what, usage))
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
        news: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        // What was counted before is not all of it.
        self.note(response, CallUsage::Told);
        let end = match (kind, response["status"].as_str()) {
            ("response.failed", _) | (_, Some("failed")) => {
                let fault = Fault::read(&response["error"]).unwrap_or_default();
                return Err(fault.in_stream(self.usage.known()));
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
        self.fill_gaps(&response["output"], news)?;
        self.end = Some(end);
        Ok(())
    }

    /// Takes items that were never said to be done from the whole answer, where it is told again.
    fn fill_gaps(&mut self, output: &Value, news: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let output = output.as_array().into_iter().flatten().zip(0..);
        for (item, index) in output.filter(|(item, _)| item.is_object()) {
            let open = self.items.entry(index).or_default();
            if !open.is_done() {
                let ended = open.end(item, news);
                ended.map_err(|what| nonsense(what, self.usage.known()))?;
            }
        }
        Ok(())
    }
}

/// Says why an answer is not complete.
fn stop(reason: Option<String>) -> StopReason {
    match reason.as_deref() {
        Some("max_output_tokens") => StopReason::MaxTokens,
        Some("content_filter") => StopReason::Refused,
        // It is not what the model wanted to say.
        _ => StopReason::Failed(reason.unwrap_or_else(|| "incomplete".into())),
    }
}
