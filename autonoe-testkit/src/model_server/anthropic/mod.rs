//! The Messages API of Anthropic, from a script.
//!
//! An [`AnthropicServer`] plays a [`Script`] of [`Turn`]s. A turn is a [`Message`] of the
//! model, a [`Refusal`] with an HTTP status, a closed connection or silence. [`RateLimits`] tell
//! about a subscription, which no other vendor does in this way.

mod events;
mod rate_limits;
mod read;
mod refusal;
mod server;

pub use super::{
    MainRequests, Message, OfferedTool, Place, Prompt as MessagesRequest, PromptBlock,
    PromptMessage, Refusal, Request, Script, StopReason, StreamFault, Thinking, ToolResult, Turn,
    Usage,
};
pub use rate_limits::{Claim, LimitWindow, RateLimits};
pub use server::AnthropicServer;
