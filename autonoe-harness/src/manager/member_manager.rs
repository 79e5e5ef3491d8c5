//! Manager that starts the processes of members and finds them again.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::RunId;
use autonoe_core::engine::{
    Engine, EngineError, JobRunner, Placement, RunInstruction, RunOutcome, RunPhase, RunSpec,
    RunView,
};
use autonoe_core::event::InvalidValue;
use autonoe_core::time::{Clock, SystemClock};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::MemberCommand;
use super::supervisor::{Shared, Supervisor, Workers};
use crate::folder::SubmitOutcome;
use crate::folder::{FolderError, MemberFolder, MemberStatus, MemberView};
use crate::handle::{HandleError, MemberHandle};
use crate::strategy::MemberId;

/// Starts members, each a process with a folder of its own, and finds them again.
///
/// The manager is an [`Engine`]: each submitted run is a member. All of its state is in the
/// folders, so a later manager has the same knowledge, and several managers can use one `.harness`
/// folder at once: a member is never served by two processes.
///
/// A member whose process died without an outcome is *lost*. It is restarted, in its next epoch, up
/// to [`restarts`](Self::restarts) times, and fails after that. The number of concurrent members is
/// up to the coordinator. A member that does not end after a stop request is killed after [a
/// time](Self::kill_after). Process liveness is only known on Linux.
///
/// Dropping the manager ends the members that it has started, unless they
/// [outlive](super::MemberLifetime) it.
///
/// ```no_run
/// use std::time::Duration;
///
/// use autonoe_core::engine::{Engine, Placement, RunSpec};
/// use autonoe_core::RunId;
/// use autonoe_harness::{MemberManager, MemberCommand};
/// use serde_json::json;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let program = MemberCommand::new("/usr/bin/autonoe").args(["harness", "work"]);
/// let manager = MemberManager::new("/srv/shop/.harness", program);
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
pub struct MemberManager {
    shared: Arc<Shared>,
    supervised: Mutex<HashMap<MemberId, Supervised>>,
}

/// A member that was found: its state, or the error of reading it.
pub type FoundMember = (MemberId, Result<MemberView, FolderError>);

/// The outcome of a member, once its supervisor has it.
type Done = Option<Result<RunOutcome, Arc<FolderError>>>;

/// A member with a supervisor.
struct Supervised {
    supervisor: AbortHandle,
    done: watch::Receiver<Done>,
}

impl MemberManager {
    /// Default time between a stop request and a kill: longer than the process of the member itself
    /// [waits](crate::serve::MemberServer::STOP_TIMEOUT), and shorter than a coordinator does.
    pub const KILL_AFTER: Duration = Duration::from_secs(60);

    /// Creates a manager of the members in `root`, a `.harness` folder. `program` serves them.
    pub fn new(root: impl Into<PathBuf>, program: MemberCommand) -> Self {
        Self::with_workers(root.into(), Workers::Program(program))
    }

