//! State of a coordinator: its fleets, decisions and accounts.

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::StateError;
use crate::budget::Account;
use crate::strategy::{AggregatedReport, Member, MemberId, MemberState};

/// Plan of a fleet.
///
/// ```
/// use autonoe_harness::state::FleetPlan;
/// use autonoe_harness::strategy::MemberId;
/// use serde_json::json;
///
/// let plan = FleetPlan::new("login", json!({"strategy": {"type": "race"}}))
///     .member(MemberId::new("a"), json!({"cli": "codex"}))
///     .member(MemberId::new("b"), json!({"cli": "claude"}));
///
/// assert_eq!(plan.members.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FleetPlan {
    /// The name of the fleet.
    pub id: String,
    /// The specification of the fleet, in the coordinator's own format.
    pub spec: Value,
    /// The members in order, each with its specification.
    pub members: Vec<(MemberId, Value)>,
}

impl FleetPlan {
    /// Creates a fleet without members.
    pub fn new(id: impl Into<String>, spec: Value) -> Self {
        Self {
            id: id.into(),
            spec,
            members: Vec::new(),
        }
    }

    /// Adds a member.
    #[must_use]
    pub fn member(mut self, id: MemberId, spec: Value) -> Self {
        self.members.push((id, spec));
        self
    }

    /// Checks that member names are unique.
    pub(super) fn check(&self) -> Result<(), StateError> {
        for (index, (id, _)) in self.members.iter().enumerate() {
            if self.members[..index].iter().any(|(other, _)| other == id) {
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
    /// The result; `None` while it has not ended.
    pub result: Option<AggregatedReport>,
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
    /// Creates a leadership, for implementations of [`MetaState`].
    pub fn new(fleet: impl Into<String>, epoch: u64) -> Self {
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

/// Stores the fleets of coordinators: their members, decisions and accounts.
///
/// One coordinator leads a fleet at a time: `lead` takes it over from the previous
/// leader, whose writes are refused from then on. Implementations must apply each operation fully
/// or not at all, must keep acknowledged writes as far as they promise durability, and must never
/// change a member or a fleet that has ended.
///
/// Any returned future may be dropped: the operation then happens or does not, but never in part.
///
/// ```
/// use autonoe_harness::state::{FleetPlan, MetaState, SqliteMeta};
/// use autonoe_harness::strategy::{MemberId, MemberState};
/// use jiff::Timestamp;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let meta = SqliteMeta::in_memory().await?;
/// let now = Timestamp::UNIX_EPOCH;
/// let plan = FleetPlan::new("login", json!({})).member(MemberId::new("a"), json!({}));
/// meta.create_fleet(&plan, now).await?;
///
/// let leadership = meta.acquire_lead("login", now).await?;
/// meta.set_member(&leadership, &MemberId::new("a"), &MemberState::Running, now).await?;
///
/// let other = meta.acquire_lead("login", now).await?;
/// assert!(meta.set_member(&leadership, &MemberId::new("a"), &MemberState::Stopping, now).await.is_err());
/// assert_eq!(other.epoch, leadership.epoch + 1);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait MetaState: Send + Sync {
    /// Records a fleet, all of whose members wait. Recording the same plan again changes nothing.
    ///
    /// # Errors
    ///
    /// [`StateError::Conflict`] if another fleet has that name, [`StateError::Invalid`] if two
    /// members share a name.
    async fn create_fleet(&self, plan: &FleetPlan, now: Timestamp) -> Result<(), StateError>;

    /// Returns a fleet, or `None` if it does not exist.
    async fn fleet(&self, id: &str) -> Result<Option<FleetRecord>, StateError>;

    /// Returns all fleets, in creation order.
    async fn fleets(&self) -> Result<Vec<FleetRecord>, StateError>;

    /// Takes over the leadership of a fleet.
    ///
    /// # Errors
    ///
    /// [`StateError::Unknown`].
    async fn acquire_lead(&self, fleet: &str, now: Timestamp) -> Result<LeaderToken, StateError>;

    /// Records the state of a member. Recording the same state again changes nothing.
    ///
    /// # Errors
    ///
    /// [`StateError::Fenced`]; [`StateError::Unknown`]; [`StateError::Conflict`] if it or its fleet
    /// has ended.
    async fn set_member(
        &self,
        lead: &LeaderToken,
        member: &MemberId,
        state: &MemberState,
        now: Timestamp,
    ) -> Result<(), StateError>;

    /// Records the end of a fleet. Recording the same result again changes nothing.
    ///
    /// # Errors
    ///
    /// [`StateError::Fenced`]; [`StateError::Conflict`] if it has ended with another result.
    async fn finish_fleet(
        &self,
        lead: &LeaderToken,
        result: &AggregatedReport,
        now: Timestamp,
    ) -> Result<(), StateError>;

    /// Records a decision, and returns its number.
    ///
    /// # Errors
    ///
    /// [`StateError::Fenced`].
    async fn append_decision(
        &self,
        lead: &LeaderToken,
        decision: &Value,
        now: Timestamp,
    ) -> Result<u64, StateError>;

    /// Returns the decisions of a fleet, in order.
    async fn decisions(&self, fleet: &str) -> Result<Vec<DecisionRecord>, StateError>;

    /// Replaces the accounts of a fleet.
    ///
    /// # Errors
    ///
    /// [`StateError::Fenced`].
    async fn save_accounts(
        &self,
        lead: &LeaderToken,
        accounts: &Account,
        now: Timestamp,
    ) -> Result<(), StateError>;

    /// Returns the accounts of a fleet, or `None` if none were saved.
    async fn accounts(&self, fleet: &str) -> Result<Option<Account>, StateError>;
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
    before: Option<&AggregatedReport>,
    after: &AggregatedReport,
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
