//! [`FileDeliverableRepository`], the ledger in `.autonoe/status.json`.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};

use async_trait::async_trait;

use super::ledger_hold::{LedgerFileContent, LedgerHold, inspect, keep_foreign};
use super::missing_ledger::missing_ledger;
use super::path_identity::PathIdentity;
use super::safe_read::ReadError;
use super::status_file::{FileRevision, StatusFile, StatusRecord};
use super::status_text::status_text;
use super::{Project, ProjectError, RunLock};
use crate::ledger::{
    DeliverableRepository, Fence, LedgerState, OwnedLedger, RepositoryError, RepositoryErrorKind,
    Revision, SavedLedger, Snapshot,
};
use crate::time::Epoch;

/// Stores the ledger in a project's `.autonoe/status.json`.
///
/// Once a write has returned, it survives kills and power cuts. Readers see the old or the new
/// ledger, never a part. Writers of several processes take turns. Unknown fields are kept. A file
/// that cannot be parsed is an error and stays unchanged; so is one of more than 64 MiB. Between
/// calls, the repository only remembers its folder: the content of the file is authoritative. A run
/// that [owns the ledger](Self::owned_by_run) is the exception: its ledger is what it saved last.
/// If the folder was moved, removed or replaced since it was [opened](Self::open), that is an error
/// ([`RepositoryErrorKind::Missing`]) and nothing is written.
///
/// Not for network file systems: locks between several machines are not supported.
///
/// ```
/// use autonoe_core::ledger::{Fence, LedgerState};
/// use autonoe_core::project::FileDeliverableRepository;
/// use autonoe_core::time::Epoch;
/// use autonoe_core::{DeliverableRepository, Project};
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
    folder: Option<PathIdentity>,
    hold: Option<LedgerHold>,
}

/// The possible contents of a run's ledger file, as bytes.
struct Expected {
    last: Vec<u8>,
    unconfirmed: Vec<Vec<u8>>,
}

impl FileDeliverableRepository {
    /// Opens the ledger of `project`, and creates the `.autonoe` folder if it is missing.
    ///
    /// # Errors
    ///
    /// The folder cannot be created or written to, or is a symlink.
    pub fn open(project: &Project) -> Result<Self, ProjectError> {
        let folder = project.ensure_state_dir()?;
        Ok(Self {
            folder: Some(PathIdentity::new(&folder)?),
            ..Self::from_path(project.status_path())
        })
    }

    /// Uses the ledger in the file at `path`, whose folder must exist.
    pub fn from_path(path: impl Into<PathBuf>) -> Self {
        Self {
            file: StatusFile::new(path),
            folder: None,
            hold: None,
        }
    }

    /// Makes the run that holds `lock` of `project` the owner of the ledger, until `lock` is dropped.
    ///
    /// The run's ledger is then what the run saved last. If something else changes, removes or
    /// replaces the file, [`load_owned`](DeliverableRepository::load_owned) restores it and keeps
    /// the foreign content as `status.foreign-1.json` beside it, or with the next free number. If
    /// `.autonoe` is removed, the ledger is written again to a new folder, and the error is
    /// [`RepositoryErrorKind::Missing`]. [`load`](DeliverableRepository::load) fails with the same
    /// error if the ledger existed and is missing.
    ///
    /// If the lock file was replaced and another run has taken over, the error is
    /// [`RepositoryErrorKind::Fenced`], and the ledger of this run is kept as
    /// `status.fenced-1.json`, or with the next free number. Once `lock` was dropped, `load_owned`
    /// fails with [`RepositoryErrorKind::Fenced`], too.
    ///
    /// ```
    /// use autonoe_core::project::{FileDeliverableRepository, RunLock};
    /// use autonoe_core::Project;
    /// use jiff::Timestamp;
    ///
    /// # let dir = tempfile::tempdir()?;
    /// let project = Project::find(dir.path(), None)?;
    /// let lock = RunLock::acquire(&project, Timestamp::now())?;
    ///
    /// let repository = FileDeliverableRepository::open(&project)?.owned_by_run(&lock, &project)?;
    /// # drop(repository);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The project directory cannot be read.
    pub fn owned_by_run(mut self, lock: &RunLock, project: &Project) -> Result<Self, ProjectError> {
        self.hold = Some(LedgerHold::new(project, lock)?);
        Ok(self)
    }

