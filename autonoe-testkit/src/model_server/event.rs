//! The events of a stream.

use bytes::Bytes;
use serde_json::Value;

use super::Place;

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) name: Option<&'static str>,
    pub(super) data: String,
    /// The block that it belongs to, if it belongs to one.
    of: Option<(usize, Stage)>,
}

/// How far a block is with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It is begun or ended.
    Frame,
    /// Something of it is told.
    Piece,
}

impl Event {
    /// Makes an event with a name.
    pub(super) fn named(name: &'static str, data: &Value) -> Self {
        Self::text(Some(name), data.to_string())
    }

    /// Makes an event without a name.
    pub(super) fn data(data: &Value) -> Self {
        Self::text(None, data.to_string())
    }

    /// Makes an event whose data is any text.
    pub(super) fn text(name: Option<&'static str>, data: impl Into<String>) -> Self {
        Self {
            name,
            data: data.into(),
            of: None,
        }
    }

    /// Says that it belongs to `block`.
    pub(super) fn of(mut self, block: usize, stage: Stage) -> Self {
        self.of = Some((block, stage));
        self
    }

    /// Returns the event as it goes over the connection.
    pub(super) fn frame(&self, line_end: &str) -> Bytes {
        let Self { data, .. } = self;
        match self.name {
            Some(name) => format!("event: {name}{line_end}data: {data}{line_end}{line_end}"),
            None => format!("data: {data}{line_end}{line_end}"),
        }
        .into()
    }
}

/// Returns how many events come before `place`, or `None` if the stream has no such place.
pub(super) fn events_before(place: Place, events: &[Event]) -> Option<usize> {
    let of = |block: usize, event: &Event| event.of.is_some_and(|(known, _)| known == block);
    match place {
        Place::AfterEvents(count) => (count <= events.len()).then_some(count),
        // With its first piece, if it has pieces, so that there is something of it.
        Place::InBlock(block) => {
            let piece = Some((block, Stage::Piece));
            let piece = events.iter().position(|event| event.of == piece);
            let begun = || events.iter().position(|event| of(block, event));
            Some(piece.or_else(begun)? + 1)
        }
        Place::AfterBlock(block) => Some(events.iter().rposition(|event| of(block, event))? + 1),
    }
}

/// Cuts a text into pieces of so many characters.
pub(super) fn in_pieces(text: &str, characters: usize) -> Vec<String> {
    let text: Vec<char> = text.chars().collect();
    text.chunks(characters).map(String::from_iter).collect()
}
