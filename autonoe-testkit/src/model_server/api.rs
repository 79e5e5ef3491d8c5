//! What a vendor's API is to the listener.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use hyper::{HeaderMap, StatusCode};

use super::Answer;

/// The API of one vendor.
///
/// It decides and does nothing else: the listener writes the log, waits, sends, cuts
/// and hangs as it is told.
pub(super) trait ModelApi: Send + Sync + 'static {
    /// What is asked, as types; displayed, it says so in a few words.
    type Request: fmt::Debug + fmt::Display + Send + Sync + 'static;

    /// Understands a request and decides how to answer it.
    fn answer(&self, head: Head<'_>, body: &Bytes) -> Decision<Self::Request>;
}

/// Where a request goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head<'a> {
    pub(super) method: &'a str,
    /// The path without parameters.
    pub(super) path: &'a str,
    /// The parameters; empty if there are none.
    pub(super) query: &'a str,
}

/// What was asked and how it is answered.
#[derive(Debug)]
pub(super) struct Decision<R> {
    pub(super) request: R,
    pub(super) answer: Answer,
    /// How long to wait before anything else.
    pub(super) delay: Duration,
    pub(super) reply: Reply,
}

/// What goes over the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// An answer in one piece.
    Whole {
        status: StatusCode,
        headers: HeaderMap,
        body: Bytes,
    },
    /// An answer with status 200, piece by piece.
    Stream {
        headers: HeaderMap,
        pieces: Vec<Bytes>,
        /// How long to wait between two pieces.
        pace: Duration,
        end: StreamEnd,
    },
    /// The connection is closed without a word.
    Disconnect,
    /// Nothing is said until the client leaves.
    Hang,
}

/// What comes after the last piece of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamEnd {
    /// The proper end.
    Finished,
    /// The connection is closed.
    Cut,
    /// Nothing, until the client leaves.
    Hang,
}
