//! What starts sub-harnesses and finds them again.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use autonoe_core::{
    Clock, Engine, EngineError, JobRunner, Placement, RunId, RunOutcome, RunSpec, SystemClock,
};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::SubHarnessProgram;
use super::attendant::Attendant;
use crate::{FolderError, HandleError, HarnessFolder, HarnessId, HarnessView, ProcessHandle};

/// Starts sub-harnesses, each a process with a folder of its own, and finds them again.
///
/// It is an [`Engine`]: each run that is submitted is a sub-harness. What it knows is in the
/// folders, so a manager that comes later knows the same, and several can look after one `.harness`
/// at once: a sub-harness is never served by two processes.
///
/// One whose process died without an outcome is *lost*: it is started again, in its next epoch, as
/// often as [`restarts`](Self::restarts) says, and fails then. How many are at work at once is for
/// the coordinator to say. One that was asked to end and does not is killed after
/// [a time](Self::kill_after). Whether a process lives is only known on Linux.
///
/// Dropping the manager ends the sub-harnesses that it has started, unless they
/// [outlive](super::Survival) it.
///
/// ```no_run
/// use std::time::Duration;
///
/// use autonoe_core::{Engine, Placement, RunId, RunSpec};
/// use autonoe_harness::{HarnessHandle, HarnessManager, SubHarnessProgram};
/// use serde_json::json;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let program = SubHarnessProgram::new("/usr/bin/autonoe").args(["harness", "work"]);
/// let manager = HarnessManager::new("/srv/shop/.harness", program);
///
/// let order = RunSpec::new(RunId::new("login-page"), "work", json!({"tasks": ["T-001"]}));
/// let handle = manager.spawn(order).await?;
/// handle.send_instruction("Use Postgres.").await?;
/// let outcome = manager.wait(&RunId::new("login-page")).await?;
///
/// assert!(outcome.is_success());
/// # Ok(())
/// # }
/// ```
pub struct HarnessManager {
    pub(super) shared: Arc<Shared>,
    attended: Mutex<HashMap<HarnessId, Attended>>,
}

/// What the manager and those who look after its sub-harnesses share.
pub(super) struct Shared {
    pub(super) root: PathBuf,
    pub(super) workers: Workers,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) every: Duration,
    pub(super) restarts: u32,
    pub(super) kill_after: Duration,
}

/// A sub-harness that was found, and how it stands or why that cannot be read.
pub type FoundHarness = (HarnessId, Result<HarnessView, FolderError>);

/// What serves sub-harnesses.
#[derive(Clone)]
pub(super) enum Workers {
    /// A process for each.
    Program(SubHarnessProgram),
    /// A task of this process for each.
    InProcess(Arc<dyn JobRunner>),
}

/// What an attendant came to, once it has.
pub(super) type Done = Option<Result<RunOutcome, Arc<FolderError>>>;

/// A sub-harness that is looked after.
struct Attended {
    attendant: AbortHandle,
    done: watch::Receiver<Done>,
}

impl HarnessManager {
    /// How long a sub-harness that was asked to end has for that, if nothing else is said: longer
    /// than its own process [waits](crate::Serving::STOP_PATIENCE), and shorter than a coordinator.
    pub const KILL_AFTER: Duration = Duration::from_secs(60);

    /// Looks after the sub-harnesses in `root`, the `.harness` of a coordinator, which `program`
    /// serves.
    pub fn new(root: impl Into<PathBuf>, program: SubHarnessProgram) -> Self {
        Self::of(root.into(), Workers::Program(program))
    }

