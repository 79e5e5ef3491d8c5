//! What a vendor adds to a scripted server: its words.

use std::fmt;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::HeaderName;
use serde_json::Value;

use super::api::Head;
use super::event::Event;
use super::ids::Ids;
use super::{Message, Prompt, Refusal};

/// The API of a vendor: what is asked where, and how it says no.
pub(super) trait Vendor: fmt::Debug + Send + Sync + 'static {
    /// Says what a request is about.
    fn asked(&self, head: Head<'_>, body: &Bytes) -> Asked;

    /// Puts a refusal into words.
    fn refuse(&self, refusal: &Refusal, ids: Ids) -> Refused;

    /// Returns the header that names a request, and its name, where the vendor has one.
    fn request_id(&self, ids: Ids) -> Option<(HeaderName, String)>;
}

/// What a request is about.
#[derive(Debug)]
pub(super) enum Asked {
    /// The next message of the model, in this shape.
    Message(&'static dyn Wire, Box<Prompt>),
    /// How many tokens a prompt has, and the answer.
    Count(Box<Prompt>, Value),
    /// Something that always has the same answer.
    Fixed(Value),
    /// Something that should have been understood, and why it was not.
    Unreadable(String),
    /// Nothing that the vendor has.
    Nothing,
}

/// A refusal in the words of a vendor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    /// How many seconds the client is asked to wait by a header.
    pub(super) retry_after: Option<u64>,
    pub(super) body: Bytes,
}

/// The shape in which an API tells a message.
///
/// Where it has no words for a message, it says why instead.
pub(super) trait Wire: fmt::Debug + Send + Sync {
    /// Returns the message in one piece.
    fn whole(&self, message: &Message, prompt: &Prompt, ids: Ids) -> Result<Value, String>;

    /// Returns the events of the message.
    fn stream(&self, message: &Message, prompt: &Prompt, ids: Ids) -> Result<Vec<Event>, String>;

    /// Returns an event whose data is no JSON.
    fn malformed(&self) -> Event;

    /// Returns the event that says after `told` others that something is wrong.
    fn error(&self, kind: &str, message: &str, told: usize) -> Event;

    /// Returns the event that says after `told` others that the answer has failed.
    fn failed(&self, failure: Failure<'_>, _prompt: &Prompt, _ids: Ids, told: usize) -> Event {
        self.error(failure.code, failure.message, told)
    }

    /// Returns what ends a line of a stream.
    fn line_end(&self) -> &'static str {
        "\n"
    }
}

/// How an answer failed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failure<'a> {
    pub(super) code: &'a str,
    pub(super) message: &'a str,
}
