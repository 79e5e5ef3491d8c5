//! Messages, parsed from lines.

use super::control::{PlainRequest, RawRequest};
use super::{
    AnswerPiece, ApiRetry, Assistant, BackgroundTasks, CompactBoundary, ControlCancel,
    ControlRequest, ControlResponse, Informational, Init, Kind, Line, PermissionDenied,
    RateLimitEvent, ResultMessage, SessionState, Status, TaskNotification, TaskProgress,
    TaskStarted, TaskUpdated, User,
};

/// What a line says, as far as it is understood.
///
/// ```
/// use autonoe_claude::wire::{Block, Line, Message};
///
/// let line = Line::from_text(
///     r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Hello"}]}}"#,
/// )?;
///
/// let Message::Assistant(said) = line.read() else { panic!("{line:?}") };
/// assert_eq!(said.blocks, [Block::Text("Hello".into())]);
/// # Ok::<(), autonoe_claude::wire::NotAMessage>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Message<'a> {
    /// A turn starts.
    Init(Init<'a>),
    /// The agent says, thinks or wants to do something.
    Assistant(Assistant<'a>),
    /// A piece of an answer of the model.
    Answer(AnswerPiece<'a>),
    /// A message to the agent, mostly results of tools.
    User(User<'a>),
    /// A turn ends.
    Result(Box<ResultMessage<'a>>),
    /// What is left of a quota.
    RateLimit(RateLimitEvent<'a>),
    /// A call of the model is made again.
    ApiRetry(ApiRetry<'a>),
    /// A task starts.
    TaskStarted(TaskStarted<'a>),
    /// A task is at work.
    TaskProgress(TaskProgress<'a>),
    /// Something about a task changed.
    TaskUpdated(TaskUpdated<'a>),
    /// A task is over.
    TaskNotification(TaskNotification<'a>),
    /// The tasks in the background.
    BackgroundTasks(BackgroundTasks<'a>),
    /// What the program is about to do.
    Status(Status<'a>),
    /// The conversation was compacted.
    CompactBoundary(CompactBoundary<'a>),
    /// The program refused a call by its own rules.
    PermissionDenied(PermissionDenied<'a>),
    /// A remark of the program.
    Informational(Informational<'a>),
    /// The program began or ceased to work on turns.
    SessionState(SessionState<'a>),
    /// A question of the program.
    ControlRequest(ControlRequest<'a>),
    /// An answer to a question of the host.
    ControlResponse(ControlResponse<'a>),
    /// A question is withdrawn.
    ControlCancel(ControlCancel<'a>),
    /// Something else. The line has all of it.
    Unknown,
    /// A line of a known kind that cannot be read. The line has all of it.
    Unreadable {
        /// Why not.
        reason: String,
    },
}

impl Line {
    /// Reads what the line says. What is not understood is no error.
    pub fn read(&self) -> Message<'_> {
        let read = match (self.kind(), self.subtype()) {
            (Kind::Assistant, _) => self.view().map(Message::Assistant),
            (Kind::User, _) => self.view().map(Message::User),
            (Kind::StreamEvent, _) => self.view().map(Message::Answer),
            (Kind::Result, _) => self.view().map(Message::Result),
            (Kind::RateLimitEvent, _) => self.view().map(Message::RateLimit),
            (Kind::ControlRequest, _) => self
                .view::<PlainRequest<'_>>()
                .map(ControlRequest::from)
                .or_else(|_| self.view())
                .or_else(|_| self.view().map(RawRequest::unknown))
                .map(Message::ControlRequest),
            (Kind::ControlResponse, _) => self.view().map(Message::ControlResponse),
            (Kind::ControlCancelRequest, _) => self.view().map(Message::ControlCancel),
            (Kind::System, Some("init")) => self.view().map(Message::Init),
            (Kind::System, Some("api_retry")) => self.view().map(Message::ApiRetry),
            (Kind::System, Some("task_started")) => self.view().map(Message::TaskStarted),
            (Kind::System, Some("task_progress")) => self.view().map(Message::TaskProgress),
            (Kind::System, Some("task_updated")) => self.view().map(Message::TaskUpdated),
            (Kind::System, Some("task_notification")) => self.view().map(Message::TaskNotification),
            (Kind::System, Some("background_tasks_changed")) => {
                self.view().map(Message::BackgroundTasks)
            }
            (Kind::System, Some("status")) => self.view().map(Message::Status),
            (Kind::System, Some("compact_boundary")) => self.view().map(Message::CompactBoundary),
            (Kind::System, Some("permission_denied")) => self.view().map(Message::PermissionDenied),
            (Kind::System, Some("informational")) => self.view().map(Message::Informational),
            (Kind::System, Some("session_state_changed")) => self.view().map(Message::SessionState),
            _ => {
                tracing::debug!(line = %self.raw().escape_ascii(), "a message is not known");
                return Message::Unknown;
            }
        };
        read.unwrap_or_else(|error| {
            tracing::warn!(line = %self.raw().escape_ascii(), %error, "a message cannot be read");
            Message::Unreadable {
                reason: error.to_string(),
            }
        })
    }
}
