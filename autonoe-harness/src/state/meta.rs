//! The state of a coordinator.

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::StateError;
use crate::{Accounts, AggregatedResult, HarnessId, Member, MemberState};

/// A fleet that is to be led.
///
/// ```
/// use autonoe_harness::{FleetPlan, HarnessId};
/// use serde_json::json;
///
/// let plan = FleetPlan::new("login", json!({"strategy": {"type": "race"}}))
///     .with(HarnessId::new("a"), json!({"cli": "codex"}))
///     .with(HarnessId::new("b"), json!({"cli": "claude"}));
///
/// assert_eq!(plan.members.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FleetPlan {
    /// Its name.
    pub id: String,
    /// What it is to do, in the coordinator's own form.
    pub spec: Value,
    /// Its members in their order, each with what it is to do.
    pub members: Vec<(HarnessId, Value)>,
}

impl FleetPlan {
    /// Makes a fleet of nobody.
    pub fn new(id: impl Into<String>, spec: Value) -> Self {
        Self {
            id: id.into(),
            spec,
            members: Vec::new(),
        }
    }

    /// Adds a member.
    #[must_use]
    pub fn with(mut self, id: HarnessId, spec: Value) -> Self {
        self.members.push((id, spec));
        self
    }

    /// Tells whether no two members share a name.
    pub(super) fn check(&self) -> Result<(), StateError> {
        for (index, (id, _)) in self.members.iter().enumerate() {
            if self.members[..index].iter().any(|(other, _)| other == id) {
                return Err(StateError::Invalid(format!("there are two members {id}")));
            }
        }
        Ok(())
    }
}

/// A fleet as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FleetRecord {
    /// What it is to do.
    pub plan: FleetPlan,
    /// What became of its members, in their order.
    pub members: Vec<Member>,
    /// What it came to; `None` while it has not ended.
    pub result: Option<AggregatedResult>,
    /// The epoch of who led it last; 0 before the first.
    pub epoch: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
}

impl FleetRecord {
    /// Makes the record of a fleet in which all wait: for implementers.
    pub fn new(plan: FleetPlan, now: Timestamp) -> Self {
        let members = plan.members.iter().map(|(id, _)| Member {
            id: id.clone(),
            state: MemberState::Waiting,
        });
        Self {
            members: members.collect(),
            plan,
            result: None,
            epoch: 0,
            created_at: now,
            updated_at: now,
        }
    }
}

/// The right to lead a fleet, until somebody else takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FleetLead {
    /// The fleet.
    pub fleet: String,
    /// The epoch: higher than that of every one before.
    pub epoch: u64,
}

impl FleetLead {
    /// Makes a lead: for implementers.
    pub fn new(fleet: impl Into<String>, epoch: u64) -> Self {
        let fleet = fleet.into();
        Self { fleet, epoch }
    }

    pub(super) fn fenced(&self) -> StateError {
        StateError::fenced(format_args!("the fleet {}", self.fleet), self.epoch)
    }
}

/// Something that a coordinator decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DecisionRecord {
    /// Its number in the fleet, from 1.
    pub number: u64,
    /// What was decided, in the coordinator's own form.
    pub decision: Value,
    /// The epoch of who decided.
    pub epoch: u64,
    /// When.
    pub at: Timestamp,
}

