//! Finds the fleet and the member that a command names, with its git and the errors about its state.

use autonoe_core::Project;
use autonoe_harness::folder::{FolderError, MemberFolder};
use autonoe_harness::handle::HandleError;
use autonoe_harness::state::FleetRecord;
use autonoe_harness::strategy::MemberId;
use autonoe_harness::{FleetHome, MemberHandle};
use autonoe_process::ProcessRunner;

use crate::args::FleetSelectionArgs;
use crate::cli_env::CliEnv;
use crate::error::{CliError, OrFailure, error_chain};

/// Environment variables that git inherits.
const INHERITED: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];

/// The fleet that a command names.
pub(super) struct FleetSelection {
    pub(super) home: FleetHome,
    pub(super) fleet: FleetRecord,
}

/// Returns the fleets directory of a project.
pub(super) fn fleet_home(project: &Project) -> FleetHome {
    FleetHome::new(project.root())
}

/// Returns a runner for git with a minimal environment that contains no keys.
pub(super) fn git(home: &FleetHome, env: &CliEnv) -> ProcessRunner {
    let inherited = INHERITED.map(|name| Some((name, env.variable(name)?)));
    ProcessRunner::unconfined(home.project()).envs(inherited.into_iter().flatten())
}

/// Finds the named fleet. Without a name, finds the running one, or else the last.
pub(super) async fn select_fleet(
    selection: &FleetSelectionArgs,
    env: &CliEnv,
) -> Result<FleetSelection, CliError> {
    let home = fleet_home(&selection.project.find(env)?);
    let fleet = find_fleet(&home, selection.fleet.as_deref()).await?;
    Ok(FleetSelection { home, fleet })
}

/// Finds a fleet by name. Without a name, finds the running one, or else the last.
pub(super) async fn find_fleet(
    home: &FleetHome,
    name: Option<&str>,
) -> Result<FleetRecord, CliError> {
    let mut all = home.fleets().await.or_failure()?;
    let names: Vec<_> = all.iter().map(|fleet| fleet.id.clone()).collect();
    let Some(name) = name else {
        let mut running = None;
        for (index, fleet) in names.iter().enumerate() {
            let coordinator = home.coordinator(fleet).or_failure()?;
            running = coordinator.map(|_| index).or(running);
        }
        return match (running, all.pop()) {
            (Some(index), Some(last)) if index < all.len() => {
                drop(last);
                Ok(all.swap_remove(index))
            }
            (_, Some(last)) => Ok(last),
            (_, None) => Err(no_fleets(home)?),
        };
    };
    let found = all.into_iter().find(|fleet| fleet.id == name);
    found.ok_or_else(|| {
        let unknown = CliError::usage(format!("unknown fleet {name:?}"));
        match names.as_slice() {
            [] => unknown.with_hint("run `autonoe harness run ROADMAP` to start one"),
            names => unknown.with_hint(format!("fleets of this project: {}", names.join(", "))),
        }
    })
}

fn no_fleets(home: &FleetHome) -> Result<CliError, CliError> {
    let none = CliError::failure("this project has no fleet")
        .with_hint("run `autonoe harness run ROADMAP` to start one");
    Ok(orphaned_members_error(home)?.unwrap_or(none))
}

/// Refuses to start a fleet if its members, or those of any fleet, exist without a record.
pub(super) async fn check_no_orphans(home: &FleetHome, name: &str) -> Result<(), CliError> {
    let fleets = home.fleets().await.or_failure()?;
    let own = home.member_folders(name).or_failure()?;
    let is_recorded = fleets.iter().any(|fleet| fleet.id == name);
    if is_recorded || (own.is_empty() && !fleets.is_empty()) {
        return Ok(());
    }
    orphaned_members_error(home)?.map_or(Ok(()), Err)
}

/// Returns an error if there are member folders but no fleets.
pub(super) fn orphaned_members_error(home: &FleetHome) -> Result<Option<CliError>, CliError> {
    let folders = MemberFolder::list(home.path()).or_failure()?;
    if folders.is_empty() {
        return Ok(None);
    }
    let members: Vec<_> = folders.iter().map(|folder| folder.id().as_str()).collect();
    let path = home.path().display();
    let message = format!(
        "{path} has folders of members without a fleet: {}",
        members.join(", ")
    );
    let hint = format!(
        "{path}/meta_state.db, which records all fleets, is empty or missing: restore a copy, or \
         move {path} away"
    );
    Ok(Some(CliError::failure(message).with_hint(hint)))
}

impl FleetSelection {
    /// Returns the name of the fleet.
    pub(super) fn name(&self) -> &str {
        &self.fleet.id
    }

    /// Finds a member by its name, with or without the prefix of the fleet.
    pub(super) fn member(&self, name: &str) -> Result<MemberId, CliError> {
        find_member(&self.fleet, name)
    }

    /// Returns the folder of a member, which may not exist.
    pub(super) fn folder(&self, member: &MemberId) -> Result<MemberFolder, CliError> {
        self.home.member_folder(self.name(), member).or_failure()
    }

    /// Opens a handle to a started member.
    pub(super) fn handle(&self, member: &MemberId) -> Result<MemberHandle, CliError> {
        let opened = MemberHandle::open(self.folder(member)?);
        opened.map_err(|error| control_error(&error, member))
    }

    /// Returns the started members, in the order of the fleet.
    pub(super) fn started(&self) -> Result<Vec<MemberId>, CliError> {
        let mut started = Vec::new();
        for id in self.fleet.member_ids() {
            match self.folder(id)?.order() {
                Ok(_) => started.push(id.clone()),
                Err(FolderError::NoOrder { .. }) => {}
                Err(error) => return Err(error).or_failure(),
            }
        }
        Ok(started)
    }
}

/// Finds a member of a fleet by its name.
pub(super) fn find_member(fleet: &FleetRecord, name: &str) -> Result<MemberId, CliError> {
    let prefix = format!("{}.", fleet.id);
    let short = name.strip_prefix(&prefix).unwrap_or(name);
    let mut members = fleet.member_ids();
    let found = members.find(|id| id.as_str() == name || id.as_str() == short);
    found.cloned().ok_or_else(|| {
        let known: Vec<_> = fleet.member_ids().map(MemberId::as_str).collect();
        let message = format!("the fleet {} has no member {name:?}", fleet.id);
        CliError::usage(message).with_hint(format!("its members are {}", known.join(", ")))
    })
}

/// Converts an error about controlling a member.
pub(super) fn control_error(error: &HandleError, member: &MemberId) -> CliError {
    match error {
        HandleError::Folder(FolderError::NoOrder { .. }) => {
            CliError::failure(format!("{member} was not started yet"))
                .with_hint("run `autonoe harness status` to see the started members")
        }
        HandleError::Ended(_) => CliError::failure(format!("{member} has ended"))
            .with_hint("run `autonoe harness status` to see the result"),
        error => CliError::failure(error_chain(error)),
    }
}
