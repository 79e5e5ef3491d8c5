//! [`Message`]s, parsed from lines.

use super::control::{PlainRequest, RawRequest};
use super::{
    AnswerChunk, ApiRetry, Assistant, BackgroundTasks, CompactBoundary, ControlCancel,
    ControlRequest, ControlResponse, Informational, Init, Kind, Line, PermissionDenied,
    RateLimitEvent, ResultMessage, SessionState, Status, TaskNotification, TaskProgress,
    TaskStarted, TaskUpdated, User,
};

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
#[non_exhaustive]
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
    /// A task has made progress.
    TaskProgress(TaskProgress<'a>),
    /// A task has changed.
    TaskUpdated(TaskUpdated<'a>),
    /// A task is finished.
    TaskNotification(TaskNotification<'a>),
    /// The background tasks.
    BackgroundTasks(BackgroundTasks<'a>),
    /// The current activity of the program.
    Status(Status<'a>),
    /// The conversation was compacted.
    CompactBoundary(CompactBoundary<'a>),
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
        let read = match (self.kind(), self.subtype()) {
            (Kind::Assistant, _) => self.parse_as().map(Message::Assistant),
            (Kind::User, _) => self.parse_as().map(Message::User),
            (Kind::StreamEvent, _) => self.parse_as().map(Message::Answer),
            (Kind::Result, _) => self.parse_as().map(Message::Result),
            (Kind::RateLimitEvent, _) => self.parse_as().map(Message::RateLimit),
            (Kind::ControlRequest, _) => self
                .parse_as::<PlainRequest<'_>>()
                .map(ControlRequest::from)
                .or_else(|_| self.parse_as())
                .or_else(|_| self.parse_as().map(RawRequest::unknown))
                .map(Message::ControlRequest),
            (Kind::ControlResponse, _) => self.parse_as().map(Message::ControlResponse),
            (Kind::ControlCancelRequest, _) => self.parse_as().map(Message::ControlCancel),
            (Kind::System, Some("init")) => self.parse_as().map(Message::Init),
            (Kind::System, Some("api_retry")) => self.parse_as().map(Message::ApiRetry),
            (Kind::System, Some("task_started")) => self.parse_as().map(Message::TaskStarted),
            (Kind::System, Some("task_progress")) => self.parse_as().map(Message::TaskProgress),
            (Kind::System, Some("task_updated")) => self.parse_as().map(Message::TaskUpdated),
            (Kind::System, Some("task_notification")) => {
                self.parse_as().map(Message::TaskNotification)
            }
            (Kind::System, Some("background_tasks_changed")) => {
                self.parse_as().map(Message::BackgroundTasks)
            }
            (Kind::System, Some("status")) => self.parse_as().map(Message::Status),
            (Kind::System, Some("compact_boundary")) => {
                self.parse_as().map(Message::CompactBoundary)
            }
            (Kind::System, Some("permission_denied")) => {
                self.parse_as().map(Message::PermissionDenied)
            }
            (Kind::System, Some("informational")) => self.parse_as().map(Message::Informational),
            (Kind::System, Some("session_state_changed")) => {
                self.parse_as().map(Message::SessionState)
            }
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
