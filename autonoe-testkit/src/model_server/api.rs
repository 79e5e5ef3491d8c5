//! Interface between the listener and a vendor's API, the wire formats of a [`Vendor`], and its API answered from a script.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::header::HeaderName;
use hyper::{HeaderMap, StatusCode};
use serde_json::Value;

use super::ids::{IdCounter, Ids};
use super::script::{NextAnswer, ScriptState};
use super::streamed_body::Event;
use super::turn::Replies;
use super::{ReceivedPrompt, Refusal, Request, ScriptedMessage, ServerAnswer};

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
    fn error(&self, kind: &str, message: &str, sent: usize) -> Event;

    /// Returns the event that reports a failed response after `told` other events.
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

/// The API of a vendor, played from a script.
#[derive(Debug)]
pub(super) struct ScriptedApi<V> {
    vendor: V,
    playing: Arc<ScriptState>,
    ids: IdCounter,
}

impl<V: Vendor> ScriptedApi<V> {
    pub(super) fn new(vendor: V, playing: Arc<ScriptState>) -> Self {
        Self {
            vendor,
            playing,
            ids: IdCounter::for_new_server(),
        }
    }

    fn replies(&self) -> Replies<'_> {
        Replies::new(&self.vendor, self.ids.next())
    }

    fn next_message(
        &self,
        wire: &dyn Wire,
        prompt: &ReceivedPrompt,
    ) -> (ServerAnswer, Duration, Reply) {
        let replies = self.replies();
        let (answer, turn) = match self.playing.next_answer(prompt) {
            NextAnswer::Turn(answer, turn) => (answer, turn),
            NextAnswer::Nothing(reason) => return self.unanswered(reason),
        };
        match replies.turn(&turn, wire, prompt) {
            Ok(reply) => (answer, turn.delay, reply),
            Err(reason) => self.unanswered(reason),
        }
    }

    fn unanswered(&self, reason: String) -> (ServerAnswer, Duration, Reply) {
        let reply = self.replies().refuse(&Refusal::no_answer(&reason));
        (ServerAnswer::Unanswered(reason), Duration::ZERO, reply)
    }
}

impl<V: Vendor> ModelApi for ScriptedApi<V> {
    type Request = Request;

    fn answer(&self, head: Head<'_>, body: &Bytes) -> Decision<Request> {
        let other = || Request::Other(String::from_utf8_lossy(body).into_owned());
        let fixed = |answer| {
            let reply = self
                .replies()
                .json(StatusCode::OK, HeaderMap::new(), &answer);
            (ServerAnswer::Fixed, Duration::ZERO, reply)
        };
        let (request, (answer, delay, reply)) = match self.vendor.classify(head, body) {
            ClassifiedRequest::Message(wire, prompt) => {
                let answer = self.next_message(wire, &prompt);
                (Request::Messages(*prompt), answer)
            }
            ClassifiedRequest::Count(prompt, answer) => {
                (Request::CountTokens(*prompt), fixed(answer))
            }
            ClassifiedRequest::Fixed(answer) => (other(), fixed(answer)),
            ClassifiedRequest::Unreadable(reason) => (other(), self.unanswered(reason)),
            ClassifiedRequest::Nothing => {
                let refusal = Refusal::no_such_path(head.method, head.path);
                let reply = self.replies().refuse(&refusal);
                (other(), (ServerAnswer::NotFound, Duration::ZERO, reply))
            }
        };
        Decision {
            request,
            answer,
            delay,
            reply,
        }
    }
}
