//! [`ProjectSessionHost`], the session host of a project directory.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_security::Destructive;
use tokio_util::sync::CancellationToken;

use super::recorded_ledger::RecordedLedger;
use super::run_end::RunEndRecorder;
use super::session_record::SessionRecord;
use super::session_runner::HostedSessionRunner;
use crate::agent::AgentClientFactory;
use crate::agent::SessionReport;
use crate::engine::{HostedOutcome, HostedSession, RunProgress, SessionHost, SessionHostError};
use crate::event::{Failure, Retry};
use crate::ledger::DeliverableRepository;
use crate::ledger::LedgerView;
use crate::project::missing_ledger::missing_ledger;
use crate::project::{
    AgentConfig, FileDeliverableRepository, Journal, OpenProject, Project, ProjectError,
    ProjectRunError, SandboxSwitch,
};
use crate::run::RunReport;
use crate::run::SessionRunnerBuilder;
use crate::time::{Clock, SystemClock};
use crate::time::{Epoch, Mode, RunId, SessionKey};

/// The interval at which the host checks again whether another session is done.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Executes single sessions in a project directory.
///
/// It relies on the same mechanisms as a run in that directory: the run lock keeps two agents
/// apart, the journal contains the record of each session, and the epoch of the ledger fences off
/// overtaken callers. The sessions of one run are one flow there, with the end that its engine
/// reports. A large journal is rotated when the first session of a run starts; records are also
/// found in the rotated journals that are kept.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::engine::{HostedSession, SessionHost};
/// use autonoe_core::event::InstructionName;
/// use autonoe_core::project::ProjectSessionHost;
/// use autonoe_core::time::SessionKey;
/// use autonoe_core::RunId;
/// # use autonoe_core::Project;
/// # use autonoe_testkit::{ScriptedBackend, SessionScript, VirtualClock};
/// use tokio_util::sync::CancellationToken;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?
/// #     .block_on(async {
/// # let dir = tempfile::tempdir()?;
/// # let agents = Arc::new(ScriptedBackend::new([SessionScript::new("one").says("Done.").ends()]));
/// # let project = Project::find(dir.path(), None)?;
/// let host = ProjectSessionHost::new(project, agents);
/// # let host = host.clock(VirtualClock::new());
/// let key = SessionKey { run: RunId::new("shop"), number: 1 };
/// let epoch = host.claim(&key.run).await?;
/// let session = HostedSession::new(InstructionName::Coding).prompt("Tidy up.");
///
/// let never = CancellationToken::new();
/// let first = host.attach_or_start(&key, epoch, session.clone(), &|_| {}, never.clone()).await?;
/// // It has a recorded outcome: nothing runs.
/// let again = host.attach_or_start(&key, epoch, session, &|_| {}, never).await?;
///
/// assert_eq!(again, first);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ProjectSessionHost {
    pub(super) project: Project,
    pub(super) agents: Arc<dyn AgentClientFactory>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) configure: Arc<Configure>,
    mode: Mode,
    sandbox: SandboxSwitch,
    destructive: Destructive,
    config: Option<AgentConfig>,
}

type Configure = dyn Fn(SessionRunnerBuilder) -> SessionRunnerBuilder + Send + Sync;

impl ProjectSessionHost {
    /// Creates a host that runs sessions of `agents` in `project`.
    pub fn new(project: Project, agents: impl AgentClientFactory + 'static) -> Self {
        Self {
            project,
            agents: Arc::new(agents),
            clock: Arc::new(SystemClock),
            configure: Arc::new(|builder| builder),
            mode: Mode::Run,
            sandbox: SandboxSwitch::default(),
            destructive: Destructive::Forbidden,
            config: None,
        }
    }

    /// Sets the mode of the runs; [`Mode::Run`] by default. A session of a run in another mode is
    /// refused.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets whether the sandbox is on, and the source of that setting; it is on by default.
    #[must_use]
    pub fn sandbox(mut self, sandbox: SandboxSwitch) -> Self {
        self.sandbox = sandbox;
        self
    }

