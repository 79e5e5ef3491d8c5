//! Names of runs and sessions.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Names one run; no two runs share it.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    /// Takes `text` as the id of a run.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names one session: the run, and the number of the session in it, from 1.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct SessionKey {
    /// The run.
    pub run: RunId,
    /// The number of the session within the run, from 1, never used twice.
    pub number: u32,
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.run, self.number)
    }
}

/// Counts who may write: each takeover of a project raises it.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
pub struct Epoch(pub u64);

impl Epoch {
    /// Returns the epoch of the next takeover, or `None` after the last one that can be written.
    ///
    /// ```
    /// use autonoe_core::Epoch;
    ///
    /// assert_eq!(Epoch(1).next(), Some(Epoch(2)));
    /// assert_eq!(Epoch(u64::MAX).next(), None);
    /// ```
    pub fn next(self) -> Option<Self> {
        self.0.checked_add(1).map(Self)
    }
}

/// Names a conversation in the words of the backend, so that it can be resumed.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct AgentSessionId(String);

impl AgentSessionId {
    /// Takes `text` as the backend's name of a conversation.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AgentSessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
