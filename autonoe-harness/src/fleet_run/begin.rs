//! What is to be settled before a fleet is led.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use super::lead::Leading;
use super::{FleetOrderError, FleetOutcome, FleetRun, FleetRunError};
use crate::{
    AggregatedResult, FleetPlan, FleetRecord, FolderError, HarnessFolder, Isolation, MetaState,
    StateError, WorkJournal,
};

/// How often the lock of a leader who is gone is tried.
const LOOKS: u32 = 500;

/// Between two tries.
const LOOK: Duration = Duration::from_millis(20);

impl FleetRun {
    /// Finds what the order asks for and this run was not given.
    pub(super) fn has_what_it_needs(&self) -> Result<(), FleetOrderError> {
        let isolated = |isolation: &Isolation| matches!(isolation, Isolation::Worktree { .. });
        let mut members = self.order.members.iter();
        let is_isolated = members.any(|member| isolated(&member.work.isolation));
        let problem = match &self.worktrees {
            None if is_isolated => "its members work in worktrees, and nobody said where those are",
            Some(trees) if trees.fleet() != self.order.name => "its worktrees are of another fleet",
            _ => return Ok(()),
        };
        Err(FleetOrderError::new(
            &self.order.name,
            vec![problem.to_owned()],
        ))
    }

    /// Finds out whether worktrees can be made, before anything is kept. A fleet that has ended needs
    /// none.
    pub(super) async fn can_be_isolated(&self) -> Result<(), FleetRunError> {
        let Some(trees) = &self.worktrees else {
            return Ok(());
        };
        let kept = self.home.fleet(&self.order.name).await?;
        if kept.is_some_and(|record| record.result.is_some()) {
            return Ok(());
        }
        let isolations = self.order.members.iter().map(|it| &it.work.isolation);
        let bases: BTreeSet<_> = isolations
            .filter_map(|isolation| match isolation {
                Isolation::Worktree { base, .. } => Some(base.as_deref()),
                Isolation::Shared => None,
            })
            .collect();
        for base in bases {
            trees.can_begin_at(base).await?;
        }
        Ok(())
    }

    /// Keeps the order under its name, or finds that it is kept.
    pub(super) async fn keep_order(
        &self,
        meta: &impl MetaState,
    ) -> Result<FleetRecord, FleetRunError> {
        let fleet = self.order.name.clone();
        let plan = self.plan()?;
        match meta.create_fleet(&plan, self.clock.now()).await {
            Err(StateError::Conflict(_)) => return Err(FleetRunError::AnotherOrder { fleet }),
            created => created?,
        }
        let record = meta.fleet(&fleet).await?;
        Ok(record.ok_or_else(|| StateError::Unknown(format!("fleet {fleet}")))?)
    }

    fn plan(&self) -> Result<FleetPlan, FleetRunError> {
        let order = &self.order;
        let no_json = |error: serde_json::Error| {
            FleetOrderError::new(&order.name, vec![format!("it is no JSON: {error}")])
        };
        let mut spec = serde_json::to_value(order).map_err(no_json)?;
        // They are kept one by one.
        if let Some(spec) = spec.as_object_mut() {
            spec.remove("members");
        }
        let mut plan = FleetPlan::new(order.name.clone(), spec);
        for member in &order.members {
            let spec = serde_json::to_value(member).map_err(no_json)?;
            plan = plan.with(member.id.clone(), spec);
        }
        Ok(plan)
    }

    /// Looks whether what members have noted can be read. Who cannot would end for good; here the
    /// fleet stays as it is, until somebody has seen to the file.
    pub(super) fn can_be_gone_on_with(&self) -> Result<(), FolderError> {
        for folder in self.home.folders_of(&self.order.name)? {
            let path = folder.path().join("work.jsonl");
            match WorkJournal::read(&path) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    return Err(FolderError::corrupt(&path, error.to_string()));
                }
                Err(error) => return Err(FolderError::unreadable(&path, error)),
            }
        }
        Ok(())
    }

    /// Takes the right to lead the fleet.
    ///
    /// A leader that was killed while it started a program leaves its lock to that program until it
    /// begins. So one that is held by nobody who leads is waited for.
    pub(super) async fn take_lead(&self, desk: &HarnessFolder) -> Result<Leading, FleetRunError> {
        let fleet = &self.order.name;
        let mut looks = 0;
        loop {
            match Leading::take(desk) {
                Err(FolderError::Held { .. }) => {}
                taken => return Ok(taken?),
            }
            let pid = self.home.coordinator(fleet)?;
            looks += 1;
            if pid.is_some() || looks == LOOKS {
                let fleet = fleet.clone();
                return Err(FleetRunError::Led { fleet, pid });
            }
            self.clock.sleep(LOOK).await;
        }
    }

    pub(super) async fn again(
        &self,
        meta: &impl MetaState,
        result: AggregatedResult,
    ) -> Result<FleetOutcome, FleetRunError> {
        let decisions = meta.decisions(&self.order.name).await?;
        let accounts = meta.accounts(&self.order.name).await?;
        Ok(FleetOutcome::again(result, &decisions, accounts)?)
    }
}
