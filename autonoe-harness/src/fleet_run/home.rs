//! The folder of all fleets of a project.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use autonoe_core::{create_file_durably, create_folder};
use autonoe_process::Commands;

use super::lead;
use crate::{
    AlertManager, DecisionRecord, FleetRecord, FolderError, HarnessFolder, HarnessId,
    IsolationError, MetaState, SharedContext, SharedError, SqliteMeta, StateError, Worktrees,
};

/// The folder `.harness` of a project: what its fleets keep, and where they are reached.
///
/// | place | what is there |
/// | --- | --- |
/// | `meta_state.db` | all fleets: plans, members, decisions, accounts, results |
/// | `FLEET/` | who leads a fleet (`lock`, `coordinator.json`), what it is asked for (`stop`, `pause`), `harness.log` |
/// | `FLEET.MEMBER/` | the folder of a member, a [`HarnessFolder`] with `state.db` and `work.jsonl` |
/// | `shared/` | what harnesses share |
/// | `worktrees/` | where members work |
/// | `alerts.log` | the alerts of all |
///
/// The name of a fleet has no dot, so no fleet has the folder of a member. To look makes no file.
///
/// ```
/// use autonoe_harness::FleetHome;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let project = tempfile::tempdir()?;
/// let home = FleetHome::of(project.path());
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
    /// Returns the folder of a project. Nothing is made or looked at.
    pub fn of(project: impl Into<PathBuf>) -> Self {
        let project = project.into();
        let path = project.join(FOLDER);
        Self { project, path }
    }

    /// Finds the folder that the folder of a sub-harness is in, as its process is given it.
    ///
    /// # Errors
    ///
    /// It is in no `.harness`.
    pub fn around(folder: &HarnessFolder) -> Result<Self, FolderError> {
        let path = folder.path().parent();
        let path = path.filter(|path| path.file_name().is_some_and(|name| name == FOLDER));
        let project = path.and_then(Path::parent);
        let nowhere = || {
            let what = format!("it is not in a folder {FOLDER} of a project");
            FolderError::corrupt(folder.path(), what)
        };
        project.map(Self::of).ok_or_else(nowhere)
    }

    /// Returns the folder of the project.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Returns the path of the folder: the root of a [`HarnessManager`](crate::HarnessManager).
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the folder, if it is not there, so that git does not see it.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    pub fn prepare(&self) -> Result<(), FolderError> {
        let made = create_folder(&self.path);
        made.map_err(|source| FolderError::unwritable(&self.path, source))?;
        let ignored = self.path.join(".gitignore");
        match create_file_durably(&ignored, b"*\n") {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(FolderError::unwritable(&ignored, error))
            }
            _ => Ok(()),
        }
    }

    /// Opens what is kept of all fleets, and makes it if there is nothing.
    ///
    /// # Errors
    ///
    /// The file is damaged, somebody else's or of a newer version, or cannot be opened.
    pub async fn meta(&self) -> Result<SqliteMeta, StateError> {
        if self.path.is_symlink() {
            return Err(self.foreign("a symlink"));
        }
        SqliteMeta::open(&self.meta_file()).await
    }

    /// Opens what harnesses share, and makes it if there is nothing.
    ///
    /// # Errors
    ///
    /// What is there is damaged, somebody else's or of a newer version, or cannot be opened.
    pub async fn shared(&self) -> Result<SharedContext, SharedError> {
        if self.path.is_symlink() {
            return Err(self.foreign("a symlink").into());
        }
        SharedContext::open(&self.path.join("shared")).await
    }

    /// Returns where the alerts of all harnesses are.
    pub fn alerts_of_all(&self) -> PathBuf {
        self.path.join("alerts.log")
    }

    /// Makes the alerts of the coordinator of a fleet, with a log of its own beside that of all.
    ///
    /// # Errors
    ///
    /// [`FolderError::Id`].
    pub fn alerts_of(&self, fleet: &str) -> Result<AlertManager, FolderError> {
        let own = self.desk(fleet)?.alert_log();
        Ok(AlertManager::new(own.path()).with_log_of_all(self.alerts_of_all()))
    }

    /// Returns the folder that worktrees are made in.
    pub fn worktrees_folder(&self) -> PathBuf {
        self.path.join("worktrees")
    }

    /// Looks at the repository that the project is in, for worktrees of a fleet.
    ///
    /// # Errors
    ///
    /// There is no repository, or the name cannot be a part of names.
    pub async fn worktrees(
        &self,
        fleet: &str,
        commands: Commands,
    ) -> Result<Worktrees, IsolationError> {
        if self.path.is_symlink() {
            let (folder, reason) = (self.path.clone(), "it is a symlink");
            return Err(IsolationError::NotOurs { folder, reason });
        }
        Worktrees::open(&self.project, &self.worktrees_folder(), fleet, commands).await
    }

    /// Returns all fleets in the order in which they were made; none if there is nothing.
    ///
    /// # Errors
    ///
    /// What is there cannot be read.
    pub async fn fleets(&self) -> Result<Vec<FleetRecord>, StateError> {
        match self.kept().await? {
            Some(meta) => meta.fleets().await,
            None => Ok(Vec::new()),
        }
    }

    /// Returns a fleet, or `None` if there is none of that name.
    ///
    /// # Errors
    ///
    /// What is there cannot be read.
    pub async fn fleet(&self, name: &str) -> Result<Option<FleetRecord>, StateError> {
        match self.kept().await? {
            Some(meta) => meta.fleet(name).await,
            None => Ok(None),
        }
    }

    /// Returns what was decided in a fleet, in order: its events, and what became of its work.
    ///
    /// # Errors
    ///
    /// What is there cannot be read.
    pub async fn decisions(&self, fleet: &str) -> Result<Vec<DecisionRecord>, StateError> {
        match self.kept().await? {
            Some(meta) => meta.decisions(fleet).await,
            None => Ok(Vec::new()),
        }
    }

    /// Returns the folder of a member of a fleet, whose id is `FLEET.MEMBER`.
    ///
    /// # Errors
    ///
    /// [`FolderError::Id`], or `.harness` is a symlink.
    pub fn folder_of(&self, fleet: &str, member: &HarnessId) -> Result<HarnessFolder, FolderError> {
        self.check()?;
        HarnessFolder::of(&self.path, &HarnessId::new(format!("{fleet}.{member}")))
    }

    /// Returns the folders of the members of a fleet that were started, in the order of their ids.
    ///
    /// # Errors
    ///
    /// The folder is there and cannot be read.
    pub fn folders_of(&self, fleet: &str) -> Result<Vec<HarnessFolder>, FolderError> {
        self.check()?;
        let mut folders = HarnessFolder::all_in(&self.path)?;
        folders.retain(|folder| {
            let own = folder.id().as_str().split_once('.');
            own.is_some_and(|(of, _)| of == fleet)
        });
        Ok(folders)
    }

    /// Returns the process that leads a fleet now, or `None` if nobody does. One that was killed
    /// is nobody.
    ///
    /// # Errors
    ///
    /// What is written down about it cannot be read.
    pub fn coordinator(&self, fleet: &str) -> Result<Option<u32>, FolderError> {
        lead::leader(&self.desk(fleet)?)
    }

    /// Returns the last `tail` lines of what the coordinators of a fleet wrote.
    ///
    /// # Errors
    ///
    /// The log is there and cannot be read.
    pub fn log(&self, fleet: &str, tail: usize) -> Result<Vec<String>, FolderError> {
        self.desk(fleet)?.log(tail)
    }

    /// Returns the folder where the coordinator of a fleet is reached.
    pub(super) fn desk(&self, fleet: &str) -> Result<HarnessFolder, FolderError> {
        self.check()?;
        HarnessFolder::of(&self.path, &HarnessId::new(fleet))
    }

    /// Makes the folder where the coordinator of a fleet is reached.
    pub(super) fn make_desk(&self, fleet: &str) -> Result<HarnessFolder, FolderError> {
        let desk = self.desk(fleet)?;
        self.prepare()?;
        let made = create_folder(desk.path());
        made.map_err(|source| FolderError::unwritable(desk.path(), source))?;
        Ok(desk)
    }

    fn meta_file(&self) -> PathBuf {
        self.path.join("meta_state.db")
    }

    /// Refuses a `.harness` that is a symlink: an agent can create one, and what fleets keep would be
    /// written where it leads.
    fn check(&self) -> Result<(), FolderError> {
        match self.path.is_symlink() {
            true => Err(FolderError::corrupt(
                &self.path,
                "it is a symlink, not the folder of fleets",
            )),
            false => Ok(()),
        }
    }

    /// Opens what is kept of all fleets, if there is something.
    async fn kept(&self) -> Result<Option<SqliteMeta>, StateError> {
        if self.path.is_symlink() {
            return Err(self.foreign("a symlink"));
        }
        let path = self.meta_file();
        match fs::metadata(&path) {
            Ok(_) => self.meta().await.map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                Err(self.foreign("a file"))
            }
            Err(error) => Err(StateError::Failed {
                path,
                doing: "looking for it",
                source: error.into(),
            }),
        }
    }

    fn foreign(&self, what: &'static str) -> StateError {
        StateError::Foreign {
            path: self.path.clone(),
            what,
            expected: "the folder of fleets",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use autonoe_core::{RunId, RunSpec};
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::{Alert, AlertLog, Severity};

    #[tokio::test]
    async fn a_symlink_in_place_of_the_folder_is_refused_and_not_followed() {
        let (project, elsewhere) = (tempfile::tempdir(), tempfile::tempdir());
        let (project, elsewhere) = (project.expect("a folder"), elsewhere.expect("a folder"));
        symlink(elsewhere.path(), project.path().join(FOLDER)).expect("writable");
        let home = FleetHome::of(project.path());

        assert!(home.prepare().is_err());
        assert!(home.make_desk("login").is_err());
        assert!(home.folder_of("login", &HarnessId::new("one")).is_err());
        assert!(home.folders_of("login").is_err());
        assert!(home.coordinator("login").is_err());
        assert!(home.log("login", 1).is_err());
        assert!(home.fleets().await.is_err());
        assert!(home.meta().await.is_err());
        assert!(home.shared().await.is_err());
        assert!(
            home.worktrees("login", Commands::unconfined("/"))
                .await
                .is_err()
        );
        let alert = Alert::new(
            "stuck",
            Severity::Error,
            "it is stuck",
            Timestamp::UNIX_EPOCH,
        );
        assert!(AlertLog::new(home.alerts_of_all()).append(&alert).is_err());
        let order = RunSpec::new(RunId::new("login.one"), "work", json!({}));
        let folder = HarnessFolder::of(home.path(), &HarnessId::new("login.one")).expect("an id");
        assert!(folder.submit(&order).is_err());

        assert_eq!(fs::read_dir(elsewhere.path()).expect("there").count(), 0);
    }

    #[test]
    fn a_symlink_in_place_of_the_folder_of_a_member_is_refused() {
        let (project, elsewhere) = (tempfile::tempdir(), tempfile::tempdir());
        let (project, elsewhere) = (project.expect("a folder"), elsewhere.expect("a folder"));
        let home = FleetHome::of(project.path());
        home.prepare().expect("writable");
        let folder = home
            .folder_of("login", &HarnessId::new("one"))
            .expect("an id");
        symlink(elsewhere.path(), folder.path()).expect("writable");

        let order = RunSpec::new(RunId::new("login.one"), "work", json!({}));

        assert!(folder.submit(&order).is_err());
        assert_eq!(fs::read_dir(elsewhere.path()).expect("there").count(), 0);
        fs::write(elsewhere.path().join("order.json"), "{}").expect("writable");
        assert_eq!(home.folders_of("login").expect("readable"), []);
    }
}