    /// Creates a manager whose members are tasks of this process, with the same kind of folders:
    /// for tests, and for embedders without a separate program. They end with this process.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use autonoe_core::engine::{Engine, JobRunner, Placement, JobContext, RunOutcome, RunSpec};
    /// use autonoe_core::RunId;
    /// use autonoe_harness::MemberManager;
    /// use serde_json::json;
    ///
    /// /// Gives back what it was given.
    /// struct Echo;
    ///
    /// #[async_trait::async_trait]
    /// impl JobRunner for Echo {
    ///     async fn run(&self, run: &RunSpec, _: &JobContext) -> RunOutcome {
    ///         RunOutcome::succeeded(run.input.clone())
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let root = tempfile::tempdir()?;
    /// let manager = MemberManager::in_process(root.path().join(".harness"), Arc::new(Echo));
    /// let order = RunSpec::new(RunId::new("a"), "echo", json!("hello"));
    ///
    /// let run = manager.submit(order, Placement::anywhere()).await?;
    ///
    /// assert_eq!(manager.wait(&run).await?.output, json!("hello"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn in_process(root: impl Into<PathBuf>, runner: impl JobRunner + 'static) -> Self {
        Self::with_workers(root.into(), Workers::InProcess(Arc::new(runner)))
    }

    fn with_workers(root: PathBuf, workers: Workers) -> Self {
        Self {
            shared: Arc::new(Shared {
                root,
                workers,
                clock: Arc::new(SystemClock),
                every: MemberHandle::POLL_INTERVAL,
                restarts: 1,
                kill_after: Self::KILL_AFTER,
            }),
            supervised: Mutex::default(),
        }
    }

    /// Sets the clock; the system clock by default.
    #[must_use]
    pub fn clock(self, clock: impl Clock + 'static) -> Self {
        self.with(|shared| shared.clock = Arc::new(clock))
    }

    /// Sets the poll interval of folders.
    #[must_use]
    pub fn every(self, interval: Duration) -> Self {
        self.with(|shared| shared.every = interval)
    }

    /// Sets how often a member whose process was lost is restarted; once by default.
    #[must_use]
    pub fn restarts(self, restarts: u32) -> Self {
        self.with(|shared| shared.restarts = restarts)
    }

    /// Sets the time between a stop request and the kill of a member with its process tree; a
    /// minute by default.
    #[must_use]
    pub fn kill_after(self, time: Duration) -> Self {
        self.with(|shared| shared.kill_after = time)
    }

    fn with(mut self, change: impl FnOnce(&mut Shared)) -> Self {
        change(Arc::make_mut(&mut self.shared));
        self
    }

    /// Returns the folder of all members.
    pub fn root(&self) -> &Path {
        &self.shared.root
    }

    /// Starts a member, or finds the one with this order.
    ///
    /// # Errors
    ///
    /// As [`submit`](Engine::submit).
    pub async fn spawn(&self, order: RunSpec) -> Result<MemberHandle, EngineError> {
        let run = self.submit(order, Placement::anywhere()).await?;
        self.handle(&MemberId::new(run.as_str()))
    }

    /// Returns the handle of a member.
    ///
    /// # Errors
    ///
    /// [`EngineError::Unknown`], or its folder cannot be read.
    pub fn handle(&self, id: &MemberId) -> Result<MemberHandle, EngineError> {
        let folder = self.folder(id)?;
        let handle = MemberHandle::open(folder).map_err(|error| engine_error(id, error))?;
        let Shared { clock, every, .. } = &*self.shared;
        Ok(handle.clock(clock.clone()).every(*every))
    }

    /// Lists the members, sorted by ID, including those of earlier managers. A member whose folder
    /// cannot be read is listed with the error.
    ///
    /// # Errors
    ///
    /// The folder of all members exists and cannot be read.
    pub fn list(&self) -> Result<Vec<FoundMember>, FolderError> {
        let folders = MemberFolder::list(&self.shared.root)?;
        let seen = folders
            .iter()
            .map(|folder| (folder.id().clone(), folder.view()));
        Ok(seen.collect())
    }

    /// Restarts a member whose process is gone, in its next epoch.
    ///
    /// If several managers try, one process is started per lost process.
    ///
    /// # Errors
    ///
    /// [`EngineError::Ended`] if it has an outcome, [`EngineError::Refused`] if it is being served.
    pub fn restart(&self, id: &MemberId) -> Result<MemberHandle, EngineError> {
        let folder = self.folder(id)?;
        let view = folder
            .view()
            .map_err(|error| engine_error(id, error.into()))?;
        let run = RunId::new(id.as_str());
        if view.outcome.is_some() {
            return Err(EngineError::Ended(run));
        }
        if let Some(pid) = view.pid {
            let reason = format!("process {pid} is already running it");
            return Err(EngineError::Refused { run, reason });
        }
        self.start_supervisor(folder, 0);
        self.handle(id)
    }

    fn folder(&self, id: &MemberId) -> Result<MemberFolder, EngineError> {
        MemberFolder::new(&self.shared.root, id).map_err(|error| engine_error(id, error.into()))
    }

    /// Supervises a member until it has ended.
    fn supervise(&self, folder: MemberFolder) -> watch::Receiver<Done> {
        let is_lost = folder.view().is_ok_and(|view| view.is_lost);
        self.start_supervisor(folder, u32::from(is_lost))
    }

    fn start_supervisor(&self, folder: MemberFolder, losses: u32) -> watch::Receiver<Done> {
        let mut supervised = self.supervised();
        let id = folder.id().clone();
        if let Some(found) = supervised.get(&id)
            && !found.supervisor.is_finished()
        {
            return found.done.clone();
        }
        let (sender, done) = watch::channel(None);
        let supervisor = Supervisor::new(self.shared.clone(), folder, losses);
        let task = tokio::spawn(async move {
            let ended = supervisor.run().await.map_err(Arc::new);
            if let Err(error) = &ended {
                tracing::error!(%error, "cannot supervise a member");
            }
            sender.send_replace(Some(ended));
        });
        let receiver = done.clone();
        let supervisor = task.abort_handle();
        supervised.insert(id, Supervised { supervisor, done });
        receiver
    }

    fn supervised(&self) -> MutexGuard<'_, HashMap<MemberId, Supervised>> {
        let supervised = self.supervised.lock();
        supervised.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for MemberManager {
    fn drop(&mut self) {
        for supervised in self.supervised().values() {
            supervised.supervisor.abort();
        }
    }
}

