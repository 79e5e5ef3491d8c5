//! [`AlertLine`]: an alert in a snapshot.

use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::MemberRowId;

/// An alert of a member or of the coordinator.
///
/// ```
/// use autonoe_dashboard::{AlertLine, AlertSeverity};
///
/// let at = "2026-01-31T18:00:05Z".parse()?;
/// let alert = AlertLine::new(AlertSeverity::Warning, "no_progress", "two iterations without any", at)
///     .member("backend");
///
/// assert_eq!(alert.member.as_ref().map(|id| id.as_str()), Some("backend"));
/// # Ok::<(), jiff::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AlertLine {
    /// Severity.
    pub severity: AlertSeverity,
    /// Kind of the alert, for example `no_progress`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Member that raised the alert; `None` for the coordinator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberRowId>,
    /// Text of the alert.
    pub message: String,
    /// Time when the alert was raised.
    pub timestamp: Timestamp,
}

impl AlertLine {
    /// Creates an alert of the coordinator.
    pub fn new(
        severity: AlertSeverity,
        kind: impl Into<String>,
        message: impl Into<String>,
        timestamp: Timestamp,
    ) -> Self {
        Self {
            severity,
            kind: kind.into(),
            member: None,
            message: message.into(),
            timestamp,
        }
    }

    /// Sets the member that raised the alert.
    #[must_use]
    pub fn member(mut self, harness: impl Into<MemberRowId>) -> Self {
        self.member = Some(harness.into());
        self
    }
}

/// Severity of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum AlertSeverity {
    /// Informational.
    Info,
    /// Could get worse.
    Warning,
    /// Needs a human immediately.
    Critical,
    /// Reports a success.
    Success,
    /// Reports a failure.
    Error,
}

impl fmt::Display for AlertSeverity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
            Self::Success => "success",
            Self::Error => "error",
        })
    }
}
