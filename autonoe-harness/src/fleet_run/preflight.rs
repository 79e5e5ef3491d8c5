//! Checks and preparations before a fleet run starts.

use std::collections::BTreeSet;
use std::time::Duration;

use super::leadership::Leadership;
use super::{FleetOrderError, FleetRun, FleetRunError};
use crate::coordinate::MemberJob;
use crate::folder::{FolderError, MemberFolder};
use crate::state::{FleetRecord, SqliteMeta, StateError};
use crate::strategy::MemberId;
use crate::work::Isolation;

/// Maximum number of attempts to acquire the lock of a coordinator that is gone.
const MAX_ATTEMPTS: u32 = 500;

/// Delay between two attempts.
const RETRY_DELAY: Duration = Duration::from_millis(20);

impl FleetRun {
    /// Checks that this run has everything that the order requires.
    pub(super) fn check_requirements(&self) -> Result<(), FleetOrderError> {
        let isolated = |isolation: &Isolation| matches!(isolation, Isolation::Worktree { .. });
        let mut members = self.order.members.iter();
        let is_isolated = members.any(|member| isolated(&member.work.isolation));
        let problem = match &self.worktrees {
            None if is_isolated => {
                "its members need worktrees, but no folder for worktrees is configured"
            }
            Some(trees) if trees.fleet() != self.order.name => {
                "its worktrees belong to another fleet"
            }
            _ => return Ok(()),
        };
        Err(FleetOrderError::new(
            &self.order.name,
            vec![problem.to_owned()],
        ))
    }

    /// Checks that worktrees can be created, before anything is recorded. A fleet that has ended
    /// needs none.
    pub(super) async fn check_isolation(&self) -> Result<(), FleetRunError> {
        let Some(trees) = &self.worktrees else {
            return Ok(());
        };
        let recorded = self.home.fleet(&self.order.name).await?;
        if recorded.is_some_and(|record| record.result.is_some()) {
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
            trees.check_base(base).await?;
        }
        Ok(())
    }

    /// Records the order under its name, or checks that the recorded order is the same. An order is
    /// refused before it is recorded if members were started with other work.
    pub(super) async fn record_order(
        &self,
        meta: &SqliteMeta,
    ) -> Result<FleetRecord, FleetRunError> {
        let fleet = self.order.name.clone();
        if meta.fleet(&fleet).await?.is_none() {
            // A refused order must not take the name of the fleet.
            self.check_started_members()?;
        }
        let spec = serde_json::to_value(&self.order);
        let spec = spec.map_err(|error| FleetOrderError::not_serialised(&fleet, &error))?;
        let members = self.order.members.iter().map(|member| member.id.clone());
        let members: Vec<MemberId> = members.collect();
        let now = self.clock.now();
        match meta.create_fleet(&fleet, &spec, &members, now).await {
            Err(StateError::Conflict(_)) => return Err(FleetRunError::OrderConflict { fleet }),
            created => created?,
        }
        let record = meta.fleet(&fleet).await?;
        Ok(record.ok_or_else(|| StateError::Unknown(format!("fleet {fleet}")))?)
    }

    /// Checks that the journals of the members are readable. A member with a corrupt journal would
    /// fail for good; here the fleet stays as it is until the file is repaired.
    pub(super) fn check_journals(&self) -> Result<(), FolderError> {
        for folder in self.home.member_folders(&self.order.name)? {
            folder.entries()?;
        }
        Ok(())
    }

    /// Checks that the started members have the work of this order. A member with other work would
    /// count as done without it.
    pub(super) fn check_started_members(&self) -> Result<(), FleetRunError> {
        let name = &self.order.name;
        let invalid = |error| FleetOrderError::not_serialised(name, &error);
        for spec in self.order.specs().map_err(invalid)? {
            let folder = self.home.member_folder(name, &spec.id)?;
            let stored = match folder.order() {
                Err(FolderError::NoOrder { .. }) => continue,
                stored => stored?,
            };
            // The stored work was parsed from text, which may change the last digit of a fraction.
            let text = spec.work.to_string();
            let work: serde_json::Value = serde_json::from_str(&text).map_err(invalid)?;
            let is_same = |job: MemberJob| job.work == work;
            if !MemberJob::from_run(&stored).is_ok_and(is_same) {
                let path = folder.path().join("order.json");
                return Err(FolderError::corrupt(&path, "it contains another order").into());
            }
        }
        Ok(())
    }

    /// Acquires the right to lead the fleet.
    ///
    /// A coordinator that is killed while it spawns a process leaves its lock to that process until
    /// the exec. So a lock without a live coordinator is waited for.
    pub(super) async fn acquire_leadership(
        &self,
        folder: &MemberFolder,
    ) -> Result<Leadership, FleetRunError> {
        let fleet = &self.order.name;
        let mut attempts = 0;
        loop {
            match Leadership::acquire(folder) {
                Err(FolderError::Held { .. }) => {}
                acquired => return Ok(acquired?),
            }
            let pid = self.home.coordinator(fleet)?;
            attempts += 1;
            if pid.is_some() || attempts == MAX_ATTEMPTS {
                let fleet = fleet.clone();
                return Err(FleetRunError::AlreadyLed { fleet, pid });
            }
            self.clock.sleep(RETRY_DELAY).await;
        }
    }
}
