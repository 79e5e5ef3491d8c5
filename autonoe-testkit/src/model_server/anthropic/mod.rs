//! Scripted server of the Anthropic Messages API.
//!
//! An [`AnthropicServer`] plays a [`ModelScript`] of [`Turn`]s. A turn is a [`ScriptedMessage`] of
//! the model, a [`Refusal`] with an HTTP status, a closed connection or silence. [`RateLimits`]
//! describes the limits of a subscription, which no other vendor reports in this way.

mod events;
mod rate_limits;
mod read;
mod refusal;
mod server;

pub use super::{
    FaultPosition, MainRequests, MessageStopReason, ModelScript, OfferedTool, PromptBlock,
    PromptMessage, PromptToolResult, ReceivedPrompt, Refusal, Request, ScriptedMessage,
    StreamFault, Thinking, Turn, Usage,
};
pub use rate_limits::{Claim, LimitWindow, RateLimits};
pub use server::AnthropicServer;
