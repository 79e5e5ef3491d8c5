//! Calls of the model, as far as the program shows them.

use std::collections::BTreeMap;

use autonoe_core::{
    Events, Failure, ModelAnswer, ModelAsked, ModelCall, ModelMessages, ModelPart, TokenUsage,
};
use serde_json::json;

use crate::wire::{AnswerPiece, Message, PieceKind};

/// Shows observers each call of the model, piece by piece.
///
/// The program does not say what it asks the model. Sub-agents answer at the same time as the main
/// agent; their calls are below the calls that started them.
///
/// ```
/// use autonoe_claude::events::ModelCalls;
/// use autonoe_claude::wire::Line;
/// use autonoe_core::Events;
///
/// let mut calls = ModelCalls::new(Events::silent());
/// let line = Line::from_text(r#"{"type":"stream_event","event":{"type":"message_start"}}"#)?;
///
/// calls.observe(&line.read());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ModelCalls {
    events: Events,
    /// The open calls, by the call of a tool that started the sub-agent.
    open: BTreeMap<Option<String>, OpenCall>,
}

#[derive(Debug)]
struct OpenCall {
    call: ModelCall,
    id: Option<String>,
    stop_reason: Option<String>,
    text: String,
    tools: usize,
    tokens: TokenUsage,
}

impl ModelCalls {
    /// Shows them to those who watch a session through `events`.
    pub fn new(events: Events) -> Self {
        Self {
            events,
            open: BTreeMap::new(),
        }
    }

    /// Takes note of `message`.
    pub fn observe(&mut self, message: &Message<'_>) {
        match message {
            Message::Answer(piece) => self.piece(piece),
            // An answer of the main agent without an end gets none any more.
            Message::Result(_) => drop(self.open.remove(&None)),
            _ => {}
        }
    }

    fn piece(&mut self, piece: &AnswerPiece<'_>) {
        let agent = piece.parent_tool_use_id.as_deref().map(str::to_owned);
        if let PieceKind::Started { model, id } = &piece.kind {
            self.cut_off(&agent);
            let mut call = self.begin(agent.as_deref(), model.as_deref());
            call.id = id.as_deref().map(str::to_owned);
            self.open.insert(agent, call);
            return;
        }
        if piece.kind == PieceKind::Ended {
            if let Some(open) = self.open.remove(&agent) {
                open.end();
            }
            return;
        }
        let Some(open) = self.open.get_mut(&agent) else {
            return;
        };
        match &piece.kind {
            PieceKind::Text(text) => {
                open.text.push_str(text);
                open.call.chunk(ModelPart::Text, text);
            }
            PieceKind::Thinking(text) => open.call.chunk(ModelPart::Thinking, text),
            PieceKind::ToolUse => open.tools += 1,
            PieceKind::Stopped { tokens, reason } => {
                open.tokens = *tokens;
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
        let asked = ModelAsked::new(model.unwrap_or("unknown"), ModelMessages::new(0, &unknown));
        OpenCall {
            call: events.model_call(&asked),
            id: None,
            stop_reason: None,
            text: String::new(),
            tools: 0,
            tokens: TokenUsage::default(),
        }
    }

    /// Ends the call of an agent whose answer came to no end.
    fn cut_off(&mut self, agent: &Option<String>) {
        if let Some(open) = self.open.remove(agent) {
            let error = Failure::retryable("model_failed", "the answer came to no end");
            open.call.failed(&error, open.tokens);
        }
    }
}

impl OpenCall {
    fn end(self) {
        let mut answer = ModelAnswer::new(&self.text, self.tokens).with_tool_calls(self.tools);
        answer.id = self.id.as_deref();
        answer.stop_reason = self.stop_reason.as_deref();
        self.call.ended(&answer);
    }
}
