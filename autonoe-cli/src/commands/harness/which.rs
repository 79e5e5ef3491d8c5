//! Which fleet and which member a command is about.

use autonoe_core::Project;
use autonoe_harness::{
    FleetHome, FleetRecord, FolderError, HandleError, HarnessFolder, HarnessId, ProcessHandle,
};

use super::broken;
use crate::args::WhichFleetArgs;
use crate::error::CliError;
use crate::surroundings::Surroundings;

/// A fleet of a project.
pub(super) struct Chosen {
    pub(super) home: FleetHome,
    pub(super) fleet: FleetRecord,
}

/// Returns where the fleets of a project are.
pub(super) fn home_of(project: &Project) -> FleetHome {
    FleetHome::of(project.root())
}

/// Finds the fleet that is named; without a name the one that is at work, else the last.
pub(super) async fn chosen(
    which: &WhichFleetArgs,
    surroundings: &Surroundings,
) -> Result<Chosen, CliError> {
    let home = home_of(&which.project.find(surroundings)?);
    let fleet = find(&home, which.fleet.as_deref()).await?;
    Ok(Chosen { home, fleet })
}

/// Finds a fleet by its name, or the one that somebody means who names none.
pub(super) async fn find(home: &FleetHome, name: Option<&str>) -> Result<FleetRecord, CliError> {
    let mut all = home.fleets().await.map_err(|error| broken(&error))?;
    let names: Vec<_> = all.iter().map(|fleet| fleet.plan.id.clone()).collect();
    let Some(name) = name else {
        let mut at_work = None;
        for (index, fleet) in names.iter().enumerate() {
            let leader = home.coordinator(fleet).map_err(|error| broken(&error))?;
            at_work = leader.map(|_| index).or(at_work);
        }
        return match (at_work, all.pop()) {
            (Some(index), Some(last)) if index < all.len() => {
                drop(last);
                Ok(all.swap_remove(index))
            }
            (_, Some(last)) => Ok(last),
            (_, None) => Err(no_fleets(home)?),
        };
    };
    let found = all.into_iter().find(|fleet| fleet.plan.id == name);
    found.ok_or_else(|| {
        let unknown = CliError::usage(format!("there is no fleet {name:?}"));
        match names.as_slice() {
            [] => unknown.with_hint("`autonoe harness run ROADMAP` begins one"),
            names => unknown.with_hint(format!("this project has {}", names.join(", "))),
        }
    })
}

fn no_fleets(home: &FleetHome) -> Result<CliError, CliError> {
    let none = CliError::failure("this project has no fleet")
        .with_hint("`autonoe harness run ROADMAP` begins one");
    Ok(forgotten(home)?.unwrap_or(none))
}

/// Says what is wrong where there are no fleets, and yet folders of their members.
pub(super) fn forgotten(home: &FleetHome) -> Result<Option<CliError>, CliError> {
    let folders = HarnessFolder::all_in(home.path()).map_err(|error| broken(&error))?;
    if folders.is_empty() {
        return Ok(None);
    }
    let members: Vec<_> = folders.iter().map(|folder| folder.id().as_str()).collect();
    let path = home.path().display();
    let message = format!(
        "{path} has folders of members and no fleet that they are of: {}",
        members.join(", ")
    );
    let hint = format!(
        "{path}/meta_state.db, which has all fleets, is empty or gone: bring back a copy, or move \
         {path} away"
    );
    Ok(Some(CliError::failure(message).with_hint(hint)))
}

impl Chosen {
    /// Returns the name of the fleet.
    pub(super) fn name(&self) -> &str {
        &self.fleet.plan.id
    }

    /// Finds a member by its name, with or without that of the fleet before it.
    pub(super) fn member(&self, name: &str) -> Result<HarnessId, CliError> {
        member_of(&self.fleet, name)
    }

    /// Returns the folder of a member, whether or not there is one.
    pub(super) fn folder(&self, member: &HarnessId) -> Result<HarnessFolder, CliError> {
        let folder = self.home.folder_of(self.name(), member);
        folder.map_err(|error| broken(&error))
    }

    /// Takes hold of a member that was started.
    pub(super) fn handle(&self, member: &HarnessId) -> Result<ProcessHandle, CliError> {
        let opened = ProcessHandle::open(self.folder(member)?);
        opened.map_err(|error| not_led(&error, member))
    }

    /// Returns the members that were started, in the order of the fleet.
    pub(super) fn started(&self) -> Result<Vec<HarnessId>, CliError> {
        let mut started = Vec::new();
        for (id, _) in &self.fleet.plan.members {
            match self.folder(id)?.order() {
                Ok(_) => started.push(id.clone()),
                Err(FolderError::NoOrder { .. }) => {}
                Err(error) => return Err(broken(&error)),
            }
        }
        Ok(started)
    }
}

/// Finds a member of a fleet by its name.
pub(super) fn member_of(fleet: &FleetRecord, name: &str) -> Result<HarnessId, CliError> {
    let prefix = format!("{}.", fleet.plan.id);
    let short = name.strip_prefix(&prefix).unwrap_or(name);
    let mut members = fleet.plan.members.iter().map(|(id, _)| id);
    let found = members.find(|id| id.as_str() == name || id.as_str() == short);
    found.cloned().ok_or_else(|| {
        let known = fleet.plan.members.iter().map(|(id, _)| id.as_str());
        let known: Vec<_> = known.collect();
        let message = format!("the fleet {} has no member {name:?}", fleet.plan.id);
        CliError::usage(message).with_hint(format!("it has {}", known.join(", ")))
    })
}

/// Says why nothing can be done with a member.
pub(super) fn not_led(error: &HandleError, member: &HarnessId) -> CliError {
    match error {
        HandleError::Folder(FolderError::NoOrder { .. }) => {
            CliError::failure(format!("{member} was not started yet"))
                .with_hint("`autonoe harness status` shows who was")
        }
        HandleError::Ended(_) => CliError::failure(format!("{member} has ended"))
            .with_hint("`autonoe harness status` shows what it came to"),
        error => broken(error),
    }
}
