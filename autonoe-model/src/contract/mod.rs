//! Provider-independent contract: requests, answers, errors and usage of models.

mod collect;
mod error;
mod message;
mod model_client;
mod reply;
mod request;
mod usage;

pub use error::{ModelError, ModelErrorCode};
pub use message::{AssistantMessage, Message, MessagePart, PartKind, ToolResult, WireItem};
pub use model_client::{ModelClient, ModelIdentity, model_fn};
pub use reply::{ModelEvent, ModelReply, ModelStream, StopReason};
pub use request::{ModelRequest, ToolChoice};
pub use usage::CallUsage;
pub(crate) use usage::Meter;