    /// Loads the ledger as [`load`](DeliverableRepository::load) does, for programs without a
    /// runtime.
    ///
    /// ```
    /// use autonoe_core::project::FileDeliverableRepository;
    ///
    /// # let dir = tempfile::tempdir()?;
    /// let repository = FileDeliverableRepository::from_path(dir.path().join("status.json"));
    ///
    /// assert!(repository.load_now()?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The file cannot be read or parsed.
    pub fn load_now(&self) -> Result<Option<Snapshot>, RepositoryError> {
        self.check_folder()?;
        let bytes = self.file.read().map_err(|unread| self.unread(unread))?;
        match (&bytes, &self.hold) {
            (Some(_), Some(hold)) => hold.set_found(),
            (None, Some(hold)) if hold.was_found() => {
                let evidence = "it existed when the run acquired the run lock";
                return Err(missing_ledger(self.file.path(), evidence));
            }
            _ => {}
        }
        bytes.map(|bytes| self.parse(&bytes)).transpose()
    }

    /// Refuses a ledger that no run can take over.
    pub(super) fn check_takeover(&self, ledger: Option<&Snapshot>) -> Result<(), RepositoryError> {
        let Some(Err(error)) = ledger.map(Snapshot::next_epoch) else {
            return Ok(());
        };
        let message = format!("{} cannot be taken over", self.name());
        Err(RepositoryError::new(error.kind(), message).with_source(error))
    }

    /// Runs `work` if no other run has taken over from `epoch`, and prevents takeovers until it is
    /// done.
    pub(super) fn run_under_epoch<T>(
        &self,
        epoch: Epoch,
        work: impl FnOnce() -> T,
    ) -> Result<T, RepositoryError> {
        self.check_folder()?;
        let turn = self.file.lock().map_err(|error| self.unavailable(error))?;
        let bytes = self.file.read().map_err(|unread| self.unread(unread))?;
        let found = bytes.map(|bytes| self.parse(&bytes)).transpose()?;
        if found.is_some_and(|found| found.epoch > epoch) {
            return Err(self.fenced_by_other_run());
        }
        let done = work();
        drop(turn);
        Ok(done)
    }

    /// Waits for the text only after this writer has its turn and all checks have passed.
    fn save_now(
        &self,
        fence: &Fence,
        text: &Receiver<Arc<Vec<u8>>>,
    ) -> Result<(), RepositoryError> {
        self.check_folder()?;
        let turn = self.file.lock().map_err(|error| self.unavailable(error))?;
        self.check(fence)?;
        text.recv()
            .map_err(io::Error::other)
            .and_then(|text| turn.replace(&text))
            .map_err(|error| self.unavailable(error))?;
        if let Some(hold) = &self.hold {
            hold.set_found();
        }
        Ok(())
    }

    /// Loads the ledger for the run that saved it, and restores it first if needed.
    fn load_held(
        &self,
        hold: &LedgerHold,
        saved: &SavedLedger,
        expected: &Expected,
    ) -> Result<OwnedLedger, RepositoryError> {
        if hold.is_released() {
            return Err(self.released());
        }
        self.check_folder_or_rescue(hold, expected)?;
        let inspect = || inspect(&self.file).map_err(|error| self.unavailable(error));
        let owned = |snapshot| OwnedLedger {
            snapshot: Some(snapshot),
            foreign: None,
        };
        // Without the write lock, which any process could hold. An unchanged ledger needs no lock.
        if let Some(snapshot) = recognised(&inspect()?, saved, expected) {
            return Ok(owned(snapshot));
        }
        let turn = self.file.lock().map_err(|error| self.unavailable(error))?;
        let found = inspect()?;
        if let Some(snapshot) = recognised(&found, saved, expected) {
            return Ok(owned(snapshot));
        }
        // After the look: the ledger that another run writes once the run lock is free is not
        // foreign.
        if hold.is_released() {
            return Err(self.released());
        }
        match takeover(&found, hold, saved) {
            Some(Takeover::SameLedger) => return Err(self.fenced_by_other_run()),
            Some(Takeover::OtherLedger) => return Err(self.fenced(hold, expected)),
            None => {}
        }
        let foreign = keep_foreign(&self.file, &found)
            .and_then(|foreign| turn.replace(&expected.last).map(|()| foreign))
            .map_err(|error| self.unavailable(error))?;
        Ok(OwnedLedger {
            snapshot: Some(saved.last.clone()),
            foreign: Some(foreign),
        })
    }