    /// Looks after sub-harnesses that are tasks of this process, with folders like those of others:
    /// for tests, and for embedders without a program of their own. They end with this process.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use autonoe_core::{Engine, JobRunner, Placement, RunDesk, RunId, RunOutcome, RunSpec};
    /// use autonoe_harness::HarnessManager;
    /// use serde_json::json;
    ///
    /// /// Gives back what it was given.
    /// struct Echo;
    ///
    /// #[async_trait::async_trait]
    /// impl JobRunner for Echo {
    ///     async fn run(&self, run: &RunSpec, _: &RunDesk) -> RunOutcome {
    ///         RunOutcome::succeeded(run.input.clone())
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let root = tempfile::tempdir()?;
    /// let manager = HarnessManager::in_process(root.path().join(".harness"), Arc::new(Echo));
    /// let order = RunSpec::new(RunId::new("a"), "echo", json!("hello"));
    ///
    /// let run = manager.submit(order, Placement::anywhere()).await?;
    ///
    /// assert_eq!(manager.wait(&run).await?.output, json!("hello"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn in_process(root: impl Into<PathBuf>, runner: impl JobRunner + 'static) -> Self {
        Self::of(root.into(), Workers::InProcess(Arc::new(runner)))
    }

    fn of(root: PathBuf, workers: Workers) -> Self {
        Self {
            shared: Arc::new(Shared {
                root,
                workers,
                clock: Arc::new(SystemClock),
                every: ProcessHandle::EVERY,
                restarts: 1,
                kill_after: Self::KILL_AFTER,
            }),
            attended: Mutex::default(),
        }
    }

    /// Sets the clock; the machine's by default.
    #[must_use]
    pub fn clock(self, clock: impl Clock + 'static) -> Self {
        self.with(|shared| shared.clock = Arc::new(clock))
    }

    /// Sets how often folders are looked at.
    #[must_use]
    pub fn every(self, interval: Duration) -> Self {
        self.with(|shared| shared.every = interval)
    }

    /// Sets how often a sub-harness whose process was lost is started again; once by default.
    #[must_use]
    pub fn restarts(self, restarts: u32) -> Self {
        self.with(|shared| shared.restarts = restarts)
    }

    /// Sets how long a sub-harness that was asked to end has for that before it is killed with all
    /// that it started; a minute by default.
    #[must_use]
    pub fn kill_after(self, time: Duration) -> Self {
        self.with(|shared| shared.kill_after = time)
    }

    fn with(self, change: impl FnOnce(&mut Shared)) -> Self {
        let mut shared = Shared {
            root: self.shared.root.clone(),
            workers: self.shared.workers.clone(),
            clock: self.shared.clock.clone(),
            every: self.shared.every,
            restarts: self.shared.restarts,
            kill_after: self.shared.kill_after,
        };
        change(&mut shared);
        Self {
            shared: Arc::new(shared),
            attended: Mutex::default(),
        }
    }

    /// Returns the folder of all sub-harnesses.
    pub fn root(&self) -> &Path {
        &self.shared.root
    }

    /// Starts a sub-harness, or finds the one that has this order.
    ///
    /// # Errors
    ///
    /// As [`submit`](Engine::submit).
    pub async fn spawn(&self, order: RunSpec) -> Result<ProcessHandle, EngineError> {
        let run = self.submit(order, Placement::anywhere()).await?;
        self.handle(&HarnessId::new(run.as_str()))
    }

    /// Finds a sub-harness.
    ///
    /// # Errors
    ///
    /// [`EngineError::Unknown`], or its folder cannot be read.
    pub fn handle(&self, id: &HarnessId) -> Result<ProcessHandle, EngineError> {
        let folder = self.folder(id)?;
        let handle = ProcessHandle::open(folder).map_err(|error| engine_error(id, error))?;
        let Shared { clock, every, .. } = &*self.shared;
        Ok(handle.clock(clock.clone()).every(*every))
    }

    /// Lists the sub-harnesses in the order of their ids, also those of managers before; of one
    /// whose folder cannot be read, why.
    ///
    /// # Errors
    ///
    /// The folder of all is there and cannot be read.
    pub fn list(&self) -> Result<Vec<FoundHarness>, FolderError> {
        let folders = HarnessFolder::all_in(&self.shared.root)?;
        let seen = folders
            .iter()
            .map(|folder| (folder.id().clone(), folder.view()));
        Ok(seen.collect())
    }

    /// Starts a sub-harness again whose process is gone, in its next epoch.
    ///
    /// However many managers try, one process is started for each that was lost.
    ///
    /// # Errors
    ///
    /// [`EngineError::Ended`] if it has an outcome, [`EngineError::Refused`] if it is being served.
    pub fn restart(&self, id: &HarnessId) -> Result<ProcessHandle, EngineError> {
        let folder = self.folder(id)?;
        let view = folder
            .view()
            .map_err(|error| engine_error(id, error.into()))?;
        let run = RunId::new(id.as_str());
        if view.outcome.is_some() {
            return Err(EngineError::Ended(run));
        }
        if let Some(pid) = view.pid {
            let reason = format!("the process {pid} serves it");
            return Err(EngineError::Refused { run, reason });
        }
        self.attend(folder, 0);
        self.handle(id)
    }

    /// Sees to it that nothing is left: sub-harnesses that were lost are started again or fail, and
    /// processes of those that have ended are ended. Returns those that had to be looked after.
    ///
    /// # Errors
    ///
    /// The folder of all is there and cannot be read.
    pub async fn reap(&self) -> Result<Vec<HarnessId>, FolderError> {
        let mut reaped = Vec::new();
        for folder in HarnessFolder::all_in(&self.shared.root)? {
            let id = folder.id().clone();
            let Ok(marker) = folder.marker() else {
                continue;
            };
            let (is_lost, is_over) = match folder.view() {
                Ok(view) => (view.is_lost, view.outcome.is_some()),
                // What cannot be read and is served by nobody has no business to have processes.
                Err(_) => (false, folder.is_served().is_ok_and(|is_served| !is_served)),
            };
            if is_lost {
                self.look_after(folder);
                reaped.push(id);
            } else if is_over && !marker.processes().is_empty() {
                let limit = Duration::from_secs(10);
                let sweep = tokio::task::spawn_blocking(move || marker.kill_all(limit));
                if sweep.await.is_ok_and(|swept| !swept.killed.is_empty()) {
                    reaped.push(id);
                }
            }
        }
        Ok(reaped)
    }

    pub(super) fn folder(&self, id: &HarnessId) -> Result<HarnessFolder, EngineError> {
        HarnessFolder::of(&self.shared.root, id).map_err(|error| engine_error(id, error.into()))
    }

    /// Has somebody look after a sub-harness until it has ended.
    pub(super) fn look_after(&self, folder: HarnessFolder) -> watch::Receiver<Done> {
        let is_lost = folder.view().is_ok_and(|view| view.is_lost);
        self.attend(folder, u32::from(is_lost))
    }

    fn attend(&self, folder: HarnessFolder, losses: u32) -> watch::Receiver<Done> {
        let mut attended = self.attended();
        let id = folder.id().clone();
        if let Some(found) = attended.get(&id)
            && !found.attendant.is_finished()
        {
            return found.done.clone();
        }
        let (tell, done) = watch::channel(None);
        let attendant = Attendant::new(self.shared.clone(), folder, losses);
        let task = tokio::spawn(async move {
            let ended = attendant.attend_or_kill().await.map_err(Arc::new);
            if let Err(error) = &ended {
                tracing::error!(%error, "a sub-harness cannot be looked after");
            }
            tell.send_replace(Some(ended));
        });
        let told = done.clone();
        let attendant = task.abort_handle();
        attended.insert(id, Attended { attendant, done });
        told
    }

    fn attended(&self) -> MutexGuard<'_, HashMap<HarnessId, Attended>> {
        let attended = self.attended.lock();
        attended.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for HarnessManager {
    fn drop(&mut self) {
        for attended in self.attended().values() {
            attended.attendant.abort();
        }
    }
}

/// Says what is wrong with the sub-harness `id`, for who sees an engine.
pub(super) fn engine_error(id: &HarnessId, error: HandleError) -> EngineError {
    let run = RunId::new(id.as_str());
    match error {
        HandleError::Folder(FolderError::NoOrder { .. } | FolderError::Id { .. }) => {
            EngineError::Unknown(run)
        }
        HandleError::Ended(_) => EngineError::Ended(run),
        error => EngineError::Failed {
            reason: format!("the sub-harness {id} cannot be reached"),
            source: Some(Box::new(error)),
        },
    }
}

impl fmt::Debug for HarnessManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HarnessManager")
            .field("root", &self.shared.root)
            .finish_non_exhaustive()
    }
}
