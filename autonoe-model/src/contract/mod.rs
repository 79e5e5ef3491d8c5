//! Provider-independent contract: requests, answers, errors and usage of models.

mod error;
mod message;
mod model_client;
mod reply;

pub use error::{ModelError, ModelErrorCode};
pub use message::{AssistantMessage, Message, MessagePart, PartKind, ToolResult, WireItem};
pub use model_client::{ModelClient, ModelIdentity, ModelRequest, ToolChoice, model_fn};
pub(crate) use reply::Meter;
pub use reply::{CallUsage, ModelEvent, ModelReply, ModelStream, StopReason};