/// Keeps the fleets of coordinators: who is in them, what was decided, what is left of the budget.
///
/// One coordinator leads a fleet at a time: [`lead`](Self::lead) takes it over from whoever led it
/// before, whose writes are refused from then on. An implementer owes all or nothing, that what
/// was acknowledged stays as far as it promises to survive anything, and that neither a member nor
/// a fleet that has ended is changed.
///
/// A caller may drop any future of it: what was asked for happens or not, but never half.
///
/// ```
/// use autonoe_harness::{FleetPlan, HarnessId, MemberState, MemoryMeta, MetaState};
/// use jiff::Timestamp;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let meta = MemoryMeta::new();
/// let now = Timestamp::UNIX_EPOCH;
/// let plan = FleetPlan::new("login", json!({})).with(HarnessId::new("a"), json!({}));
/// meta.create_fleet(&plan, now).await?;
///
/// let lead = meta.lead("login", now).await?;
/// meta.set_member(&lead, &HarnessId::new("a"), &MemberState::Running, now).await?;
///
/// let other = meta.lead("login", now).await?;
/// assert!(meta.set_member(&lead, &HarnessId::new("a"), &MemberState::Stopping, now).await.is_err());
/// assert_eq!(other.epoch, lead.epoch + 1);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait MetaState: Send + Sync {
    /// Keeps a fleet, all of whose members wait. The same one again changes nothing.
    ///
    /// # Errors
    ///
    /// [`StateError::Conflict`] if there is another one of that name, [`StateError::Invalid`] if
    /// two members share one.
    async fn create_fleet(&self, plan: &FleetPlan, now: Timestamp) -> Result<(), StateError>;

    /// Returns a fleet, or `None` if there is none of that name.
    async fn fleet(&self, id: &str) -> Result<Option<FleetRecord>, StateError>;

    /// Returns all fleets in the order in which they were made.
    async fn fleets(&self) -> Result<Vec<FleetRecord>, StateError>;

    /// Takes the lead of a fleet.
    ///
    /// # Errors
    ///
    /// [`StateError::Unknown`].
    async fn lead(&self, fleet: &str, now: Timestamp) -> Result<FleetLead, StateError>;

    /// Notes what became of a member. To say the same again changes nothing.
    ///
    /// # Errors
    ///
    /// [`StateError::Fenced`]; [`StateError::Unknown`]; [`StateError::Conflict`] if it or its
    /// fleet has ended.
    async fn set_member(
        &self,
        lead: &FleetLead,
        member: &HarnessId,
        state: &MemberState,
        now: Timestamp,
    ) -> Result<(), StateError>;

    /// Ends a fleet. To say the same again changes nothing.
    ///
    /// # Errors
    ///
    /// [`StateError::Fenced`]; [`StateError::Conflict`] if it has ended otherwise.
    async fn finish_fleet(
        &self,
        lead: &FleetLead,
        result: &AggregatedResult,
        now: Timestamp,
    ) -> Result<(), StateError>;

    /// Notes what was decided, and returns its number.
    ///
    /// # Errors
    ///
    /// [`StateError::Fenced`].
    async fn append_decision(
        &self,
        lead: &FleetLead,
        decision: &Value,
        now: Timestamp,
    ) -> Result<u64, StateError>;

    /// Returns what was decided in a fleet, in order.
    async fn decisions(&self, fleet: &str) -> Result<Vec<DecisionRecord>, StateError>;

    /// Keeps the accounts of a fleet in place of those before.
    ///
    /// # Errors
    ///
    /// [`StateError::Fenced`].
    async fn save_accounts(
        &self,
        lead: &FleetLead,
        accounts: &Accounts,
        now: Timestamp,
    ) -> Result<(), StateError>;

    /// Returns the accounts of a fleet, or `None` if none were kept.
    async fn accounts(&self, fleet: &str) -> Result<Option<Accounts>, StateError>;
}

/// Tells whether a member may come to stand like this: `Ok(false)` if it does already.
pub(super) fn may_become(
    id: &HarnessId,
    before: &MemberState,
    after: &MemberState,
) -> Result<bool, StateError> {
    match before {
        before if before == after => Ok(false),
        MemberState::Ended { .. } => Err(StateError::Conflict(format!("end of the member {id}"))),
        _ => Ok(true),
    }
}

/// Tells whether a fleet may end like this: `Ok(false)` if it did already.
pub(super) fn may_end(
    id: &str,
    before: Option<&AggregatedResult>,
    after: &AggregatedResult,
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
