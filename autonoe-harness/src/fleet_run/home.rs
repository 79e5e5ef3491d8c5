//! Folder `.harness` of a project, which contains all of its fleets.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use autonoe_core::project::{create_file_durably, create_folder};
use autonoe_process::ProcessRunner;

use super::leadership;
use crate::alert::AlertManager;
use crate::folder::{FolderError, MemberFolder};
use crate::isolation::{IsolationError, Worktrees};
use crate::shared::{SharedContext, SharedError};
use crate::state::{DecisionRecord, FleetRecord, SqliteMeta, StateError};
use crate::strategy::MemberId;

/// The folder `.harness` of a project: the state of its fleets, and the requests to them.
///
/// | path | content |
/// | --- | --- |
/// | `meta_state.db` | all fleets: plans, members, decisions, accounts, results |
/// | `FLEET/` | the leader of a fleet (`lock`, `coordinator.json`), requests to it (`stop`, `pause`), `harness.log` |
/// | `FLEET.MEMBER/` | the folder of a member, a [`MemberFolder`] with `state.db` and `work.jsonl` |
/// | `shared/` | the shared context of members |
/// | `worktrees/` | the worktrees of members |
/// | `alerts.log` | the alerts of all fleets and members |
///
/// The name of a fleet has no dot, so it never collides with the folder of a member. Reading
/// creates no files.
///
/// ```
/// use autonoe_harness::FleetHome;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let project = tempfile::tempdir()?;
/// let home = FleetHome::new(project.path());
///
/// assert_eq!(home.fleets().await?, []);
/// assert_eq!(home.coordinator("login")?, None);
/// assert!(!home.path().exists());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetHome {
    project: PathBuf,
    path: PathBuf,
}

/// The name of the folder.
const FOLDER: &str = ".harness";

impl FleetHome {
    /// Returns the folder of a project, without accessing the disk.
    pub fn new(project: impl Into<PathBuf>) -> Self {
        let project = project.into();
        let path = project.join(FOLDER);
        Self { project, path }
    }

    /// Returns the `.harness` folder that contains the folder of a member.
    ///
    /// # Errors
    ///
    /// The folder is not in a `.harness` folder.
    pub fn from_member_folder(folder: &MemberFolder) -> Result<Self, FolderError> {
        let path = folder.path().parent();
        let path = path.filter(|path| path.file_name().is_some_and(|name| name == FOLDER));
        let project = path.and_then(Path::parent);
        let nowhere = || {
            let reason = format!("it is not in a folder {FOLDER} of a project");
            FolderError::corrupt(folder.path(), reason)
        };
        project.map(Self::new).ok_or_else(nowhere)
    }

