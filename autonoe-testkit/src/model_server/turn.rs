//! [`Turn`]: one answer of the scripted model, and its encoding as the HTTP reply of a vendor.

use std::time::Duration;

use bytes::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{HeaderMap, StatusCode};
use serde_json::Value;

use super::api::{Failure, Reply, Vendor, Wire};
use super::headers::scripted_header;
use super::ids::Ids;
use super::streamed_body::{Event, StreamEnd, events_before};
use super::{FaultPosition, ReceivedPrompt, Refusal, ScriptedMessage, StreamFault};

/// One answer of the scripted model: a message, a refusal, any text, a closed connection or
/// silence.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_testkit::model_server::{Refusal, ScriptedMessage, Turn};
/// use serde_json::json;
///
/// let turns = [
///     Turn::from(Refusal::overloaded()),
///     Turn::tool("Bash", json!({"command": "cargo test"})),
///     Turn::from(ScriptedMessage::new().thinks("It passes.").says("Done.")),
///     Turn::text("I am late.").after(Duration::from_millis(50)),
///     Turn::html("<h1>Sign in to the network</h1>"),
///     Turn::hang(),
/// ];
/// ```
#[derive(Clone, Debug)]
pub struct Turn {
    pub(super) kind: Kind,
    pub(super) delay: Duration,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Message(ScriptedMessage),
    Refusal(Refusal),
    Raw { headers: HeaderMap, body: String },
    Disconnect,
    Hang,
}

impl Turn {
    /// Sends a text and ends the turn.
    pub fn text(text: impl Into<String>) -> Self {
        ScriptedMessage::new().says(text).into()
    }

    /// Calls one tool.
    pub fn tool(name: impl Into<String>, input: Value) -> Self {
        ScriptedMessage::new().uses_tool(name, input).into()
    }

    /// Answers with status 200 and this text, whatever the request is.
    ///
    /// # Panics
    ///
    /// If HTTP does not allow such a content type.
    pub fn raw(content_type: &str, body: impl Into<String>) -> Self {
        let headers = HeaderMap::from_iter([scripted_header("content-type", content_type)]);
        let body = body.into();
        Self::at_once(Kind::Raw { headers, body })
    }

    /// Answers with status 200 and an HTML page, as a proxy might.
    pub fn html(page: impl Into<String>) -> Self {
        Self::raw("text/html; charset=utf-8", page)
    }

    /// Closes the connection without an answer.
    pub fn disconnect() -> Self {
        Self::at_once(Kind::Disconnect)
    }

    /// Sends nothing until the client leaves.
    pub fn hang() -> Self {
        Self::at_once(Kind::Hang)
    }

    /// Delays the answer, in real time.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    fn at_once(kind: Kind) -> Self {
        Self {
            kind,
            delay: Duration::ZERO,
        }
    }
}

impl From<ScriptedMessage> for Turn {
    fn from(message: ScriptedMessage) -> Self {
        Self::at_once(Kind::Message(message))
    }
}

impl From<Refusal> for Turn {
    fn from(refusal: Refusal) -> Self {
        Self::at_once(Kind::Refusal(refusal))
    }
}

/// Builds the replies to one request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replies<'a> {
    vendor: &'a dyn Vendor,
    ids: Ids,
}

impl<'a> Replies<'a> {
    pub(super) fn new(vendor: &'a dyn Vendor, ids: Ids) -> Self {
        Self { vendor, ids }
    }

    /// Returns the reply to `prompt`, or the reason why the turn cannot answer it.
    pub(super) fn turn(
        self,
        turn: &Turn,
        wire: &dyn Wire,
        prompt: &ReceivedPrompt,
    ) -> Result<Reply, String> {
        match &turn.kind {
            Kind::Message(message) if prompt.stream => self.stream(message, wire, prompt),
            Kind::Message(message) => {
                let whole = wire.encode_message(message, prompt, self.ids)?;
                Ok(self.json(StatusCode::OK, message.headers.clone(), &whole))
            }
            Kind::Refusal(refusal) => Ok(self.refuse(refusal)),
            Kind::Raw { headers, body } => {
                let (headers, body) = (headers.clone(), body.clone().into());
                Ok(self.with_body(StatusCode::OK, headers, body))
            }
            Kind::Disconnect => Ok(Reply::Disconnect),
            Kind::Hang => Ok(Reply::Hang),
        }
    }

    /// Encodes a refusal as a reply.
    pub(super) fn refuse(self, refusal: &Refusal) -> Reply {
        let refused = self.vendor.refuse(refusal, self.ids);
        let mut headers = HeaderMap::new();
        if let Some(seconds) = refused.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        headers.extend(refusal.headers.clone());
        let body = refusal.body.clone().map_or(refused.body, Bytes::from);
        self.with_body(refused.status, headers, body)
    }

    /// Encodes a JSON document as a reply.
    pub(super) fn json(self, status: StatusCode, headers: HeaderMap, body: &Value) -> Reply {
        self.with_body(status, headers, body.to_string().into())
    }

    fn with_body(self, status: StatusCode, headers: HeaderMap, body: Bytes) -> Reply {
        Reply::Whole {
            status,
            headers: self.with_common(headers, "application/json"),
            body,
        }
    }

    fn stream(
        self,
        message: &ScriptedMessage,
        wire: &dyn Wire,
        prompt: &ReceivedPrompt,
    ) -> Result<Reply, String> {
        let mut events = wire.stream(message, prompt, self.ids)?;
        let mut end = StreamEnd::Finished;
        if let Some((place, fault)) = &message.fault {
            let before = events_before(*place, &events)
                .ok_or_else(|| no_such_place(*place, events.len(), message.blocks.len()))?;
            end = self.break_off(&mut events, before, fault, wire, prompt);
        }
        let kind = "text/event-stream; charset=utf-8";
        let mut headers = self.with_common(message.headers.clone(), kind);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        Ok(Reply::Stream {
            headers,
            pieces: message.packets(&events, wire.line_end()),
            pace: message.pace,
            end,
        })
    }

    /// Injects `fault` after `before` events, and returns how the stream then ends.
    fn break_off(
        self,
        events: &mut Vec<Event>,
        before: usize,
        fault: &StreamFault,
        wire: &dyn Wire,
        prompt: &ReceivedPrompt,
    ) -> StreamEnd {
        if let StreamFault::Malformed = fault {
            events.insert(before, wire.malformed());
            return StreamEnd::Finished;
        }
        events.truncate(before);
        match fault {
            StreamFault::Cut => return StreamEnd::Cut,
            StreamFault::Hang => return StreamEnd::Hang,
            StreamFault::End | StreamFault::Malformed => {}
            StreamFault::Error { kind, message } => {
                events.push(wire.error(kind, message, before));
            }
            StreamFault::Failed { code, message } => {
                let failure = Failure { code, message };
                events.push(wire.failed(failure, prompt, self.ids, before));
            }
        }
        StreamEnd::Finished
    }

    /// Adds the common headers, unless the script has set them.
    fn with_common(self, mut headers: HeaderMap, content_type: &'static str) -> HeaderMap {
        let content_type = HeaderValue::from_static(content_type);
        headers.entry(CONTENT_TYPE).or_insert(content_type);
        if let Some((name, id)) = self.vendor.request_id(self.ids)
            && let Ok(id) = HeaderValue::try_from(id)
        {
            headers.entry(name).or_insert(id);
        }
        headers
    }
}

fn no_such_place(place: FaultPosition, events: usize, blocks: usize) -> String {
    format!("the message breaks at {place:?}, and has {blocks} blocks in {events} events")
}
