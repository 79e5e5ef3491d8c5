//! What happened between harnesses, in one order.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::HarnessId;

/// A place among events: behind all that were read so far.
///
/// It only rises. Events that come later have higher ones, whoever wrote them.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Cursor(pub(crate) u64);

impl Cursor {
    /// Before the first event.
    pub const START: Self = Self(0);

    /// Takes a number that [`get`](Self::get) returned.
    pub fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns it as a number, to keep it somewhere.
    pub fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Something that is to be told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NewHarnessEvent {
    /// What kind of thing happened: `spawn`, `progress`, `complete`, `fail`, `instruction` or
    /// another word.
    pub kind: String,
    /// Which harness it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<HarnessId>,
    /// What is known of it.
    #[serde(default)]
    pub details: Value,
    /// When it happened.
    pub at: Timestamp,
    /// Identifies the event. Of events with the same key, only the first is kept, so that an event
    /// can be emitted again after a crash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl NewHarnessEvent {
    /// Makes an event without details.
    pub fn new(kind: impl Into<String>, at: Timestamp) -> Self {
        Self {
            kind: kind.into(),
            harness: None,
            details: Value::Null,
            at,
            key: None,
        }
    }

    /// Says which harness it is about.
    #[must_use]
    pub fn about(mut self, harness: HarnessId) -> Self {
        self.harness = Some(harness);
        self
    }

    /// Sets the key by which it is kept once.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Says what is known of it.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = details;
        self
    }
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HarnessEvent {
    /// Where it stands. Ask for what came after it with this.
    pub cursor: Cursor,
    /// What happened.
    #[serde(flatten)]
    pub event: NewHarnessEvent,
}

impl HarnessEvent {
    /// Puts an event in its place: for implementers of ports.
    pub fn new(cursor: Cursor, event: NewHarnessEvent) -> Self {
        Self { cursor, event }
    }
}
