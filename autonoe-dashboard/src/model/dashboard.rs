//! [`Dashboard`]: snapshot of a fleet, with its progress and its totals.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use autonoe_core::agent::{CostTotal, TokenUsage};
use autonoe_core::time::millis;
use autonoe_core::tool::plain_schema;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::member_row::{AlertLine, MemberRow, MemberRowId, MemberRowStatus};
use crate::{FleetIntent, RunIntent, RunPage};

/// Snapshot of a fleet, as displayed by views.
///
/// ```
/// use autonoe_dashboard::{Dashboard, MemberRow, MemberRowStatus};
///
/// let mut api = MemberRow::new("api", "codex");
/// api.status = MemberRowStatus::Completed;
/// let fleet = Dashboard::new("Build the shop", "parallel")
///     .with_members(vec![api, MemberRow::new("pages", "claude")]);
///
/// assert_eq!((fleet.totals.done, fleet.totals.total), (1, 2));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Dashboard {
    /// Goal of the fleet.
    pub objective: String,
    /// Strategy of the fleet, for example `race`.
    pub strategy: String,
    /// Current phase.
    pub phase: FleetPhase,
    /// Start time; `None` before the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// Time since the start.
    #[serde(rename = "elapsedMs", with = "millis")]
    #[schemars(with = "u64")]
    pub elapsed: Duration,
    /// Members, in the order of the fleet.
    pub members: Vec<MemberRow>,
    /// Totals of all members. May exceed the sum of the members, because a coordinator also uses
    /// tokens and money.
    pub totals: Totals,
    /// Alerts, most recent first. Include only those worth showing: every snapshot contains them.
    pub alerts: Vec<AlertLine>,
}

impl Dashboard {
    /// Creates the snapshot of a fleet that has no members and has not started.
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
    pub fn with_members(mut self, members: Vec<MemberRow>) -> Self {
        self.members = members;
        self.update_totals();
        self
    }

    /// Sets the totals to the sum of the members.
    pub fn update_totals(&mut self) {
        self.totals = Totals::from_members(&self.members);
    }

    /// Returns the member with this ID.
    pub fn member(&self, id: &MemberRowId) -> Option<&MemberRow> {
        self.members.iter().find(|member| member.id == *id)
    }
}

/// Phase of a fleet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FleetPhase {
    /// Not started.
    #[default]
    Waiting,
    /// Running.
    Running,
    /// Paused.
    Paused,
    /// Stopping, but not ended yet.
    Stopping,
    /// Ended with its work done.
    Succeeded,
    /// Ended with its work not done.
    Failed,
    /// Stopped from outside.
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

/// Returns the JSON Schemas of snapshots and intents, by name.
///
/// ```
/// assert!(autonoe_dashboard::schemas().contains_key("dashboard"));
/// ```
pub fn schemas() -> BTreeMap<String, Value> {
    [
        ("dashboard", plain_schema::<Dashboard>()),
        ("dashboard.intent", plain_schema::<FleetIntent>()),
        ("dashboard.run", plain_schema::<RunPage>()),
        ("dashboard.run-intent", plain_schema::<RunIntent>()),
    ]
    .map(|(name, schema)| (name.to_owned(), schema.to_value()))
    .into()
}

/// Sums over all members of a fleet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Totals {
    /// Cost, as far as known.
    pub cost: CostTotal,
    /// Tokens used.
    pub tokens: TokenUsage,
    /// Number of members that completed their work.
    pub done: u32,
    /// Number of members that failed or were stopped.
    pub lost: u32,
    /// Number of members.
    pub total: u32,
}

impl Totals {
    /// Sums up `members`.
    pub fn from_members(members: &[MemberRow]) -> Self {
        let mut totals = Self::default();
        for member in members {
            totals.cost.merge(member.cost);
            totals.tokens += member.tokens;
            totals.total = totals.total.saturating_add(1);
            match member.status {
                MemberRowStatus::Completed => totals.done = totals.done.saturating_add(1),
                MemberRowStatus::Failed | MemberRowStatus::Stopped => {
                    totals.lost = totals.lost.saturating_add(1);
                }
                MemberRowStatus::Pending | MemberRowStatus::Running | MemberRowStatus::Paused => {}
            }
        }
        totals
    }
}
