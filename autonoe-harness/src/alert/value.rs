//! Alert, its severity and the port for its receivers.

use std::fmt;

use async_trait::async_trait;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::strategy::MemberId;

/// Severity of an alert. Serialised in capitals, as in the specification: `WARNING`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Severity {
    /// Information only.
    Info,
    /// A problem may follow.
    Warning,
    /// A person must act now.
    Critical,
    /// Something succeeded.
    Success,
    /// Something failed.
    Error,
}

impl Severity {
    /// All severities.
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

/// An event that needs attention now.
///
/// ```
/// use autonoe_harness::alert::{Alert, Severity};
/// use autonoe_harness::strategy::MemberId;
/// use jiff::Timestamp;
///
/// let alert = Alert::new("no_progress", Severity::Warning, "nothing new", Timestamp::UNIX_EPOCH)
///     .member(MemberId::new("a"))
///     .iteration(3)
///     .detail("score", 0.1);
///
/// let json = serde_json::to_value(&alert).expect("it serialises");
/// assert_eq!(json["type"], "no_progress");
/// assert_eq!(json["context"]["score"], 0.1);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Alert {
    /// The kind of the alert: a stable identifier for programs.
    #[serde(rename = "type")]
    pub kind: String,
    /// The severity.
    pub severity: Severity,
    /// A sentence for people.
    pub message: String,
    /// The time at which the alert was raised.
    pub timestamp: Timestamp,
    /// The iteration in which the alert was raised; 0 outside of any.
    #[serde(default)]
    pub iteration: u32,
    /// Further details.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
    /// The member that the alert concerns; `None` for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberId>,
}

impl Alert {
    /// Creates an alert that concerns all members, outside of any iteration.
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
            member: None,
        }
    }

    /// Sets the member that the alert concerns.
    #[must_use]
    pub fn member(mut self, harness: MemberId) -> Self {
        self.member = Some(harness);
        self
    }

    /// Sets the iteration in which the alert was raised.
    #[must_use]
    pub fn iteration(mut self, iteration: u32) -> Self {
        self.iteration = iteration;
        self
    }

    /// Adds a detail to the context.
    #[must_use]
    pub fn detail(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.context.insert(key.into(), value.into());
        self
    }
}

/// Receives alerts, for example to display or to forward them.
///
/// Implementations must return in bounded time and must not block the thread. A sink that exceeds
/// its deadline is abandoned for that alert, which stays in the log. Each alert is delivered once.
/// A webhook, for example, sends the alert as JSON and returns success only if the server accepted
/// it.
///
/// The smallest sink is a closure:
///
/// ```
/// use autonoe_harness::alert::{Alert, AlertSink};
///
/// fn takes(_: impl AlertSink) {}
///
/// takes(|alert: &Alert| tracing::info!(kind = alert.kind, "an alert"));
/// ```
#[async_trait]
pub trait AlertSink: Send + Sync {
    /// Returns a name for diagnostics, for example `webhook`.
    fn name(&self) -> &str {
        "observer"
    }

    /// Delivers an alert.
    ///
    /// # Errors
    ///
    /// The alert was not accepted. The error is logged and has no other effect.
    async fn deliver(&self, alert: &Alert) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}

#[async_trait]
impl<F: Fn(&Alert) + Send + Sync> AlertSink for F {
    async fn deliver(&self, alert: &Alert) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self(alert);
        Ok(())
    }
}
