//! Server-sent events of a stream, and response bodies sent in pieces.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame};
use serde_json::Value;
use tokio::time::Sleep;

use super::script::OpenExchange;
use super::stream_fault::CutHandle;
use super::{Ending, FaultPosition};

/// The end of a stream after its last piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamEnd {
    /// The regular end.
    Finished,
    /// The connection is closed.
    Cut,
    /// Nothing is sent until the client leaves.
    Hang,
}

/// The body of a streamed answer.
#[derive(Debug)]
pub(super) struct Pieces {
    pieces: VecDeque<Bytes>,
    pace: Duration,
    /// The wait before the next piece.
    wait: Option<Pin<Box<Sleep>>>,
    end: StreamEnd,
    cut_handle: CutHandle,
    open: OpenExchange,
}

impl Pieces {
    pub(super) fn new(
        pieces: Vec<Bytes>,
        pace: Duration,
        end: StreamEnd,
        cut_handle: CutHandle,
        open: OpenExchange,
    ) -> Self {
        Self {
            pieces: pieces.into(),
            pace,
            wait: None,
            end,
            cut_handle,
            open,
        }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(wait) = &mut self.wait {
            ready!(wait.as_mut().poll(cx));
            self.wait = None;
        }
        if let Some(piece) = self.pieces.pop_front() {
            if !self.pace.is_zero() {
                self.wait = Some(Box::pin(tokio::time::sleep(self.pace)));
            }
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        match self.end {
            StreamEnd::Finished => {
                self.open.ended(Ending::Sent);
                Poll::Ready(None)
            }
            StreamEnd::Cut => {
                self.open.ended(Ending::Cut);
                // hyper flushes when a body is pending, and the flush cuts the connection.
                self.cut_handle.cut();
                Poll::Pending
            }
            // hyper drops the body when the client leaves.
            StreamEnd::Hang => Poll::Pending,
        }
    }
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block {
    pub(super) content: Content,
    /// The signature, if the script sets one.
    pub(super) signature: Option<String>,
}

/// The content of a part.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    Text(String),
    Thinking(String),
    ToolUse {
        /// Derived from the number of the turn if there is none.
        id: Option<String>,
        name: String,
        input: ToolInput,
    },
    Raw(Value),
}

/// The input of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ToolInput {
    Json(Value),
    /// Streamed text, which need not be JSON.
    Text(String),
}

impl ToolInput {
    /// Returns the input as JSON text, or the script's text in its place.
    pub(super) fn to_text(&self) -> String {
        match self {
            Self::Json(input) => input.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

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
            let start = || events.iter().position(|event| of(block, event));
            Some(piece.or_else(start)? + 1)
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