/// Converts the error of the member `id` into that of an engine.
fn engine_error(id: &MemberId, error: HandleError) -> EngineError {
    let run = RunId::new(id.as_str());
    match error {
        HandleError::Folder(FolderError::NoOrder { .. } | FolderError::Id { .. }) => {
            EngineError::Unknown(run)
        }
        HandleError::Ended(_) => EngineError::Ended(run),
        error => EngineError::Failed {
            reason: format!("cannot reach the member {id}"),
            source: Some(Box::new(error)),
        },
    }
}

impl fmt::Debug for MemberManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemberManager")
            .field("root", &self.shared.root)
            .finish_non_exhaustive()
    }
}

fn id_of(run: &RunId) -> MemberId {
    MemberId::new(run.as_str())
}

#[async_trait]
impl Engine for MemberManager {
    async fn submit(&self, run: RunSpec, place: Placement) -> Result<RunId, EngineError> {
        let (id, run_id) = (id_of(&run.id), run.id.clone());
        let refused = |reason: String| EngineError::Refused {
            run: run_id.clone(),
            reason,
        };
        if let Some(host) = place.host {
            return Err(refused(format!(
                "members run on this host only, not on {host}"
            )));
        }
        InvalidValue::check_time("every(0)", self.shared.every)
            .map_err(|invalid| refused(invalid.to_string()))?;
        let folder = MemberFolder::new(&self.shared.root, &id);
        let folder = folder.map_err(|error| refused(error.to_string()))?;
        match folder.submit_once(&run) {
            Ok(SubmitOutcome::New | SubmitOutcome::Duplicate) => {}
            Ok(SubmitOutcome::Conflict) => return Err(EngineError::Conflict(run_id)),
            Err(error) => return Err(engine_error(&id, error.into())),
        }
        let outcome = folder.outcome();
        if outcome
            .map_err(|error| engine_error(&id, error.into()))?
            .is_none()
        {
            self.supervise(folder);
        }
        Ok(run_id)
    }

    async fn cancel(&self, run: &RunId, reason: &str) -> Result<(), EngineError> {
        let handle = self.handle(&id_of(run))?;
        let stopped = handle.stop(reason).await;
        stopped.map_err(|error| engine_error(handle.id(), error))?;
        // If no process serves the member, the supervisor records its end.
        self.supervise(handle.folder().clone());
        Ok(())
    }

    async fn instruct(&self, run: &RunId, instruction: RunInstruction) -> Result<(), EngineError> {
        let handle = self.handle(&id_of(run))?;
        let sent = match instruction {
            RunInstruction::Message(text) => handle.send_instruction(&text).await.map(|_| ()),
            RunInstruction::Pause => handle.pause().await,
            RunInstruction::Resume => handle.resume().await,
        };
        sent.map_err(|error| engine_error(handle.id(), error))
    }

    async fn status(&self, run: &RunId) -> Result<RunView, EngineError> {
        let handle = self.handle(&id_of(run))?;
        let view = handle.refresh().await;
        let view = view.map_err(|error| engine_error(handle.id(), error))?;
        let phase = phase_of(&view);
        let mut run_view = RunView::new(run.clone());
        run_view.phase = phase;
        run_view.progress = Some(view.progress);
        run_view.outcome = view.outcome;
        Ok(run_view)
    }

    async fn wait(&self, run: &RunId) -> Result<RunOutcome, EngineError> {
        let id = id_of(run);
        let folder = self.folder(&id)?;
        let failed = |error: FolderError| engine_error(&id, error.into());
        folder.order().map_err(failed)?;
        if let Some(outcome) = folder.outcome().map_err(failed)? {
            return Ok(outcome);
        }
        let mut done = self.supervise(folder);
        let ended = done.wait_for(Option::is_some).await;
        let reason = format!("the supervisor of the member {id} has stopped");
        match ended.ok().and_then(|done| done.clone()) {
            Some(Ok(outcome)) => Ok(outcome),
            Some(Err(error)) => Err(EngineError::Failed {
                reason,
                source: Some(Box::new(error)),
            }),
            None => Err(EngineError::Failed {
                reason,
                source: None,
            }),
        }
    }
}

/// Maps the state of a member to the phase of its run.
fn phase_of(view: &MemberView) -> RunPhase {
    if view.outcome.is_some() {
        return RunPhase::Ended;
    }
    if view.stopping.is_some() {
        return RunPhase::Stopping;
    }
    match view.status {
        MemberStatus::Running => RunPhase::Running,
        MemberStatus::Paused => RunPhase::Paused,
        // A lost member has no outcome, and can be restarted.
        MemberStatus::Pending
        | MemberStatus::Completed
        | MemberStatus::Failed
        | MemberStatus::Stopped => RunPhase::Waiting,
    }
}
