//! [`MemberRow`] and [`AlertLine`]: an agent and an alert in a snapshot.

use std::fmt;

use autonoe_core::agent::{CostTotal, TokenUsage};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::progress::Progress;

/// Identifies a member. Unique within a snapshot.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct MemberRowId(String);

impl MemberRowId {
    /// Creates an ID from its text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the ID as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: Into<String>> From<T> for MemberRowId {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

impl fmt::Display for MemberRowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Status of a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MemberRowStatus {
    /// Not started.
    #[default]
    Pending,
    /// Running.
    Running,
    /// Paused until resumed.
    Paused,
    /// Ended with its work done.
    Completed,
    /// Ended with its work not done. It will not be retried.
    Failed,
    /// Stopped from outside.
    Stopped,
}

impl MemberRowStatus {
    /// Returns whether the status is final.
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Stopped)
    }
}

impl fmt::Display for MemberRowStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        })
    }
}

/// One agent of the fleet, as displayed by views.
///
/// ```
/// use autonoe_dashboard::{MemberRow, MemberRowStatus, Progress};
///
/// let mut member = MemberRow::new("api", "codex");
/// member.status = MemberRowStatus::Running;
/// member.progress = Progress::new(0.4);
/// member.task = Some("Write the handlers".to_owned());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MemberRow {
    /// Unique ID.
    pub id: MemberRowId,
    /// Name of its backend.
    pub backend: String,
    /// Name of its model, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Current status.
    pub status: MemberRowStatus,
    /// Share of its work that is done.
    pub progress: Progress,
    /// Current task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Number of the current iteration; 0 before the first.
    pub iteration: u32,
    /// Cost, as far as known.
    pub cost: CostTotal,
    /// Tokens used.
    pub tokens: TokenUsage,
    /// Most recent alert.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_alert: Option<AlertLine>,
    /// Reason of a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Question that waits for a human's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Reason why the member cannot be controlled now, although it has not ended. Servers refuse
    /// intents with this message. Not serialized.
    #[serde(skip)]
    pub unreachable: Option<String>,
    /// Last lines of its log, oldest first. Keep them few: every snapshot contains them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<String>,
}

impl MemberRow {
    /// Creates a member that has not started.
    pub fn new(id: impl Into<MemberRowId>, backend: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            backend: backend.into(),
            model: None,
            status: MemberRowStatus::default(),
            progress: Progress::NONE,
            task: None,
            iteration: 0,
            cost: CostTotal::default(),
            tokens: TokenUsage::default(),
            last_alert: None,
            error: None,
            question: None,
            unreachable: None,
            log: Vec::new(),
        }
    }
}

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
