//! The state of a coordinator in memory.

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value;

use crate::state::meta::{ended_fleet, may_become, may_end};
use crate::state::{DecisionRecord, FleetLead, FleetPlan, FleetRecord, MetaState, StateError};
use crate::{Accounts, AggregatedResult, HarnessId, MemberState};

/// The state of a coordinator in memory: it survives nothing.
#[derive(Debug, Default)]
pub struct MemoryMeta {
    fleets: Mutex<Vec<Kept>>,
}

/// All that is kept of a fleet.
#[derive(Debug)]
struct Kept {
    record: FleetRecord,
    decisions: Vec<DecisionRecord>,
    accounts: Option<Accounts>,
}

impl MemoryMeta {
    /// Makes the state of a coordinator without fleets.
    pub fn new() -> Self {
        Self::default()
    }

    fn fleets(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.fleets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look<T>(&self, id: &str, what: impl FnOnce(&Kept) -> T) -> Option<T> {
        let fleets = self.fleets();
        fleets
            .iter()
            .find(|kept| kept.record.plan.id == id)
            .map(what)
    }

    /// Changes a fleet for who leads it.
    fn change<T>(
        &self,
        lead: &FleetLead,
        now: Timestamp,
        change: impl FnOnce(&mut Kept) -> Result<T, StateError>,
    ) -> Result<T, StateError> {
        let mut fleets = self.fleets();
        let mut found = fleets.iter_mut();
        let found = found.find(|kept| kept.record.plan.id == lead.fleet);
        let kept = found.filter(|kept| kept.record.epoch == lead.epoch);
        let kept = kept.ok_or_else(|| lead.fenced())?;
        let done = change(kept)?;
        kept.record.updated_at = now;
        Ok(done)
    }
}

#[async_trait]
impl MetaState for MemoryMeta {
    async fn create_fleet(&self, plan: &FleetPlan, now: Timestamp) -> Result<(), StateError> {
        plan.check()?;
        let mut fleets = self.fleets();
        match fleets.iter().find(|kept| kept.record.plan.id == plan.id) {
            Some(kept) if kept.record.plan == *plan => {}
            Some(_) => return Err(StateError::Conflict(format!("fleet {}", plan.id))),
            None => fleets.push(Kept {
                record: FleetRecord::new(plan.clone(), now),
                decisions: Vec::new(),
                accounts: None,
            }),
        }
        Ok(())
    }

    async fn fleet(&self, id: &str) -> Result<Option<FleetRecord>, StateError> {
        Ok(self.look(id, |kept| kept.record.clone()))
    }

    async fn fleets(&self) -> Result<Vec<FleetRecord>, StateError> {
        let fleets = self.fleets();
        Ok(fleets.iter().map(|kept| kept.record.clone()).collect())
    }

    async fn lead(&self, fleet: &str, now: Timestamp) -> Result<FleetLead, StateError> {
        let mut fleets = self.fleets();
        let found = fleets.iter_mut().find(|kept| kept.record.plan.id == fleet);
        let kept = found.ok_or_else(|| StateError::Unknown(format!("fleet {fleet}")))?;
        kept.record.epoch += 1;
        kept.record.updated_at = now;
        Ok(FleetLead::new(fleet, kept.record.epoch))
    }

    async fn set_member(
        &self,
        lead: &FleetLead,
        member: &HarnessId,
        state: &MemberState,
        now: Timestamp,
    ) -> Result<(), StateError> {
        self.change(lead, now, |kept| {
            let found = kept
                .record
                .members
                .iter_mut()
                .find(|found| found.id == *member);
            let found = found.ok_or_else(|| StateError::Unknown(format!("member {member}")))?;
            if may_become(member, &found.state, state)? {
                if kept.record.result.is_some() {
                    return Err(ended_fleet(&lead.fleet));
                }
                found.state = state.clone();
            }
            Ok(())
        })
    }

    async fn finish_fleet(
        &self,
        lead: &FleetLead,
        result: &AggregatedResult,
        now: Timestamp,
    ) -> Result<(), StateError> {
        self.change(lead, now, |kept| {
            if may_end(&lead.fleet, kept.record.result.as_ref(), result)? {
                kept.record.result = Some(result.clone());
            }
            Ok(())
        })
    }

    async fn append_decision(
        &self,
        lead: &FleetLead,
        decision: &Value,
        now: Timestamp,
    ) -> Result<u64, StateError> {
        self.change(lead, now, |kept| {
            let number = kept.decisions.len() as u64 + 1;
            kept.decisions.push(DecisionRecord {
                number,
                decision: decision.clone(),
                epoch: lead.epoch,
                at: now,
            });
            Ok(number)
        })
    }

    async fn decisions(&self, fleet: &str) -> Result<Vec<DecisionRecord>, StateError> {
        Ok(self
            .look(fleet, |kept| kept.decisions.clone())
            .unwrap_or_default())
    }

    async fn save_accounts(
        &self,
        lead: &FleetLead,
        accounts: &Accounts,
        now: Timestamp,
    ) -> Result<(), StateError> {
        self.change(lead, now, |kept| {
            kept.accounts = Some(accounts.clone());
            Ok(())
        })
    }

    async fn accounts(&self, fleet: &str) -> Result<Option<Accounts>, StateError> {
        Ok(self.look(fleet, |kept| kept.accounts.clone()).flatten())
    }
}
