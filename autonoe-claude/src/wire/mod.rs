//! Protocol of Claude Code: lines of JSON in both directions.
//!
//! [`LineReader`] splits bytes into [`Line`]s, `Line::parse` parses a line, and [`OutgoingLine`]s
//! are the messages of the host. Nothing here waits or does I/O.

mod answer_chunk;
mod assistant;
mod control;
mod lenient;
mod line;
mod outgoing;
mod reader;
mod repair;
mod result;
mod status_messages;
mod type_scan;
mod user;

pub use answer_chunk::{AnswerChunk, ChunkKind};
pub use assistant::{Assistant, Block, ToolUse};
pub use control::{
    ControlCancel, ControlRequest, ControlResponse, HookCallback, HookInput, McpMessage,
    RequestContent,
};
pub use line::{Line, Message, NotAMessage};
pub use outgoing::{OutgoingLine, Request};
pub use reader::{LineReader, LineTooLong};
pub use repair::Json;
pub use result::{ModelUsage, ReportedUsage, ResultMessage};
pub use status_messages::{
    ApiRetry, BackgroundTasks, Informational, Init, McpServerState, PermissionDenied,
    RateLimitEvent, SessionState, Status, TaskNotification, TaskPatch, TaskStarted, TaskUpdated,
};
pub use user::{CallDecision, ToolResult, User, UserBlock};
