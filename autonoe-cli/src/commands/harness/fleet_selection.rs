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

/// Hint of an error about a missing fleet.
const START_HINT: &str = "run `autonoe harness run ROADMAP` to start one";

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
    let names = home.fleet_names().await.or_failure()?;
    let chosen = match name {
        Some(name) => names.iter().find(|fleet| *fleet == name),
        None => {
            let mut chosen = names.last();
            for fleet in &names {
                if home.coordinator(fleet).or_failure()?.is_some() {
                    chosen = Some(fleet);
                }
            }
            chosen
        }
    };
    let record = match chosen {
        Some(chosen) => home.fleet(chosen).await.or_failure()?,
        None => None,
    };
    match (record, name) {
        (Some(record), _) => Ok(record),
        (None, Some(name)) => Err(unknown_fleet(name, &names)),
        (None, None) => {
            check_no_orphans(home, None).await?;
            Err(CliError::failure("this project has no fleet").with_hint(START_HINT))
        }
    }
}

fn unknown_fleet(name: &str, names: &[String]) -> CliError {
    let unknown = CliError::usage(format!("unknown fleet {name:?}"));
    match names {
        [] => unknown.with_hint(START_HINT),
        names => unknown.with_hint(format!("fleets of this project: {}", names.join(", "))),
    }
}

/// Refuses members that exist without the record of their fleet: those of the fleet `own`, or all
/// members if no fleet is recorded.
pub(super) async fn check_no_orphans(home: &FleetHome, own: Option<&str>) -> Result<(), CliError> {
    let recorded = home.fleet_names().await.or_failure()?;
    let (orphans, other_name) = if recorded.is_empty() {
        // The database may be lost, with the records of all fleets.
        (MemberFolder::list(home.path()), "")
    } else if let Some(name) = own.filter(|own| !recorded.iter().any(|fleet| fleet == own)) {
        (
            home.member_folders(name),
            "choose another name with --name, ",
        )
    } else {
        return Ok(());
    };
    let orphans = orphans.or_failure()?;
    if orphans.is_empty() {
        return Ok(());
    }
    let members: Vec<_> = orphans.iter().map(|folder| folder.id().as_str()).collect();
    let path = home.path().display();
    let message = format!(
        "{path} has folders of members without a fleet: {}",
        members.join(", ")
    );
    let hint = format!(
        "{path}/meta_state.db does not record their fleet: restore a copy of that file, \
         {other_name}or move these folders out of {path}"
    );
    Err(CliError::failure(message).with_hint(hint))
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