    /// Sets whether agents may delete and move files of the project; they may not by default.
    #[must_use]
    pub fn destructive(mut self, destructive: Destructive) -> Self {
        self.destructive = destructive;
        self
    }

    /// Sets the configuration that the caller has loaded; by default it is loaded for each session.
    #[must_use]
    pub fn config(mut self, config: AgentConfig) -> Self {
        self.config = Some(config);
        self
    }

    /// Sets the clock; the system clock by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Sets a function that configures each session further, after the files of the project were
    /// read.
    #[must_use]
    pub fn configure(
        mut self,
        configure: impl Fn(SessionRunnerBuilder) -> SessionRunnerBuilder + Send + Sync + 'static,
    ) -> Self {
        self.configure = Arc::new(configure);
        self
    }

    pub(super) fn ledger(&self) -> Result<Arc<FileDeliverableRepository>, Failure> {
        let ledger = FileDeliverableRepository::open(&self.project);
        ledger
            .map(Arc::new)
            .map_err(|error| Failure::from_error("project_unusable", &error, Retry::Permanent))
    }

    /// Returns the journal's record of a session. A session without a record in an ended run is a
    /// failure: it must not start.
    async fn known(&self, key: &SessionKey) -> Result<SessionRecord, Failure> {
        let key = key.clone();
        self.read_journal(move |journal| {
            let known = SessionRecord::from_journal(&key, journal);
            match known.result {
                None if journal.has_ended(&key.run) => {
                    let run = &key.run;
                    let why = format!("the run {run} has ended on this host; start another one");
                    Err(Failure::permanent("run_ended", why))
                }
                _ => Ok(known),
            }
        })
        .await?
    }

    /// Reads the journal, including the rotated ones.
    pub(super) async fn read_journal<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Journal) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let unavailable = |error: &(dyn std::error::Error + 'static), retry| {
            Failure::from_error("journal_unavailable", error, retry)
        };
        let project = self.project.clone();
        let reading =
            tokio::task::spawn_blocking(move || Journal::read_all(&project).map(|it| read(&it)));
        let read = reading
            .await
            .map_err(|error| unavailable(&error, Retry::Retryable))?;
        read.map_err(|error| unavailable(&error, Retry::Permanent))
    }

    /// Creates the outcome of a recorded result.
    async fn outcome(&self, key: &SessionKey, result: SessionReport, lost: u32) -> HostedOutcome {
        HostedOutcome::new(result, self.own_ledger(&key.run).await).lost(lost)
    }

    /// Returns the counts of the ledger of `run`, which has fenced off all earlier callers. Fencing
    /// creates a ledger, so a missing one is an error.
    async fn own_ledger(&self, run: &RunId) -> Result<LedgerView, Failure> {
        let found = self.checked_ledger(run).await?;
        found.ok_or_else(|| {
            let path = self.project.status_path();
            Failure::from(&missing_ledger(&path, "the run has started with one"))
        })
    }

    /// Returns the counts of the ledger; `None` if there was never one. Fails if `run` owns the
    /// ledger and something else changed it.
    ///
    /// It does not wait for the run lock. Each save is preceded by a line in the journal, so a
    /// mismatch is real only if the journal has not changed since.
    async fn checked_ledger(&self, run: &RunId) -> Result<Option<LedgerView>, Failure> {
        let mut recorded = self.recorded_ledger(run).await?;
        loop {
            let found = self.ledger()?.load().await;
            let found = found.map_err(|error| Failure::from(&error))?;
            let checked = recorded.check(&self.project, found);
            if checked.is_ok() {
                return checked;
            }
            let latest = self.recorded_ledger(run).await?;
            if latest == recorded {
                return checked;
            }
            recorded = latest;
        }
    }

    async fn recorded_ledger(&self, run: &RunId) -> Result<RecordedLedger, Failure> {
        let run = run.clone();
        self.read_journal(move |journal| RecordedLedger::from_journal(journal, &run))
            .await
    }

    /// Opens the project for a session; `None` while another session works there.
    async fn open_project(&self) -> Result<Option<OpenProject>, Failure> {
        let options = OpenProject::options(&self.project)
            .mode(self.mode)
            .sandbox(self.sandbox)
            .destructive(self.destructive)
            .config(self.config.clone())
            .clock(self.clock.clone());
        match options.open().await {
            Ok(open_project) => Ok(Some(open_project)),
            Err(ProjectRunError::Project(ProjectError::Locked(_))) => Ok(None),
            Err(error) => Err(Failure::from_error(
                "project_unusable",
                &error,
                Retry::Permanent,
            )),
        }
    }
}

