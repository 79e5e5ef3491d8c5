//! Answers of the model piece by piece, for a host that asked for them.

use serde_json::{Value, json};

use super::{Player, Stop};

impl Player<'_> {
    /// Shows a text of the agent in two pieces.
    pub(super) fn show_text(&mut self, text: &str) -> Result<(), Stop> {
        self.begin_answer()?;
        let middle = text.char_indices().nth(text.chars().count() / 2);
        let (first, second) = text.split_at(middle.map_or(0, |(at, _)| at));
        for piece in [first, second] {
            let delta = json!({"type": "text_delta", "text": piece});
            self.show(&json!({"type": "content_block_delta", "index": 0, "delta": delta}))?;
        }
        Ok(())
    }

    /// Shows a thought of the agent.
    pub(super) fn show_thinking(&mut self, text: &str) -> Result<(), Stop> {
        self.begin_answer()?;
        let delta = json!({"type": "thinking_delta", "thinking": text});
        self.show(&json!({"type": "content_block_delta", "index": 0, "delta": delta}))
    }

    /// Shows that the agent begins a call.
    pub(super) fn show_tool_use(&mut self, id: &str, name: &str) -> Result<(), Stop> {
        self.begin_answer()?;
        let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
        self.show(&json!({"type": "content_block_start", "index": 0, "content_block": block}))
    }

    /// Ends the answer that is under way, which used so much.
    pub(super) fn end_answer(&mut self, reason: &str, tokens: (u64, u64)) -> Result<(), Stop> {
        if !self.is_answering {
            return Ok(());
        }
        self.is_answering = false;
        let usage = json!({"input_tokens": tokens.0, "output_tokens": tokens.1});
        let delta = json!({"stop_reason": reason});
        self.show(&json!({"type": "message_delta", "usage": usage, "delta": delta}))?;
        self.show(&json!({"type": "message_stop"}))
    }

    /// Begins an answer, unless one is under way.
    pub(super) fn begin_answer(&mut self) -> Result<(), Stop> {
        if self.is_answering || !self.asked.pieces {
            return Ok(());
        }
        self.is_answering = true;
        let (id, model) = (self.message_id(), self.asked.model.clone());
        let message = json!({"id": id, "model": model, "role": "assistant", "content": []});
        self.show(&json!({"type": "message_start", "message": message}))
    }

    fn show(&mut self, event: &Value) -> Result<(), Stop> {
        if !self.asked.pieces {
            return Ok(());
        }
        let uuid = self.fresh_id();
        let line = json!({
            "type": "stream_event",
            "event": event,
            "session_id": self.session,
            "parent_tool_use_id": null,
            "uuid": uuid,
        });
        self.say(&line)
    }
}
