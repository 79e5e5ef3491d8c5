//! The data format of a cassette.

use autonoe_core::event::InstructionName;
use autonoe_core::{AgentError, Capabilities, StreamEvent};
use serde::{Deserialize, Serialize};

use super::failure::RecordedFailure;

/// The sessions of a run, as a backend played them.
///
/// It contains the prompts for the agent and all responses, in order. It also contains the
/// decisions of the gate and the results of tools, as the
/// [`ToolStatus`](autonoe_core::tool::ToolStatus) of each response. It contains no times and no
/// environment. A [`Recorder`](super::Recorder) creates a cassette, and a
/// [`Replayer`](super::Replayer) plays it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cassette {
    pub(super) version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) backend: Option<Capabilities>,
    pub(super) sessions: Vec<RecordedSession>,
}

impl Cassette {
    /// The version of the format that this library writes, and the only one that it reads.
    pub const VERSION: u32 = 1;

    pub(super) fn new(backend: Option<Capabilities>, sessions: Vec<RecordedSession>) -> Self {
        Self {
            version: Self::VERSION,
            backend,
            sessions,
        }
    }

    /// Returns the capabilities of the backend, if it was probed.
    pub fn backend(&self) -> Option<&Capabilities> {
        self.backend.as_ref()
    }

    /// Returns the sessions in the order of their start.
    pub fn sessions(&self) -> &[RecordedSession] {
        &self.sessions
    }
}

/// One session of a cassette.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordedSession {
    /// The number of the session in the run.
    pub number: u32,
    /// The name of the session's instruction.
    pub instruction: InstructionName,
    /// The requested model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The names of the tools that Autonoe offered to the agent.
    pub tools: Vec<String>,
    /// The error if the backend created no client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<RecordedFailure>,
    /// The prompts with their responses.
    pub turns: Vec<RecordedTurn>,
}

/// A prompt and its response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordedTurn {
    /// The prompt.
    pub prompt: String,
    /// The items of the stream, in order.
    pub stream: Vec<RecordedItem>,
    /// End of the stream.
    pub end: RecordedEnd,
}

/// One item of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecordedItem {
    /// An event.
    Event(StreamEvent),
    /// An error.
    Error(RecordedFailure),
}

impl RecordedItem {
    pub(super) fn new(item: &Result<StreamEvent, AgentError>) -> Self {
        match item {
            Ok(event) => Self::Event(event.clone()),
            Err(error) => Self::Error(RecordedFailure::new(error)),
        }
    }
}

/// End of a recorded stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedEnd {
    /// The backend ended it.
    Closed,
    /// The reader dropped it first: after the `End`, or because of a timeout.
    LeftOpen,
}