    /// Refuses to work in another folder. If the folder was removed, the ledger is written again
    /// first.
    fn check_folder_or_rescue(
        &self,
        hold: &LedgerHold,
        expected: &Expected,
    ) -> Result<(), RepositoryError> {
        let Err(error) = self.check_folder() else {
            return Ok(());
        };
        match hold.restore_after_removal(&self.file, &expected.last) {
            Ok(true) => {
                let folder = self.file.path().parent();
                let message = format!(
                    "{:?} is gone: it was removed while a run was in progress. The ledger was \
                     written again, but the journal of the run is lost; start again",
                    folder.unwrap_or(self.file.path())
                );
                Err(RepositoryError::new(RepositoryErrorKind::Missing, message))
            }
            Ok(false) => Err(error),
            Err(failure) => {
                tracing::warn!(error = %failure, "the removed ledger could not be written again");
                Err(error)
            }
        }
    }

    /// Refuses to work in a folder other than the opened one.
    fn check_folder(&self) -> Result<(), RepositoryError> {
        let Some(Err(error)) = self.folder.as_ref().map(PathIdentity::check) else {
            return Ok(());
        };
        let kind = match error {
            ProjectError::Removed { .. } | ProjectError::Replaced { .. } => {
                RepositoryErrorKind::Missing
            }
            _ => RepositoryErrorKind::Unavailable,
        };
        Err(RepositoryError::new(kind, error.to_string()))
    }

    /// Refuses a write whose base is not the current content of the file.
    fn check(&self, fence: &Fence) -> Result<(), RepositoryError> {
        let found = self.file.read().map_err(|unread| self.unread(unread))?;
        let base = fence.base.as_ref().and_then(FileRevision::read);
        let latest = match (found, base) {
            (None, _) => None,
            // The base was created from the parsed file, so it need not be parsed again.
            (Some(bytes), Some(base)) if base.is_of(&bytes) => Some((base.epoch, base.into())),
            (Some(bytes), _) => {
                let snapshot = self.parse(&bytes)?;
                Some((snapshot.epoch, snapshot.revision))
            }
        };
        if latest
            .as_ref()
            .is_some_and(|(epoch, _)| fence.epoch < *epoch)
        {
            return Err(self.fenced_by_other_run());
        }
        if latest.map(|(_, revision)| revision) != fence.base {
            let message = format!("{} has changed since it was read", self.name());
            return Err(RepositoryError::new(RepositoryErrorKind::Conflict, message));
        }
        Ok(())
    }

    fn fenced_by_other_run(&self) -> RepositoryError {
        let message = format!("another run has taken over {}", self.name());
        RepositoryError::new(RepositoryErrorKind::Fenced, message)
    }

    /// Keeps the ledger of this run, which another run has replaced, and returns the error.
    ///
    /// The other ledger may be a forgery next to a forged lock file, so this one must not be lost.
    fn fenced(&self, hold: &LedgerHold, expected: &Expected) -> RepositoryError {
        let (message, failure) = match hold.keep_fenced(self.file.path(), &expected.last) {
            Ok(name) => (format!("the ledger of this run is kept as {name}"), None),
            Err(error) => (
                "the ledger of this run could not be kept".to_owned(),
                Some(error),
            ),
        };
        let message = format!(
            "another run has taken over {}, because the lock file was replaced; {message}",
            self.name()
        );
        let error = RepositoryError::new(RepositoryErrorKind::Fenced, message);
        match failure {
            Some(failure) => error.with_source(failure),
            None => error,
        }
    }

    fn released(&self) -> RepositoryError {
        let message = format!(
            "the run that owned {} has ended and released the run lock; start another run",
            self.name()
        );
        RepositoryError::new(RepositoryErrorKind::Fenced, message)
    }

    fn parse(&self, bytes: &[u8]) -> Result<Snapshot, RepositoryError> {
        StatusRecord::parse(bytes).map_err(|error| {
            let message = format!(
                "{} does not contain a valid ledger and is unchanged; repair it or move it away",
                self.name()
            );
            RepositoryError::new(RepositoryErrorKind::Corrupt, message).with_source(error)
        })
    }

    fn unread(&self, unread: ReadError) -> RepositoryError {
        let problem = match unread {
            ReadError::NotAFile(found) => format!("is {}", found.instead_of("a file")),
            ReadError::TooLarge => "is larger than 64 MiB".to_owned(),
            ReadError::Refused(error) => return self.unavailable(error),
        };
        let message = format!("{} {problem}; move it away", self.name());
        RepositoryError::new(RepositoryErrorKind::Unavailable, message)
    }

    fn unavailable(&self, error: io::Error) -> RepositoryError {
        let message = format!(
            "{} cannot be read or written; check its owner, its permissions and the free disk \
             space",
            self.name()
        );
        RepositoryError::new(RepositoryErrorKind::Unavailable, message).with_source(error)
    }

    fn name(&self) -> String {
        self.file.path().display().to_string()
    }
}

