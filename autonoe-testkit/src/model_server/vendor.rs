//! [`Vendor`]: the wire formats that a vendor adds to a scripted server.

use std::fmt;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::HeaderName;
use serde_json::Value;

use super::api::Head;
use super::event::Event;
use super::ids::Ids;
use super::{ReceivedPrompt, Refusal, ScriptedMessage};

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
    fn whole(
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

    /// Returns the event that reports an error after `told` other events.
    fn error(&self, kind: &str, message: &str, told: usize) -> Event;

    /// Returns the event that reports a failed response after `told` other events.
    fn failed(
        &self,
        failure: Failure<'_>,
        _prompt: &ReceivedPrompt,
        _ids: Ids,
        told: usize,
    ) -> Event {
        self.error(failure.code, failure.message, told)
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
