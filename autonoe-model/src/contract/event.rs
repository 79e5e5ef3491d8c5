//! An answer as it comes.

use std::time::Duration;

use autonoe_core::TokenUsage;
use futures::stream::BoxStream;

use super::{ModelError, ModelReply};

/// An answer as it comes: it ends with one [`ModelEvent::Done`] or one error.
pub type ModelStream = BoxStream<'static, Result<ModelEvent, ModelError>>;

/// A part of an answer, or the whole of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ModelEvent {
    /// The model says more.
    Text(String),
    /// The model thinks more, where it shows that.
    Thinking(String),
    /// The model begins to call a tool. The call itself is in the [`Done`](Self::Done).
    ToolCall {
        /// The call.
        id: String,
        /// The tool.
        name: String,
    },
    /// The provider lives, and tells nothing else.
    Alive,
    /// What the call has used so far, where the provider tells it early. It is a part of what the
    /// [`Done`](Self::Done) says, and counts if none comes.
    Used(TokenUsage),
    /// The call failed and is made again: what came so far counts for nothing. What it used is
    /// in the error and counts.
    Retrying {
        /// Why it failed.
        error: ModelError,
        /// Which try comes now; the first was 1.
        attempt: u32,
        /// After which wait.
        delay: Duration,
    },
    /// The whole answer.
    Done(Box<ModelReply>),
}
