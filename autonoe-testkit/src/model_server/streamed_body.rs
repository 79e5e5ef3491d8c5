//! Response body sent in pieces, and the blocks of a message.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame};
use serde_json::Value;
use tokio::time::Sleep;

use super::Ending;
use super::api::StreamEnd;
use super::script_state::OpenExchange;
use super::stream_fault::CutHandle;

/// The body of a streamed answer.
#[derive(Debug)]
pub(super) struct Pieces {
    pieces: VecDeque<Bytes>,
    pace: Duration,
    /// The wait before the next piece.
    wait: Option<Pin<Box<Sleep>>>,
    end: StreamEnd,
    scissors: CutHandle,
    open: OpenExchange,
}

impl Pieces {
    pub(super) fn new(
        pieces: Vec<Bytes>,
        pace: Duration,
        end: StreamEnd,
        scissors: CutHandle,
        open: OpenExchange,
    ) -> Self {
        Self {
            pieces: pieces.into(),
            pace,
            wait: None,
            end,
            scissors,
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
                self.scissors.cut();
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
