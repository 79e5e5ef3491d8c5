//! An answer that is read: from bytes to what a model said.

use serde::de::IgnoredAny;

use super::sse::Framer;
use crate::contract::{ModelError, ModelErrorCode, ModelEvent, ModelReply};
use crate::wire::{Decoder, ServerEvent};

/// An answer that is being read. It does no I/O.
pub(super) struct Reading {
    framer: Framer,
    decoder: Box<dyn Decoder>,
    has_events: bool,
}

/// Where the answer stands.
pub(super) enum Progress {
    /// More is to come.
    More(Reading),
    /// The provider has said that this is all.
    Whole(Box<ModelReply>),
}

impl Reading {
    pub(super) fn new(decoder: Box<dyn Decoder>) -> Self {
        Self {
            framer: Framer::default(),
            decoder,
            has_events: false,
        }
    }

    /// Takes the next bytes, and adds what they tell to `news`, also if they end in an error.
    pub(super) fn take(
        mut self,
        bytes: &[u8],
        news: &mut Vec<ModelEvent>,
    ) -> Result<Progress, ModelError> {
        let framed = self.framer.push(bytes);
        while let Some(event) = self.framer.next_event() {
            self.take_event(&event, news)?;
            if self.decoder.is_whole() {
                return Ok(Progress::Whole(Box::new(self.decoder.finish()?)));
            }
        }
        match framed {
            Ok(()) => Ok(Progress::More(self)),
            Err(error) => {
                let error = ModelError::new(ModelErrorCode::InvalidResponse, error.to_string());
                Err(error.with_usage(self.known()))
            }
        }
    }

    /// Takes note that the body ended as it should.
    pub(super) fn ended(mut self, news: &mut Vec<ModelEvent>) -> Result<ModelReply, ModelError> {
        // Some servers forget the last blank line. A part of an event is no whole JSON.
        let rest = self.framer.rest();
        if let Some(event) = rest.filter(|event| is_whole(&event.data)) {
            self.take_event(&event, news)?;
        }
        if !self.has_events && self.framer.has_foreign_line() {
            let message = "the provider sent something else than a stream of events";
            return Err(ModelError::new(ModelErrorCode::InvalidResponse, message));
        }
        self.decoder.finish()
    }

    /// Ends the reading after a body that failed with `error`. An answer that is complete
    /// nevertheless is returned.
    pub(super) fn broke_off(self, error: ModelError) -> Result<ModelReply, ModelError> {
        let unfinished = match self.decoder.finish() {
            Ok(reply) => return Ok(reply),
            Err(unfinished) => unfinished,
        };
        Err(error.with_usage(unfinished.usage.known()))
    }

    fn take_event(
        &mut self,
        event: &ServerEvent,
        news: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        self.has_events = true;
        self.decoder.take(event, news)
    }

    fn known(self) -> autonoe_core::TokenUsage {
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
