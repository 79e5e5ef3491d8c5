//! An alert.

use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::HarnessId;

/// How much an alert matters. It is written as in the specification, in capitals: `WARNING`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Severity {
    /// Good to know.
    Info,
    /// It may go wrong.
    Warning,
    /// Somebody must look now.
    Critical,
    /// It went well.
    Success,
    /// It went wrong.
    Error,
}

impl Severity {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Info,
        Self::Warning,
        Self::Critical,
        Self::Success,
        Self::Error,
    ];
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
            Self::Success => "success",
            Self::Error => "error",
        })
    }
}

/// Something that somebody should know now.
///
/// ```
/// use autonoe_harness::{Alert, HarnessId, Severity};
/// use jiff::Timestamp;
///
/// let alert = Alert::new("no_progress", Severity::Warning, "nothing new", Timestamp::UNIX_EPOCH)
///     .of(HarnessId::new("a"))
///     .in_iteration(3)
///     .with("score", 0.1);
///
/// let json = serde_json::to_value(&alert).expect("it serialises");
/// assert_eq!(json["type"], "no_progress");
/// assert_eq!(json["context"]["score"], 0.1);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Alert {
    /// What kind of thing it is about, in a word for programs.
    #[serde(rename = "type")]
    pub kind: String,
    /// How much it matters.
    pub severity: Severity,
    /// A sentence for people.
    pub message: String,
    /// When it came.
    pub timestamp: Timestamp,
    /// The iteration that it came in; 0 outside of any.
    #[serde(default)]
    pub iteration: u32,
    /// What else is known.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
    /// The harness that it is about; none for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<HarnessId>,
}

impl Alert {
    /// Makes an alert about all, outside of any iteration.
    pub fn new(
        kind: impl Into<String>,
        severity: Severity,
        message: impl Into<String>,
        at: Timestamp,
    ) -> Self {
        Self {
            kind: kind.into(),
            severity,
            message: message.into(),
            timestamp: at,
            iteration: 0,
            context: Map::new(),
            harness: None,
        }
    }

    /// Says which harness it is about.
    #[must_use]
    pub fn of(mut self, harness: HarnessId) -> Self {
        self.harness = Some(harness);
        self
    }

    /// Says which iteration it came in.
    #[must_use]
    pub fn in_iteration(mut self, iteration: u32) -> Self {
        self.iteration = iteration;
        self
    }

    /// Says something else that is known.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.context.insert(key.into(), value.into());
        self
    }
}
