//! The whole fleet at one moment.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use autonoe_core::plain_schema;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AlertLine, Member, MemberId, Totals};
use crate::FleetIntent;

/// The whole fleet at one moment, as views show it.
///
/// ```
/// use autonoe_dashboard::{Dashboard, Member, MemberStatus};
///
/// let mut api = Member::new("api", "codex");
/// api.status = MemberStatus::Completed;
/// let fleet = Dashboard::new("Build the shop", "parallel")
///     .with_members(vec![api, Member::new("pages", "claude")]);
///
/// assert_eq!((fleet.totals.done, fleet.totals.total), (1, 2));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Dashboard {
    /// What the fleet is for.
    pub objective: String,
    /// How its members work together, for example `race`.
    pub strategy: String,
    /// What it does.
    pub phase: FleetPhase,
    /// When it began; `None` before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// How long it has been at work.
    #[serde(rename = "elapsedMs", with = "millis")]
    #[schemars(with = "u64")]
    pub elapsed: Duration,
    /// The agents, in the order of the fleet.
    pub members: Vec<Member>,
    /// What they come to together. It may be more than their sum: a coordinator spends too.
    pub totals: Totals,
    /// Alerts, the most recent first. Those worth showing: they travel with every snapshot.
    pub alerts: Vec<AlertLine>,
}

impl Dashboard {
    /// Makes a fleet without members that has not begun.
    pub fn new(objective: impl Into<String>, strategy: impl Into<String>) -> Self {
        Self {
            objective: objective.into(),
            strategy: strategy.into(),
            phase: FleetPhase::default(),
            started_at: None,
            elapsed: Duration::ZERO,
            members: Vec::new(),
            totals: Totals::default(),
            alerts: Vec::new(),
        }
    }

    /// Sets the members, and the totals to their sum.
    #[must_use]
    pub fn with_members(mut self, members: Vec<Member>) -> Self {
        self.members = members;
        self.sum_up();
        self
    }

    /// Sets the totals to the sum of the members.
    pub fn sum_up(&mut self) {
        self.totals = Totals::of(&self.members);
    }

    /// Returns a member by its name.
    pub fn member(&self, id: &MemberId) -> Option<&Member> {
        self.members.iter().find(|member| member.id == *id)
    }
}

/// What a fleet does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FleetPhase {
    /// It has not begun.
    #[default]
    Waiting,
    /// It works.
    Running,
    /// It is held.
    Paused,
    /// It was told to end, and has not ended yet.
    Stopping,
    /// It ended, and its work is done.
    Succeeded,
    /// It ended, and its work is not done.
    Failed,
    /// It was ended from outside.
    Stopped,
}

impl fmt::Display for FleetPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Stopping => "stopping",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        })
    }
}

/// A duration as whole milliseconds.
mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        duration: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        millis.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }
}

/// Returns the JSON Schemas of snapshots and of what persons ask for, by name.
///
/// ```
/// assert!(autonoe_dashboard::schemas().contains_key("dashboard"));
/// ```
pub fn schemas() -> BTreeMap<String, Value> {
    [
        ("dashboard", plain_schema::<Dashboard>()),
        ("dashboard.intent", plain_schema::<FleetIntent>()),
    ]
    .map(|(name, schema)| (name.to_owned(), schema.to_value()))
    .into()
}
