//! What a cassette holds.

use autonoe_core::{AgentError, Capabilities, InstructionName, StreamEvent};
use serde::{Deserialize, Serialize};

use super::failure::RecordedFailure;

/// The sessions of a run, as a backend played them.
///
/// It holds what was said to the agent and all that came back, in order. The
/// decisions of the gate and the results of tools are in there too: they are
/// the [`ToolStatus`](autonoe_core::ToolStatus) of each response. It holds no
/// times and no environment. A [`Recorder`](super::Recorder) makes one, a
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

    /// Returns what the backend could do, if it was asked.
    pub fn backend(&self) -> Option<&Capabilities> {
        self.backend.as_ref()
    }

    /// Returns the sessions, in the order of their start.
    pub fn sessions(&self) -> &[RecordedSession] {
        &self.sessions
    }
}

/// One session of a cassette.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordedSession {
    /// Its number in the run.
    pub number: u32,
    /// What the agent was told to do, by name.
    pub instruction: InstructionName,
    /// The model that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The names of our tools that it was offered.
    pub tools: Vec<String>,
    /// Why the backend made no client for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<RecordedFailure>,
    /// What was said and done, prompt by prompt.
    pub turns: Vec<RecordedTurn>,
}

/// A prompt and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordedTurn {
    /// The prompt.
    pub prompt: String,
    /// What the stream carried, in order.
    pub stream: Vec<RecordedItem>,
    /// How the stream ended.
    pub end: TurnEnd,
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

/// How a recorded stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// The backend ended it.
    Closed,
    /// Whoever listened went away first: after the `End`, or because it took too long.
    LeftOpen,
}