#[async_trait]
impl SessionHost for ProjectSessionHost {
    async fn claim(&self, run: &RunId) -> Result<Epoch, SessionHostError> {
        let key = SessionKey::for_run(run);
        let failed = |failure| SessionHostError::Failed {
            key: key.clone(),
            failure,
        };
        let found = self.ledger().map_err(failed)?.load().await;
        let next = match found.map_err(|error| failed(Failure::from(&error)))? {
            Some(found) => found.next_epoch(),
            None => Ok(Epoch(1)),
        };
        next.map_err(|error| failed(Failure::from(&error)))
    }

    async fn ledger_view(&self, run: &RunId) -> Result<LedgerView, Failure> {
        let found = self.checked_ledger(run).await?;
        Ok(found.unwrap_or_default())
    }

    async fn attach_or_start(
        &self,
        key: &SessionKey,
        epoch: Epoch,
        session: HostedSession,
        on_heartbeat: &(dyn Fn(RunProgress) + Send + Sync),
        cancelled: CancellationToken,
    ) -> Result<HostedOutcome, SessionHostError> {
        let failed = |failure| SessionHostError::Failed {
            key: key.clone(),
            failure,
        };
        if session.mode != self.mode {
            return Err(failed(wrong_mode(session.mode, self.mode)));
        }
        let mut open_project = loop {
            // First, so that an overtaken caller cannot record anything after the record was
            // searched.
            self.fence(key, epoch).await?;
            let SessionRecord { result, lost } = self.known(key).await.map_err(failed)?;
            if let Some(result) = result {
                return Ok(self.outcome(key, result, lost).await);
            }
            if cancelled.is_cancelled() {
                return Err(SessionHostError::Cancelled(key.clone()));
            }
            if let Some(open_project) = self.open_project().await.map_err(failed)? {
                break open_project;
            }
            on_heartbeat(RunProgress::default());
            tokio::select! {
                () = cancelled.cancelled() => {}
                () = self.clock.sleep(POLL_INTERVAL) => {}
            }
        };
        // It may have been recorded between the check and the lock.
        let SessionRecord { result, lost } = self.known(key).await.map_err(failed)?;
        if let Some(result) = result {
            return Ok(self.outcome(key, result, lost).await);
        }
        self.own_ledger(&key.run).await.map_err(failed)?;
        let performing = HostedSessionRunner {
            host: self,
            key,
            epoch,
            on_heartbeat,
        };
        let result = open_project
            .run_with_agents(async |open_project| {
                performing.run(open_project, session, cancelled).await
            })
            .await;
        let outcome = self.outcome(key, result?, lost).await;
        // Held until here: no other run changes the ledger between the session and its outcome.
        drop(open_project);
        Ok(outcome)
    }

    async fn conclude(&self, epoch: Epoch, report: &RunReport) -> Result<(), SessionHostError> {
        let concluding = RunEndRecorder {
            host: self,
            epoch,
            report,
        };
        concluding.conclude().await
    }
}

impl fmt::Debug for ProjectSessionHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProjectSessionHost")
            .field("project", &self.project)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

fn wrong_mode(run: Mode, host: Mode) -> Failure {
    let message = format!("the run has mode {run}, and this session host has mode {host}");
    Failure {
        remedy: Some(format!("start the session host with mode {run}")),
        ..Failure::permanent("wrong_mode", message)
    }
}