    /// Returns the folder of the project.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Returns the path of the folder: the root of a
    /// [`MemberManager`](crate::manager::MemberManager).
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the folder if it is missing, and hides it from git.
    ///
    /// # Errors
    ///
    /// It cannot be created.
    pub fn create(&self) -> Result<(), FolderError> {
        let created = create_folder(&self.path);
        created.map_err(|source| FolderError::unwritable(&self.path, source))?;
        let ignored = self.path.join(".gitignore");
        match create_file_durably(&ignored, b"*\n") {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(FolderError::unwritable(&ignored, error))
            }
            _ => Ok(()),
        }
    }

    /// Opens the state of all fleets, and creates it if it is missing.
    ///
    /// # Errors
    ///
    /// The file is damaged, belongs to another program, has a newer version, or cannot be opened.
    pub async fn meta(&self) -> Result<SqliteMeta, StateError> {
        self.check_state()?;
        SqliteMeta::open(&self.meta_file()).await
    }

    /// Opens the shared context of members, and creates it if it is missing.
    ///
    /// # Errors
    ///
    /// The shared context is damaged, belongs to another program, has a newer version, or cannot be
    /// opened.
    pub async fn shared(&self) -> Result<SharedContext, SharedError> {
        self.check_state()?;
        SharedContext::open(&self.path.join("shared")).await
    }

    /// Returns the path of the alert log that all members share.
    pub fn shared_alert_log(&self) -> PathBuf {
        self.path.join("alerts.log")
    }

    /// Creates the alert manager of a fleet's coordinator, with its own log and the shared one.
    ///
    /// # Errors
    ///
    /// [`FolderError::Id`].
    pub fn alert_manager(&self, fleet: &str) -> Result<AlertManager, FolderError> {
        let own = self.coordinator_folder(fleet)?.alert_log();
        Ok(AlertManager::new(own.path()).shared_log(self.shared_alert_log()))
    }

    /// Returns the folder for worktrees.
    pub fn worktrees_folder(&self) -> PathBuf {
        self.path.join("worktrees")
    }

    /// Opens the repository of the project, for worktrees of a fleet.
    ///
    /// # Errors
    ///
    /// There is no repository, or the name of the fleet is invalid.
    pub async fn worktrees(
        &self,
        fleet: &str,
        commands: ProcessRunner,
    ) -> Result<Worktrees, IsolationError> {
        if self.path.is_symlink() {
            let (folder, reason) = (self.path.clone(), "it is a symlink");
            return Err(IsolationError::RefusedFolder { folder, reason });
        }
        Worktrees::open(&self.project, &self.worktrees_folder(), fleet, commands).await
    }

    /// Returns the names of all fleets, in creation order. Works even if the record of a fleet is
    /// damaged.
    ///
    /// # Errors
    ///
    /// The state cannot be read.
    pub async fn fleet_names(&self) -> Result<Vec<String>, StateError> {
        match self.existing_meta().await? {
            Some(meta) => meta.fleet_names().await,
            None => Ok(Vec::new()),
        }
    }

    /// Returns all fleets, in creation order.
    ///
    /// # Errors
    ///
    /// The state cannot be read.
    pub async fn fleets(&self) -> Result<Vec<FleetRecord>, StateError> {
        match self.existing_meta().await? {
            Some(meta) => meta.fleets().await,
            None => Ok(Vec::new()),
        }
    }

    /// Returns a fleet, or `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// The state cannot be read.
    pub async fn fleet(&self, name: &str) -> Result<Option<FleetRecord>, StateError> {
        match self.existing_meta().await? {
            Some(meta) => meta.fleet(name).await,
            None => Ok(None),
        }
    }

    /// Returns the decisions of a fleet, in order: its events, and what happened to its work.
    ///
    /// # Errors
    ///
    /// The state cannot be read.
    pub async fn decisions(&self, fleet: &str) -> Result<Vec<DecisionRecord>, StateError> {
        match self.existing_meta().await? {
            Some(meta) => meta.decisions(fleet).await,
            None => Ok(Vec::new()),
        }
    }

    /// Returns the folder of a member, whose ID is `FLEET.MEMBER`.
    ///
    /// # Errors
    ///
    /// [`FolderError::Id`], or `.harness` is a symlink.
    pub fn member_folder(
        &self,
        fleet: &str,
        member: &MemberId,
    ) -> Result<MemberFolder, FolderError> {
        self.check()?;
        MemberFolder::new(&self.path, &MemberId::new(format!("{fleet}.{member}")))
    }

    /// Returns the folders of the started members of a fleet, in the order of their IDs.
    ///
    /// # Errors
    ///
    /// The folder exists and cannot be read.
    pub fn member_folders(&self, fleet: &str) -> Result<Vec<MemberFolder>, FolderError> {
        self.check()?;
        let mut folders = MemberFolder::list(&self.path)?;
        folders.retain(|folder| {
            let own = folder.id().as_str().split_once('.');
            own.is_some_and(|(of, _)| of == fleet)
        });
        Ok(folders)
    }

    /// Returns the process that currently leads a fleet, or `None`. A killed process does not
    /// count.
    ///
    /// # Errors
    ///
    /// The record of the leader cannot be read.
    pub fn coordinator(&self, fleet: &str) -> Result<Option<u32>, FolderError> {
        leadership::leader(&self.coordinator_folder(fleet)?)
    }

    /// Returns the last `tail` lines of the coordinator log of a fleet.
    ///
    /// # Errors
    ///
    /// The log exists and cannot be read.
    pub fn log(&self, fleet: &str, tail: usize) -> Result<Vec<String>, FolderError> {
        self.coordinator_folder(fleet)?.log(tail)
    }

    /// Returns the folder of a fleet's coordinator.
    pub(super) fn coordinator_folder(&self, fleet: &str) -> Result<MemberFolder, FolderError> {
        self.check()?;
        MemberFolder::new(&self.path, &MemberId::new(fleet))
    }

    /// Creates the folder of a fleet's coordinator.
    pub(super) fn create_coordinator_folder(
        &self,
        fleet: &str,
    ) -> Result<MemberFolder, FolderError> {
        let folder = self.coordinator_folder(fleet)?;
        self.create()?;
        let created = create_folder(folder.path());
        created.map_err(|source| FolderError::unwritable(folder.path(), source))?;
        Ok(folder)
    }

    fn meta_file(&self) -> PathBuf {
        self.path.join("meta_state.db")
    }

    /// Refuses a `.harness` that is a symlink: an agent can create one, which would redirect all
    /// writes of the fleets.
    fn check(&self) -> Result<(), FolderError> {
        if self.path.is_symlink() {
            Err(FolderError::corrupt(
                &self.path,
                "it is a symlink, not the folder of fleets",
            ))
        } else {
            Ok(())
        }
    }

    /// Refuses a symlink, before a database is opened.
    fn check_state(&self) -> Result<(), StateError> {
        if self.path.is_symlink() {
            Err(self.foreign("a symlink"))
        } else {
            Ok(())
        }
    }

    /// Opens the state of all fleets, if it exists.
    async fn existing_meta(&self) -> Result<Option<SqliteMeta>, StateError> {
        self.check_state()?;
        let path = self.meta_file();
        match fs::metadata(&path) {
            Ok(_) => self.meta().await.map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                Err(self.foreign("a file"))
            }
            Err(error) => Err(StateError::Failed {
                path,
                doing: "cannot look for it",
                source: error.into(),
            }),
        }
    }

    fn foreign(&self, found: &'static str) -> StateError {
        StateError::Foreign {
            path: self.path.clone(),
            found,
            expected: "the folder of fleets",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use autonoe_core::RunId;
    use autonoe_core::engine::RunSpec;
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::alert::{Alert, AlertLog, Severity};

    #[tokio::test]
    async fn a_symlink_in_place_of_the_folder_is_refused_and_not_followed() {
        let (project, outside) = (tempfile::tempdir(), tempfile::tempdir());
        let (project, outside) = (project.expect("a folder"), outside.expect("a folder"));
        symlink(outside.path(), project.path().join(FOLDER)).expect("writable");
        let home = FleetHome::new(project.path());

        assert!(home.create().is_err());
        assert!(home.create_coordinator_folder("login").is_err());
        assert!(home.member_folder("login", &MemberId::new("one")).is_err());
        assert!(home.member_folders("login").is_err());
        assert!(home.coordinator("login").is_err());
        assert!(home.log("login", 1).is_err());
        assert!(home.fleets().await.is_err());
        assert!(home.fleet_names().await.is_err());
        assert!(home.meta().await.is_err());
        assert!(home.shared().await.is_err());
        assert!(
            home.worktrees("login", ProcessRunner::unconfined("/"))
                .await
                .is_err()
        );
        let alert = Alert::new(
            "stuck",
            Severity::Error,
            "it is stuck",
            Timestamp::UNIX_EPOCH,
        );
        assert!(
            AlertLog::new(home.shared_alert_log())
                .append(&alert)
                .is_err()
        );
        let order = RunSpec::new(RunId::new("login.one"), "work", json!({}));
        let folder = MemberFolder::new(home.path(), &MemberId::new("login.one")).expect("an id");
        assert!(folder.submit(&order).is_err());

        assert_eq!(fs::read_dir(outside.path()).expect("there").count(), 0);
    }

    #[test]
    fn a_symlink_in_place_of_the_folder_of_a_member_is_refused() {
        let (project, outside) = (tempfile::tempdir(), tempfile::tempdir());
        let (project, outside) = (project.expect("a folder"), outside.expect("a folder"));
        let home = FleetHome::new(project.path());
        home.create().expect("writable");
        let folder = home
            .member_folder("login", &MemberId::new("one"))
            .expect("an id");
        symlink(outside.path(), folder.path()).expect("writable");

        let order = RunSpec::new(RunId::new("login.one"), "work", json!({}));

        assert!(folder.submit(&order).is_err());
        assert_eq!(fs::read_dir(outside.path()).expect("there").count(), 0);
        fs::write(outside.path().join("order.json"), "{}").expect("writable");
        assert_eq!(home.member_folders("login").expect("readable"), []);
    }
}
