//! One agent of the fleet.

use std::fmt;

use autonoe_core::{CostTotal, TokenUsage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AlertLine, Progress};

/// Names one agent of the fleet; no two of a snapshot share it.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct MemberId(String);

impl MemberId {
    /// Takes `text` as the id of a member.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: Into<String>> From<T> for MemberId {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

impl fmt::Display for MemberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How a member stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MemberStatus {
    /// It has not begun.
    #[default]
    Pending,
    /// It works.
    Running,
    /// It is held until it is resumed.
    Paused,
    /// Its work is done.
    Completed,
    /// Its work is not done, and it will not go on.
    Failed,
    /// It was ended from outside.
    Stopped,
}

impl MemberStatus {
    /// Tells whether it will not change any more.
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Stopped)
    }
}

impl fmt::Display for MemberStatus {
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

/// One agent of the fleet, as views show it.
///
/// ```
/// use autonoe_dashboard::{Member, MemberStatus, Progress};
///
/// let mut member = Member::new("api", "codex");
/// member.status = MemberStatus::Running;
/// member.progress = Progress::of(0.4);
/// member.task = Some("Write the handlers".to_owned());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Member {
    /// Its name.
    pub id: MemberId,
    /// Which backend it works on.
    pub backend: String,
    /// Which model it works with, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How it stands.
    pub status: MemberStatus,
    /// How far it has come.
    pub progress: Progress,
    /// What it works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The number of its iteration; 0 before the first.
    pub iteration: u32,
    /// What it cost, as far as that is known.
    pub cost: CostTotal,
    /// The tokens that it used.
    pub tokens: TokenUsage,
    /// Its most recent alert.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_alert: Option<AlertLine>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The question that it waits for a person to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Why nobody can ask it for anything now, although it has not ended. It is for servers, which
    /// refuse with it, and does not travel.
    #[serde(skip)]
    pub unreachable: Option<String>,
    /// The end of its log, oldest line first. A few lines: they travel with every snapshot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<String>,
}

impl Member {
    /// Makes a member that has not begun.
    pub fn new(id: impl Into<MemberId>, backend: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            backend: backend.into(),
            model: None,
            status: MemberStatus::default(),
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
