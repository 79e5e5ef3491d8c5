//! [`ModelApi`], the interface between the listener and a vendor's API, and the wire formats of a [`Vendor`].

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use hyper::header::HeaderName;
use hyper::{HeaderMap, StatusCode};
use serde_json::Value;

use super::ids::Ids;
use super::streamed_body::{Event, StreamEnd};
use super::{ReceivedPrompt, Refusal, ScriptedMessage, ServerAnswer};

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

/// The API of a vendor: its paths and its error format.
pub(super) trait Vendor: fmt::Debug + Send + Sync + 'static {
    /// Classifies a request.
    fn classify(&self, head: Head<'_>, body: &Bytes) -> ClassifiedRequest;

    /// Encodes a refusal.
    fn refuse(&self, refusal: &Refusal, ids: Ids) -> EncodedRefusal;

    /// Returns the header for the id of a request and its value, if the vendor has one.
    fn request_id(&self, ids: Ids) -> Option<(HeaderName, String)>;
}

/// The classification of a request.
#[derive(Debug)]
pub(super) enum ClassifiedRequest {
    /// A request for the next message of the model, in this wire format.
    Message(&'static dyn Wire, Box<ReceivedPrompt>),
    /// A request for the number of tokens of a prompt, and the answer.
    Count(Box<ReceivedPrompt>, Value),
    /// A request with a constant answer.
    Fixed(Value),
    /// A malformed request, with the reason.
    Unreadable(String),
    /// A path that the vendor does not have.
    Nothing,
}

/// An encoded refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EncodedRefusal {
    pub(super) status: StatusCode,
    /// The value of the header `retry-after`, in seconds.
    pub(super) retry_after: Option<u64>,
    pub(super) body: Bytes,
}

/// The wire format of an API for messages.
///
/// Encoding a message that the format cannot express returns the reason.
pub(super) trait Wire: fmt::Debug + Send + Sync {
    /// Returns the message as one document.
    fn encode_message(
        &self,
        message: &ScriptedMessage,
        prompt: &ReceivedPrompt,
        ids: Ids,
    ) -> Result<Value, String>;

    /// Returns the events of the message.
    fn stream(
        &self,
        message: &ScriptedMessage,
        prompt: &ReceivedPrompt,
        ids: Ids,
    ) -> Result<Vec<Event>, String>;

    /// Returns an event whose data is not JSON.
    fn malformed(&self) -> Event;

    /// Returns the event that reports an error after `sent` other events.
    fn error(&self, kind: &str, message: &str, sent: usize) -> Event;

    /// Returns the event that reports a failed response after `sent` other events.
    fn failed(
        &self,
        failure: Failure<'_>,
        _prompt: &ReceivedPrompt,
        _ids: Ids,
        sent: usize,
    ) -> Event {
        self.error(failure.code, failure.message, sent)
    }

    /// Returns the line ending of a stream.
    fn line_end(&self) -> &'static str {
        "\n"
    }
}

/// The failure of a response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failure<'a> {
    pub(super) code: &'a str,
    pub(super) message: &'a str,
}
