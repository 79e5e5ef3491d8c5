//! [`Line`] of the program and its [`Kind`].

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use bytes::Bytes;
use serde::Deserialize;

use super::repair::repair;
use super::type_scan::peek;

/// One line of the program: its kind and its text.
///
/// It is cheap to create: only its type and subtype are located, and the rest is parsed on
/// `read`. It shares its buffer with neighbouring lines, so it should not be kept for
/// long.
///
/// ```
/// use autonoe_claude::wire::{Kind, Line};
///
/// let line = Line::from_text(r#"{"subtype":"init","type":"system","cwd":"/srv/app"}"#)?;
///
/// assert_eq!(line.kind(), Kind::System);
/// assert_eq!(line.subtype(), Some("init"));
/// # Ok::<(), autonoe_claude::wire::NotAMessage>(())
/// ```
pub struct Line {
    raw: Bytes,
    kind: Kind,
    name: Range<usize>,
    subtype: Option<Range<usize>>,
    repaired: OnceLock<Option<String>>,
}

impl Line {
    /// Creates a line from bytes, or returns them if they are not an object.
    pub(super) fn new(bytes: Bytes) -> Result<Self, Bytes> {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
        match bytes.iter().position(|byte| !blank(byte)) {
            Some(start) if bytes.get(start) == Some(&b'{') => {
                let raw = bytes.slice(start..);
                let found = peek(&raw);
                Ok(Self {
                    kind: Kind::from_name(raw.get(found.name.clone()).unwrap_or_default()),
                    name: found.name,
                    subtype: found.subtype,
                    raw,
                    repaired: OnceLock::new(),
                })
            }
            _ => Err(bytes),
        }
    }

    /// Creates a line from `text`.
    ///
    /// # Errors
    ///
    /// The text does not start with `{`, or it is more than one line.
    pub fn from_text(text: impl Into<String>) -> Result<Self, NotAMessage> {
        let text = text.into();
        if memchr::memchr(b'\n', text.as_bytes()).is_some() {
            return Err(NotAMessage);
        }
        Self::new(Bytes::from(text)).map_err(|_| NotAMessage)
    }

    /// Returns the kind of the line.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns its unparsed type; empty if it has none.
    pub fn type_name(&self) -> &str {
        self.text(&self.name)
    }

    /// Returns its subtype, for the types that have one.
    pub fn subtype(&self) -> Option<&str> {
        self.subtype.as_ref().map(|place| self.text(place))
    }

    /// Returns the whole line unchanged, without its line feed.
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    fn text(&self, place: &Range<usize>) -> &str {
        let bytes = self.raw.get(place.clone()).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// Parses the line as a `T`, and retries with invalid Unicode repaired.
    pub(super) fn parse_as<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        // One check of the whole line is faster than one of each string.
        let read = match std::str::from_utf8(&self.raw) {
            Ok(text) => serde_json::from_str(text),
            Err(error) => Err(serde::de::Error::custom(error)),
        };
        read.or_else(|error| {
            let repaired = self.repaired.get_or_init(|| repair(&self.raw));
            match repaired {
                Some(repaired) => serde_json::from_str(repaired),
                None => Err(error),
            }
        })
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line")
            .field("kind", &self.kind)
            .field("subtype", &self.subtype())
            .field("raw", &self.raw)
            .finish_non_exhaustive()
    }
}

/// The kind of a line, from its `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A message about the session, as named by the subtype.
    System,
    /// Text, a thought or a tool call of the agent.
    Assistant,
    /// A message to the agent, mostly results of tools.
    User,
    /// The end of a turn.
    Result,
    /// The state of a quota.
    RateLimitEvent,
    /// A request to the host, which must be answered.
    ControlRequest,
    /// The answer to a request of the host.
    ControlResponse,
    /// The withdrawal of a request.
    ControlCancelRequest,
    /// A streamed chunk of a model answer.
    StreamEvent,
    /// Anything else.
    Other,
}

impl Kind {
    fn from_name(name: &[u8]) -> Self {
        match name {
            b"system" => Self::System,
            b"assistant" => Self::Assistant,
            b"user" => Self::User,
            b"result" => Self::Result,
            b"rate_limit_event" => Self::RateLimitEvent,
            b"control_request" => Self::ControlRequest,
            b"control_response" => Self::ControlResponse,
            b"control_cancel_request" => Self::ControlCancelRequest,
            b"stream_event" => Self::StreamEvent,
            _ => Self::Other,
        }
    }

    /// Returns whether it belongs to the control protocol, which must not wait.
    pub fn is_control(self) -> bool {
        matches!(
            self,
            Self::ControlRequest | Self::ControlResponse | Self::ControlCancelRequest
        )
    }
}

/// Error of a text that is not one line starting with `{`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message must be one line that starts with a brace")]
pub struct NotAMessage;
