//! [`Line`] of the program, and the [`Message`] parsed from it.

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use bytes::Bytes;
use serde::Deserialize;

use super::control::RawRequest;
use super::repair::repair;
use super::type_scan::peek;
use super::{
    AnswerChunk, ApiRetry, Assistant, BackgroundTasks, ControlCancel, ControlRequest,
    ControlResponse, Informational, Init, PermissionDenied, RateLimitEvent, ResultMessage,
    SessionState, Status, TaskNotification, TaskStarted, TaskUpdated, User,
};

/// One line of the program: its type and its text.
///
/// It is cheap to create: only its type and subtype are located, and the rest is parsed on
/// `parse`. It shares its buffer with neighbouring lines, so it should not be kept for
/// long.
///
/// ```
/// use autonoe_claude::wire::Line;
///
/// let line = Line::from_text(r#"{"subtype":"init","type":"system","cwd":"/srv/app"}"#)?;
///
/// assert_eq!((line.type_name(), line.subtype()), ("system", Some("init")));
/// # Ok::<(), autonoe_claude::wire::NotAMessage>(())
/// ```
pub struct Line {
    raw: Bytes,
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
            .field("type", &self.type_name())
            .field("subtype", &self.subtype())
            .field("raw", &self.raw)
            .finish_non_exhaustive()
    }
}

/// Error of a text that is not one line starting with `{`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message must be one line that starts with a brace")]
pub struct NotAMessage;

/// A parsed line.
///
/// ```
/// use autonoe_claude::wire::{Block, Line, Message};
///
/// let line = Line::from_text(
///     r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Hello"}]}}"#,
/// )?;
///
/// let Message::Assistant(message) = line.parse() else { panic!("{line:?}") };
/// assert_eq!(message.blocks, [Block::Text("Hello".into())]);
/// # Ok::<(), autonoe_claude::wire::NotAMessage>(())
/// ```
#[derive(Clone, Debug)]
pub enum Message<'a> {
    /// A turn starts.
    Init(Init<'a>),
    /// Text, a thought or a tool call of the agent.
    Assistant(Assistant<'a>),
    /// A streamed chunk of a model answer.
    Answer(AnswerChunk<'a>),
    /// A message to the agent, mostly results of tools.
    User(User<'a>),
    /// A turn ends.
    Result(Box<ResultMessage<'a>>),
    /// The state of a quota.
    RateLimit(RateLimitEvent<'a>),
    /// A model call is retried.
    ApiRetry(ApiRetry<'a>),
    /// A task starts.
    TaskStarted(TaskStarted<'a>),
    /// A task has changed.
    TaskUpdated(TaskUpdated<'a>),
    /// A task is finished.
    TaskNotification(TaskNotification<'a>),
    /// The background tasks.
    BackgroundTasks(BackgroundTasks<'a>),
    /// The current activity of the program.
    Status(Status<'a>),
    /// The program denied a call by its own rules.
    PermissionDenied(PermissionDenied<'a>),
    /// A remark of the program.
    Informational(Informational<'a>),
    /// The program became busy or idle.
    SessionState(SessionState<'a>),
    /// A request of the program.
    ControlRequest(ControlRequest<'a>),
    /// An answer to a request of the host.
    ControlResponse(ControlResponse<'a>),
    /// A request is withdrawn.
    ControlCancel(ControlCancel<'a>),
    /// Any other message. The line has its content.
    Unknown,
    /// A line of a known kind that cannot be parsed. The line has its content.
    Unreadable {
        /// The parse error.
        reason: String,
    },
}

impl Line {
    /// Parses the line. Unknown content is not an error.
    pub fn parse(&self) -> Message<'_> {
        let read = match (self.type_name(), self.subtype()) {
            ("assistant", _) => self.parse_as().map(Message::Assistant),
            ("user", _) => self.parse_as().map(Message::User),
            ("stream_event", _) => self.parse_as().map(Message::Answer),
            ("result", _) => self.parse_as().map(Message::Result),
            ("rate_limit_event", _) => self.parse_as().map(Message::RateLimit),
            ("control_request", _) => self
                .parse_as()
                .or_else(|_| self.parse_as().map(RawRequest::unknown))
                .map(Message::ControlRequest),
            ("control_response", _) => self.parse_as().map(Message::ControlResponse),
            ("control_cancel_request", _) => self.parse_as().map(Message::ControlCancel),
            ("system", Some("init")) => self.parse_as().map(Message::Init),
            ("system", Some("api_retry")) => self.parse_as().map(Message::ApiRetry),
            ("system", Some("task_started")) => self.parse_as().map(Message::TaskStarted),
            ("system", Some("task_updated")) => self.parse_as().map(Message::TaskUpdated),
            ("system", Some("task_notification")) => self.parse_as().map(Message::TaskNotification),
            ("system", Some("background_tasks_changed")) => {
                self.parse_as().map(Message::BackgroundTasks)
            }
            ("system", Some("status")) => self.parse_as().map(Message::Status),
            ("system", Some("permission_denied")) => self.parse_as().map(Message::PermissionDenied),
            ("system", Some("informational")) => self.parse_as().map(Message::Informational),
            ("system", Some("session_state_changed")) => self.parse_as().map(Message::SessionState),
            _ => {
                tracing::debug!(line = %self.raw().escape_ascii(), "ignored an unknown message");
                return Message::Unknown;
            }
        };
        read.unwrap_or_else(|error| {
            tracing::warn!(line = %self.raw().escape_ascii(), %error, "a message cannot be parsed");
            Message::Unreadable {
                reason: error.to_string(),
            }
        })
    }
}
