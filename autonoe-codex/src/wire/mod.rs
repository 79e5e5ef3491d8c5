//! The protocol: JSON-RPC in lines, without the member `jsonrpc`.
//!
//! A line becomes a [`Message`]; what the host says is an [`Outgoing`]. Everything that is not
//! known, or not in the shape that is known, stays a JSON value in a variant of its own.

mod item;
mod message;
mod notice;
mod outgoing;
mod question;
mod token_totals;

pub use item::{
    Change, ChangeKind, CommandItem, ContentItem, DynamicToolItem, FileChangeItem, Item,
    ItemStatus, McpError, McpResult, McpToolItem, MessageItem, ReasoningItem, script_of,
};
pub use message::{Addressed, Message, RequestId, RpcError};
pub use notice::{ErrorInfo, Notice, RateLimits, Retried, Turn, TurnError, TurnStatus, Window};
pub use outgoing::{Decision, Effort, Outgoing, Session, ThreadSettings};
pub use question::{
    CommandQuestion, ElicitationQuestion, FileChangeQuestion, Question, ToolQuestion,
};
pub use token_totals::TokenTotals;
