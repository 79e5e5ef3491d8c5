//! The Messages API of Anthropic, from a script.
//!
//! An [`AnthropicServer`] plays a [`Script`] of [`Turn`]s. A turn is a [`Message`] of the
//! model, a [`Refusal`] with an HTTP status, a closed connection or silence.

mod api;
mod events;
mod ids;
mod log;
mod message;
mod playing;
mod rate_limits;
mod refusal;
mod reply;
mod request;
mod script;
mod server;
mod stop;
mod stream_fault;
mod turn;

pub use message::Message;
pub use rate_limits::{Claim, LimitWindow, RateLimits};
pub use refusal::Refusal;
pub use request::{
    MessagesRequest, OfferedTool, PromptBlock, PromptMessage, Request, Thinking, ToolResult,
};
pub use script::{MainRequests, Script};
pub use server::AnthropicServer;
pub use stop::{StopReason, Usage};
pub use stream_fault::{Place, StreamFault};
pub use turn::Turn;
