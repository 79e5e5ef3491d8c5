//! Alerts, as views show them.

use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::MemberId;

/// One alert.
///
/// ```
/// use autonoe_dashboard::{AlertLine, AlertSeverity};
///
/// let at = "2026-01-31T18:00:05Z".parse()?;
/// let alert = AlertLine::new(AlertSeverity::Warning, "no_progress", "two iterations without any", at)
///     .of("backend");
///
/// assert_eq!(alert.harness.as_ref().map(|id| id.as_str()), Some("backend"));
/// # Ok::<(), jiff::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AlertLine {
    /// How bad it is.
    pub severity: AlertSeverity,
    /// What kind of alert, for example `no_progress`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whose alert; `None` if it is the coordinator's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<MemberId>,
    /// What is to be said.
    pub message: String,
    /// When it was raised.
    pub timestamp: Timestamp,
}

impl AlertLine {
    /// Makes an alert of the coordinator.
    pub fn new(
        severity: AlertSeverity,
        kind: impl Into<String>,
        message: impl Into<String>,
        timestamp: Timestamp,
    ) -> Self {
        Self {
            severity,
            kind: kind.into(),
            harness: None,
            message: message.into(),
            timestamp,
        }
    }

    /// Says whose alert it is.
    #[must_use]
    pub fn of(mut self, harness: impl Into<MemberId>) -> Self {
        self.harness = Some(harness.into());
        self
    }
}

/// How bad an alert is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum AlertSeverity {
    /// Good to know.
    Info,
    /// May become worse.
    Warning,
    /// A person should look at once.
    Critical,
    /// Something came out well.
    Success,
    /// Something did not work.
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
