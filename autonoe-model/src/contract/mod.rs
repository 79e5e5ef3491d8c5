//! What a model is asked, what it answers, and how it fails.

mod collect;
mod error;
mod event;
mod message;
mod model_client;
mod model_fn;
mod reply;
mod request;
mod stop_reason;
mod usage;

pub use error::{ModelError, ModelErrorCode};
pub use event::{ModelEvent, ModelStream};
pub use message::{AssistantMessage, Message, Part, PartKind, ToolResult, WireItem};
pub use model_client::{ModelClient, ModelIdentity};
pub use model_fn::model_fn;
pub use reply::ModelReply;
pub use request::{ModelRequest, ToolChoice};
pub use stop_reason::StopReason;
pub use usage::CallUsage;
pub(crate) use usage::Meter;
