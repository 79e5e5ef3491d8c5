//! Protocol of Codex: JSON-RPC in lines, without the field `jsonrpc`.
//!
//! A line is parsed to a [`Message`]; messages of the host are [`Outgoing`]. Everything unknown, or
//! in an unknown format, stays a JSON value in a variant of its own.

mod item;
mod message;
mod notification;
mod outgoing;
mod token_totals;

pub use item::{
    Change, ChangeKind, CommandItem, ContentItem, DynamicToolItem, FileChangeItem, Item,
    ItemStatus, McpError, McpResult, McpToolItem, MessageItem, ReasoningItem, bash_script,
};
pub use message::{
    CommandApproval, ElicitationRequest, FileChangeApproval, Message, ProgramRequest, RequestId,
    ThreadMessage, ToolCallRequest,
};
pub use notification::{
    ErrorInfo, Notification, RateLimits, RetryableError, Turn, TurnError, TurnStatus, Window,
};
pub use outgoing::{Decision, Outgoing, ThreadSettings, TurnRef};
pub use token_totals::TokenTotals;