#[async_trait]
impl DeliverableRepository for FileDeliverableRepository {
    async fn load(&self) -> Result<Option<Snapshot>, RepositoryError> {
        let repository = self.clone();
        run_blocking(move || repository.load_now()).await
    }

    async fn save(&self, state: &LedgerState, fence: Fence) -> Result<Revision, RepositoryError> {
        let epoch = fence.epoch;
        let base = fence.base.as_ref().and_then(FileRevision::read);
        let writes = base.map_or(0, |base| base.writes).wrapping_add(1);
        let (sender, text) = mpsc::channel();
        let repository = self.clone();
        let saving = run_blocking(move || repository.save_now(&fence, &text));
        // Serialised here, because the other thread would need a copy of the state, and a copy
        // takes longer than the text. Meanwhile the other thread acquires the write lock and checks
        // the file.
        let text = status_text(state, epoch, writes).map_err(|error| {
            let message = format!("the ledger cannot be written to {}", self.name());
            RepositoryError::new(RepositoryErrorKind::Unavailable, message).with_source(error)
        })?;
        let text = Arc::new(text);
        // This fails if the other thread has refused the write, which is returned below.
        let _ = sender.send(text.clone());
        let revision = FileRevision::new(epoch, writes, &text);
        saving.await?;
        Ok(revision.into())
    }

    async fn load_owned(&self, saved: &SavedLedger) -> Result<OwnedLedger, RepositoryError> {
        let revision = FileRevision::read(&saved.last.revision);
        let (Some(hold), Some(revision)) = (self.hold.clone(), revision) else {
            return Ok(OwnedLedger {
                snapshot: self.load().await?,
                foreign: None,
            });
        };
        let text = |state, writes| {
            status_text(state, revision.epoch, writes).map_err(|error| {
                let message = format!("the ledger in {} cannot be compared", self.name());
                RepositoryError::new(RepositoryErrorKind::Unavailable, message).with_source(error)
            })
        };
        let next = revision.writes.wrapping_add(1);
        let unconfirmed = saved.unconfirmed.iter().map(|state| text(state, next));
        let expected = Expected {
            last: text(&saved.last.state, revision.writes)?,
            unconfirmed: unconfirmed.collect::<Result<_, _>>()?,
        };
        let (repository, saved) = (self.clone(), saved.clone());
        run_blocking(move || repository.load_held(&hold, &saved, &expected)).await
    }
}

/// Returns the ledger if the file contains what the run saved: the last state, or one whose save it
/// did not wait for.
fn recognised(
    found: &LedgerFileContent,
    saved: &SavedLedger,
    expected: &Expected,
) -> Option<Snapshot> {
    let LedgerFileContent::Bytes(bytes) = found else {
        return None;
    };
    if *bytes == expected.last {
        return Some(saved.last.clone());
    }
    let mut unconfirmed = expected.unconfirmed.iter();
    let number = unconfirmed.position(|text| text == bytes)?;
    let revision = FileRevision::read(&saved.last.revision)?;
    let writes = revision.writes.wrapping_add(1);
    Some(Snapshot {
        state: saved.unconfirmed[number].clone(),
        revision: FileRevision::new(revision.epoch, writes, bytes).into(),
        epoch: revision.epoch,
    })
}

/// The effect of a takeover on the ledger.
enum Takeover {
    /// It raised the epoch and changed nothing else.
    SameLedger,
    /// It saved another ledger.
    OtherLedger,
}

/// Returns the effect of another run's takeover on the ledger; `None` if there was no takeover.
///
/// While the lock is held, a takeover raises the epoch and changes nothing else: its run cannot
/// start. If the lock file was replaced, another run may hold the new one, and its work must stay.
fn takeover(found: &LedgerFileContent, hold: &LedgerHold, saved: &SavedLedger) -> Option<Takeover> {
    let LedgerFileContent::Bytes(bytes) = found else {
        return None;
    };
    let found = StatusRecord::parse(bytes).ok()?;
    if found.epoch <= saved.last.epoch {
        return None;
    }
    if found.state == saved.last.state || saved.unconfirmed.contains(&found.state) {
        return Some(Takeover::SameLedger);
    }
    (!hold.is_in_place()).then_some(Takeover::OtherLedger)
}

/// Starts blocking work on another thread and waits for its end. Dropping the future does not stop
/// the work.
fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RepositoryError> + Send + 'static,
) -> impl Future<Output = Result<T, RepositoryError>> {
    let working = tokio::task::spawn_blocking(work);
    async {
        working.await.unwrap_or_else(|error| {
            let message = "the task that works on the ledger did not finish";
            Err(RepositoryError::new(RepositoryErrorKind::Unavailable, message).with_source(error))
        })
    }
}
