//! Interface between the listener and a vendor's API.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use hyper::{HeaderMap, StatusCode};

use super::ServerAnswer;

/// The API of one vendor.
///
/// It only makes decisions: the listener writes the log, waits, sends, cuts and hangs accordingly.
pub(super) trait ModelApi: Send + Sync + 'static {
    /// The typed request; its display form is a short summary.
    type Request: fmt::Debug + fmt::Display + Send + Sync + 'static;

    /// Parses a request and decides how to answer it.
    fn answer(&self, head: Head<'_>, body: &Bytes) -> Decision<Self::Request>;
}

/// Method and target of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head<'a> {
    pub(super) method: &'a str,
    /// The path without parameters.
    pub(super) path: &'a str,
    /// The parameters; empty if there are none.
    pub(super) query: &'a str,
}

/// A request and the decision how to answer it.
#[derive(Debug)]
pub(super) struct Decision<R> {
    pub(super) request: R,
    pub(super) answer: ServerAnswer,
    /// The delay before the answer.
    pub(super) delay: Duration,
    pub(super) reply: Reply,
}

/// The reply to send on the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// A response in one piece.
    Whole {
        status: StatusCode,
        headers: HeaderMap,
        body: Bytes,
    },
    /// A response with status 200, sent in pieces.
    Stream {
        headers: HeaderMap,
        pieces: Vec<Bytes>,
        /// The delay between two pieces.
        pace: Duration,
        end: StreamEnd,
    },
    /// The connection is closed without a response.
    Disconnect,
    /// Nothing is sent until the client leaves.
    Hang,
}

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
