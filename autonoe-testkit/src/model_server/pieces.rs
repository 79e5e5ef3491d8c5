//! An answer that goes out piece by piece.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame};
use tokio::time::Sleep;

use super::Ending;
use super::api::StreamEnd;
use super::cut::Scissors;
use super::open::OpenExchange;

/// The body of a streamed answer.
#[derive(Debug)]
pub(super) struct Pieces {
    pieces: VecDeque<Bytes>,
    pace: Duration,
    /// The wait before the next piece.
    wait: Option<Pin<Box<Sleep>>>,
    end: StreamEnd,
    scissors: Scissors,
    open: OpenExchange,
}

impl Pieces {
    pub(super) fn new(
        pieces: Vec<Bytes>,
        pace: Duration,
        end: StreamEnd,
        scissors: Scissors,
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
                // hyper flushes when a body has nothing to say, and the flush cuts.
                self.scissors.cut();
                Poll::Pending
            }
            // hyper drops the body when the client leaves.
            StreamEnd::Hang => Poll::Pending,
        }
    }
}
