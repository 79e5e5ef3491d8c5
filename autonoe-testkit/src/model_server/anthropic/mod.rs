//! Scripted server of the Anthropic Messages API.
//!
//! An [`AnthropicServer`] plays a [`Script`] of [`Turn`]s. A turn is a [`Message`] of the model, a
//! [`Refusal`] with an HTTP status, a closed connection or silence. [`RateLimits`] describes the
//! limits of a subscription, which no other vendor reports in this way.

mod events;
mod rate_limits;
mod read;
mod refusal;
mod server;

pub use super::{
    FaultPosition, MainRequests, Message, OfferedTool, Prompt as MessagesRequest, PromptBlock,
    PromptMessage, Refusal, Request, Script, StopReason, StreamFault, Thinking, ToolResult, Turn,
    Usage,
};
pub use rate_limits::{Claim, LimitWindow, RateLimits};
pub use server::AnthropicServer;
