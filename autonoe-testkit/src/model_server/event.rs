//! Server-sent events of a stream.

use bytes::Bytes;
use serde_json::Value;

use super::FaultPosition;

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) name: Option<&'static str>,
    pub(super) data: String,
    /// The block that the event belongs to, if any.
    of: Option<(usize, Stage)>,
}

/// The part of a block that an event contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Its start or its end.
    Frame,
    /// A piece of its content.
    Piece,
}

impl Event {
    /// Creates an event with a name.
    pub(super) fn named(name: &'static str, data: &Value) -> Self {
        Self::text(Some(name), data.to_string())
    }

    /// Creates an event without a name.
    pub(super) fn data(data: &Value) -> Self {
        Self::text(None, data.to_string())
    }

    /// Creates an event with arbitrary text as its data.
    pub(super) fn text(name: Option<&'static str>, data: impl Into<String>) -> Self {
        Self {
            name,
            data: data.into(),
            of: None,
        }
    }

    /// Assigns the event to `block`.
    pub(super) fn in_block(mut self, block: usize, stage: Stage) -> Self {
        self.of = Some((block, stage));
        self
    }

    /// Encodes the event for the connection.
    pub(super) fn frame(&self, line_end: &str) -> Bytes {
        let Self { data, .. } = self;
        match self.name {
            Some(name) => format!("event: {name}{line_end}data: {data}{line_end}{line_end}"),
            None => format!("data: {data}{line_end}{line_end}"),
        }
        .into()
    }
}

/// Returns the number of events before `place`, or `None` if the stream has no such place.
pub(super) fn events_before(place: FaultPosition, events: &[Event]) -> Option<usize> {
    let of = |block: usize, event: &Event| event.of.is_some_and(|(known, _)| known == block);
    match place {
        FaultPosition::AfterEvents(count) => (count <= events.len()).then_some(count),
        // After its first piece, if it has pieces, so that part of the block is sent.
        FaultPosition::InBlock(block) => {
            let piece = Some((block, Stage::Piece));
            let piece = events.iter().position(|event| event.of == piece);
            let begun = || events.iter().position(|event| of(block, event));
            Some(piece.or_else(begun)? + 1)
        }
        FaultPosition::AfterBlock(block) => {
            Some(events.iter().rposition(|event| of(block, event))? + 1)
        }
    }
}

/// Splits a text into pieces of this many characters.
pub(super) fn in_pieces(text: &str, characters: usize) -> Vec<String> {
    let text: Vec<char> = text.chars().collect();
    text.chunks(characters).map(String::from_iter).collect()
}
