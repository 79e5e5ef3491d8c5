//! Records of a fleet: its plan, its leader and its decisions.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::StateError;
use crate::coordinate::FleetReport;
use crate::strategy::{Member, MemberId, MemberState};

/// Plan of a fleet.
///
/// ```
/// use autonoe_harness::state::FleetPlan;
/// use autonoe_harness::strategy::MemberId;
/// use serde_json::json;
///
/// let members = ["codex", "claude"].map(MemberId::new);
/// let plan = FleetPlan::new("login", json!({"strategy": {"type": "race"}}), members);
///
/// assert_eq!(plan.members.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FleetPlan {
    /// The name of the fleet.
    pub id: String,
    /// The specification of the fleet and of its members, in the coordinator's own format.
    pub spec: Value,
    /// The members, in order.
    pub members: Vec<MemberId>,
}

impl FleetPlan {
    /// Creates the plan of a fleet.
    pub fn new(
        id: impl Into<String>,
        spec: Value,
        members: impl IntoIterator<Item = MemberId>,
    ) -> Self {
        Self {
            id: id.into(),
            spec,
            members: members.into_iter().collect(),
        }
    }

    /// Checks that member names are unique.
    pub(super) fn check(&self) -> Result<(), StateError> {
        for (index, id) in self.members.iter().enumerate() {
            if self.members[..index].contains(id) {
                return Err(StateError::Invalid(format!(
                    "two members have the name {id}"
                )));
            }
        }
        Ok(())
    }
}

/// A recorded fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FleetRecord {
    /// The plan.
    pub plan: FleetPlan,
    /// The states of its members, in order.
    pub members: Vec<Member>,
    /// The report; `None` while the fleet has not ended.
    pub result: Option<FleetReport>,
    /// The epoch of its last leader; 0 before the first.
    pub epoch: u64,
    /// The creation time.
    pub created_at: Timestamp,
    /// The time of the last change.
    pub updated_at: Timestamp,
}

/// Leadership of a fleet, until another process takes it over.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeaderToken {
    /// The fleet.
    pub fleet: String,
    /// The epoch, a fencing token: higher than all epochs before.
    pub epoch: u64,
}

impl LeaderToken {
    pub(super) fn new(fleet: impl Into<String>, epoch: u64) -> Self {
        let fleet = fleet.into();
        Self { fleet, epoch }
    }

    pub(super) fn fenced(&self) -> StateError {
        StateError::fenced(format_args!("the fleet {}", self.fleet), self.epoch)
    }
}

/// A recorded decision of a coordinator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DecisionRecord {
    /// The number of the decision in the fleet, starting at 1.
    pub number: u64,
    /// The decision, in the coordinator's own format.
    pub decision: Value,
    /// The epoch of the leader that decided.
    pub epoch: u64,
    /// The time of the decision.
    pub at: Timestamp,
}

/// Checks a state transition of a member: `Ok(false)` if it is in that state already.
pub(super) fn check_transition(
    id: &MemberId,
    before: &MemberState,
    after: &MemberState,
) -> Result<bool, StateError> {
    match before {
        before if before == after => Ok(false),
        MemberState::Ended { .. } => Err(StateError::Conflict(format!("end of the member {id}"))),
        _ => Ok(true),
    }
}

/// Checks the end of a fleet: `Ok(false)` if it has that result already.
pub(super) fn check_end(
    id: &str,
    before: Option<&FleetReport>,
    after: &FleetReport,
) -> Result<bool, StateError> {
    match before {
        None => Ok(true),
        Some(before) if before == after => Ok(false),
        Some(_) => Err(ended_fleet(id)),
    }
}

pub(super) fn ended_fleet(id: &str) -> StateError {
    StateError::Conflict(format!("end of the fleet {id}"))
}
