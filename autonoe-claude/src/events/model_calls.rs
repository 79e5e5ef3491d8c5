//! [`ModelCalls`] of a session, as far as the program reports them.

use std::collections::BTreeMap;

use autonoe_core::agent::{ModelAnswer, ModelCall, ModelCallRequest, ModelMessages, ModelPart};
use autonoe_core::event::{Events, Failure};
use serde_json::json;

use crate::wire::{AnswerChunk, ChunkKind, Message, ReportedUsage, ResultMessage};

/// Emits events for each call of the model, chunk by chunk.
///
/// The program does not report the messages to the model. Sub-agents run concurrently with the main
/// agent; their model calls are below the tool calls that started them.
///
/// ```
/// use autonoe_claude::events::ModelCalls;
/// use autonoe_claude::wire::Line;
/// use autonoe_core::event::Events;
///
/// let mut calls = ModelCalls::new(Events::silent());
/// let line = Line::from_text(r#"{"type":"stream_event","event":{"type":"message_start"}}"#)?;
///
/// calls.observe(&line.parse());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ModelCalls {
    events: Events,
    /// The open calls, by the tool call that started the sub-agent.
    open: BTreeMap<Option<String>, OpenCall>,
}

#[derive(Debug)]
struct OpenCall {
    call: ModelCall,
    id: Option<String>,
    stop_reason: Option<String>,
    text: String,
    tools: usize,
    usage: ReportedUsage,
}

impl ModelCalls {
    /// Creates an emitter that reports to the observers of `events`.
    pub fn new(events: Events) -> Self {
        Self {
            events,
            open: BTreeMap::new(),
        }
    }

    /// Observes `message`.
    pub fn observe(&mut self, message: &Message<'_>) {
        match message {
            Message::Answer(piece) => self.piece(piece),
            Message::Result(result) => self.end_turn(result),
            _ => {}
        }
    }

    /// Ends an unfinished answer of the main agent, which ends with the turn: it was cancelled,
    /// unless the turn failed.
    fn end_turn(&mut self, result: &ResultMessage<'_>) {
        let subtype = result.subtype.as_deref().unwrap_or_default();
        let is_interrupted = subtype == "error_during_execution";
        if result.is_error.unwrap_or(subtype != "success") && !is_interrupted {
            self.fail_unfinished(&None);
        } else {
            self.open.remove(&None);
        }
    }

    fn piece(&mut self, piece: &AnswerChunk<'_>) {
        let agent = piece.parent_tool_use_id.as_deref().map(str::to_owned);
        if let ChunkKind::Started { model, id, usage } = &piece.kind {
            self.fail_unfinished(&agent);
            let mut call = self.begin(agent.as_deref(), model.as_deref());
            call.id = id.as_deref().map(str::to_owned);
            call.usage = *usage;
            self.open.insert(agent, call);
            return;
        }
        if piece.kind == ChunkKind::Ended {
            if let Some(open) = self.open.remove(&agent) {
                open.end();
            }
            return;
        }
        let Some(open) = self.open.get_mut(&agent) else {
            return;
        };
        match &piece.kind {
            ChunkKind::Text(text) => {
                open.text.push_str(text);
                open.call.chunk(ModelPart::Text, text);
            }
            ChunkKind::Thinking(text) => open.call.chunk(ModelPart::Thinking, text),
            ChunkKind::ToolUse => open.tools += 1,
            ChunkKind::Stopped { usage, reason } => {
                open.usage.update(*usage);
                open.stop_reason = reason.as_deref().map(str::to_owned);
            }
            _ => {}
        }
    }

    fn begin(&self, agent: Option<&str>, model: Option<&str>) -> OpenCall {
        let events = match agent {
            Some(call) => self.events.at_call(call),
            None => self.events.clone(),
        };
        let unknown = || json!([]);
        let request =
            ModelCallRequest::new(model.unwrap_or("unknown"), ModelMessages::new(0, &unknown));
        OpenCall {
            call: events.model_call(&request),
            id: None,
            stop_reason: None,
            text: String::new(),
            tools: 0,
            usage: ReportedUsage::default(),
        }
    }

    /// Fails the call of an agent whose answer did not end.
    fn fail_unfinished(&mut self, agent: &Option<String>) {
        if let Some(open) = self.open.remove(agent) {
            let error = Failure::retryable("model_failed", "the answer was never finished");
            open.call.failed(&error, open.usage.tokens());
        }
    }
}

impl OpenCall {
    fn end(self) {
        let mut answer =
            ModelAnswer::new(&self.text, self.usage.tokens()).with_tool_calls(self.tools);
        answer.id = self.id.as_deref();
        answer.stop_reason = self.stop_reason.as_deref();
        self.call.ended(&answer);
    }
}
