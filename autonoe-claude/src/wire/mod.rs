//! The protocol: lines of JSON in both directions.
//!
//! [`LineReader`] cuts bytes into [`Line`]s, [`Line::read`] says what a line
//! means, and [`OutgoingLine`]s are what the host sends. Nothing here waits or
//! does I/O.

mod answer_piece;
mod assistant;
mod control;
mod lenient;
mod line;
mod message;
mod notice;
mod outgoing;
mod peek;
mod reader;
mod repair;
mod result;
mod task;
mod user;

pub use answer_piece::{AnswerPiece, PieceKind};
pub use assistant::{Assistant, Block, ToolUse};
pub use control::{
    CanUseTool, ControlCancel, ControlRequest, ControlResponse, HookCallback, HookInput,
    McpMessage, Question,
};
pub use line::{Kind, Line, NotAMessage};
pub use message::Message;
pub use notice::{
    ApiRetry, CompactBoundary, CompactMetadata, Informational, Init, McpServerState,
    PermissionDenied, RateLimitEvent, SessionState, Status,
};
pub use outgoing::{HookMatcher, Initialize, OnHookFailure, OutgoingLine, PermissionMode, Request};
pub use reader::{LineReader, LineTooLong};
pub use repair::Json;
pub use result::{DeniedCall, ModelUsage, ResultMessage, TurnUsage};
pub use task::{
    BackgroundTasks, TaskNotification, TaskPatch, TaskProgress, TaskStarted, TaskUpdated,
};
pub use user::{CallDecision, ToolResult, User, UserBlock};
