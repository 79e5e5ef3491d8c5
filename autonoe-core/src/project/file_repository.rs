//! The ledger in `.autonoe/status.json`.

use std::io;
use std::path::PathBuf;

use async_trait::async_trait;

use super::status_file::StatusFile;
use super::status_record::StatusRecord;
use super::{Project, ProjectError};
use crate::domain::LedgerState;
use crate::port::{
    DeliverableRepository, Fence, RepositoryError, RepositoryErrorKind, Revision, Snapshot,
};

/// Keeps the ledger in a project's `.autonoe/status.json`.
///
/// A write survives kills and power cuts once it has returned; readers see the
/// old or the new ledger, never a part; writers of several processes take
/// turns. Fields that this version does not know are kept. A file that cannot
/// be understood is an error and stays as it is; so is one of more than 64 MiB.
///
/// Not on a network file system: locks of several machines are another matter.
///
/// ```
/// use autonoe_core::{DeliverableRepository, Epoch, Fence, FileDeliverableRepository, LedgerState, Project};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// # let dir = tempfile::tempdir()?;
/// let project = Project::find(dir.path(), None)?;
/// let repository = FileDeliverableRepository::open(&project)?;
/// assert!(repository.load().await?.is_none());
///
/// let state = LedgerState::new(jiff::civil::date(2026, 1, 31));
/// repository.save(&state, Fence { base: None, epoch: Epoch(1) }).await?;
///
/// assert!(project.status_path().exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FileDeliverableRepository {
    file: StatusFile,
}

impl FileDeliverableRepository {
    /// Opens the ledger of `project`, whose `.autonoe` folder is made if it is missing.
    ///
    /// # Errors
    ///
    /// The folder cannot be made or written to, or is a symlink.
    pub fn open(project: &Project) -> Result<Self, ProjectError> {
        project.ensure_state_dir()?;
        Ok(Self::at(project.status_path()))
    }

    /// Keeps the ledger in the file at `path`, whose folder must exist.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self {
            file: StatusFile::new(path),
        }
    }

    fn load_now(&self) -> Result<Option<Snapshot>, RepositoryError> {
        let bytes = self.file.read().map_err(|error| self.unavailable(error))?;
        bytes
            .map(|bytes| Ok(self.parse(&bytes)?.into_snapshot(&bytes)))
            .transpose()
    }

    fn save_now(&self, state: &LedgerState, fence: &Fence) -> Result<Revision, RepositoryError> {
        let turn = self.file.turn().map_err(|error| self.unavailable(error))?;
        let before = self.file.read().map_err(|error| self.unavailable(error))?;
        let latest = before
            .as_deref()
            .map(|bytes| self.parse(bytes))
            .transpose()?;
        if latest
            .as_ref()
            .is_some_and(|latest| fence.epoch < latest.epoch())
        {
            let message = format!("another run has taken over {}", self.name());
            return Err(RepositoryError::new(RepositoryErrorKind::Fenced, message));
        }
        let revision = latest
            .as_ref()
            .zip(before.as_deref())
            .map(|(latest, bytes)| latest.revision(bytes));
        if revision != fence.base {
            let message = format!("{} has changed since it was read", self.name());
            return Err(RepositoryError::new(RepositoryErrorKind::Conflict, message));
        }
        let record = StatusRecord::next(state, fence.epoch, latest.as_ref());
        let bytes = record.to_bytes().map_err(|error| {
            let message = format!("the ledger cannot be written to {}", self.name());
            RepositoryError::new(RepositoryErrorKind::Unavailable, message).because(error)
        })?;
        turn.replace(&bytes)
            .map_err(|error| self.unavailable(error))?;
        Ok(record.revision(&bytes))
    }

    fn parse(&self, bytes: &[u8]) -> Result<StatusRecord, RepositoryError> {
        StatusRecord::parse(bytes).map_err(|error| {
            let message = format!(
                "{} does not hold a valid ledger; it was left as it is: mend it or move it away",
                self.name()
            );
            RepositoryError::new(RepositoryErrorKind::Corrupt, message).because(error)
        })
    }

    fn unavailable(&self, error: io::Error) -> RepositoryError {
        let message = format!(
            "{} cannot be read or written; check its owner and permissions, and the space left",
            self.name()
        );
        RepositoryError::new(RepositoryErrorKind::Unavailable, message).because(error)
    }

    fn name(&self) -> String {
        self.file.path().display().to_string()
    }
}

#[async_trait]
impl DeliverableRepository for FileDeliverableRepository {
    async fn load(&self) -> Result<Option<Snapshot>, RepositoryError> {
        let repository = self.clone();
        apart(move || repository.load_now()).await
    }

    async fn save(&self, state: &LedgerState, fence: Fence) -> Result<Revision, RepositoryError> {
        let (repository, state) = (self.clone(), state.clone());
        apart(move || repository.save_now(&state, &fence)).await
    }
}

/// Does slow work apart from the tasks of the run. A caller that does not wait
/// for the end does not keep it from coming to one.
async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RepositoryError> + Send + 'static,
) -> Result<T, RepositoryError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| {
            let message = "the work on the ledger broke off";
            Err(RepositoryError::new(RepositoryErrorKind::Unavailable, message).because(error))
        })
}
