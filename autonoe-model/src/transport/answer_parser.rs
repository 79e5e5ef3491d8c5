//! [`AnswerParser`]: incremental parser of a streamed answer.

use serde::de::IgnoredAny;

use super::sse::SseParser;
use crate::contract::{ModelError, ModelErrorCode, ModelEvent, ModelReply};
use crate::wire::{Decoder, ServerEvent};

/// An answer that is being parsed. Performs no I/O.
pub(super) struct AnswerParser {
    framer: SseParser,
    decoder: Box<dyn Decoder>,
    has_events: bool,
}

/// Progress of the answer.
pub(super) enum ParseProgress {
    /// More data is expected.
    More(AnswerParser),
    /// The answer is complete.
    Complete(Box<ModelReply>),
}

impl AnswerParser {
    pub(super) fn new(decoder: Box<dyn Decoder>) -> Self {
        Self {
            framer: SseParser::default(),
            decoder,
            has_events: false,
        }
    }

    /// Parses the next bytes, and appends events to `new_events`, even if the bytes end in an error.
    pub(super) fn push(
        mut self,
        bytes: &[u8],
        new_events: &mut Vec<ModelEvent>,
    ) -> Result<ParseProgress, ModelError> {
        let framed = self.framer.push(bytes);
        while let Some(event) = self.framer.next_event() {
            self.take_event(&event, new_events)?;
            if self.decoder.is_complete() {
                return Ok(ParseProgress::Complete(Box::new(self.decoder.finish()?)));
            }
        }
        match framed {
            Ok(()) => Ok(ParseProgress::More(self)),
            Err(error) => {
                let error = ModelError::new(ModelErrorCode::InvalidResponse, error.to_string());
                Err(error.with_usage(self.known()))
            }
        }
    }

    /// Finishes after the regular end of the body.
    pub(super) fn finish(
        mut self,
        new_events: &mut Vec<ModelEvent>,
    ) -> Result<ModelReply, ModelError> {
        // Some servers omit the last blank line. A truncated event is not valid JSON.
        let rest = self.framer.rest();
        if let Some(event) = rest.filter(|event| is_whole(&event.data)) {
            self.take_event(&event, new_events)?;
        }
        if !self.has_events && self.framer.has_invalid_line() {
            let message = "the provider sent something other than an event stream";
            return Err(ModelError::new(ModelErrorCode::InvalidResponse, message));
        }
        self.decoder.finish()
    }

    /// Finishes after a body that failed with `error`. An answer that is complete nevertheless is
    /// returned.
    pub(super) fn fail(self, error: ModelError) -> Result<ModelReply, ModelError> {
        let unfinished = match self.decoder.finish() {
            Ok(reply) => return Ok(reply),
            Err(unfinished) => unfinished,
        };
        Err(error.with_usage(unfinished.usage.known()))
    }

    fn take_event(
        &mut self,
        event: &ServerEvent,
        new_events: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        self.has_events = true;
        self.decoder.push(event, new_events)
    }

    fn known(self) -> autonoe_core::agent::TokenUsage {
        match self.decoder.finish() {
            Ok(reply) => reply.usage.known(),
            Err(error) => error.usage.known(),
        }
    }
}

fn is_whole(data: &str) -> bool {
    data == "[DONE]" || serde_json::from_str::<IgnoredAny>(data).is_ok()
}

#[cfg(test)]
mod tests;
