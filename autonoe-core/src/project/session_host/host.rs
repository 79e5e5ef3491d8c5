//! [`ProjectSessionHost`], the session host of a project directory.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::run_end::RunEndRecorder;
use super::session_runner::HostedSessionRunner;
use super::unusable;
use crate::agent::{AgentClientFactory, SessionReport};
use crate::engine::{HostedOutcome, HostedSession, RunProgress, SessionHost, SessionHostError};
use crate::event::{Failure, Retry};
use crate::ledger::{
    DeliverableRepository, LedgerView, RepositoryError, RepositoryErrorKind, Snapshot,
};
use crate::project::missing_ledger::missing_ledger;
use crate::project::{
    FileDeliverableRepository, Journal, OpenProject, OpenProjectOptions, Project, ProjectError,
    ProjectRunError,
};
use crate::run::{JournalLine, LedgerHistory, RunReport, SessionRunnerBuilder};
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
/// # use autonoe_core::project::OpenProject;
/// # let project = OpenProject::options(&project).clock(VirtualClock::new());
/// let host = ProjectSessionHost::new(project, agents);
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
    pub(super) options: OpenProjectOptions,
    pub(super) agents: Arc<dyn AgentClientFactory>,
    pub(super) configure: Arc<Configure>,
}

type Configure = dyn Fn(SessionRunnerBuilder) -> SessionRunnerBuilder + Send + Sync;

impl ProjectSessionHost {
    /// Creates a host that runs sessions of `agents` in a project. Pass a [`Project`], or
    /// [`OpenProject::options`] with the mode, the configuration or the clock of the runs.
    ///
    /// A session of a run in another mode is refused. A configuration that is not passed is loaded
    /// for each session.
    pub fn new(
        project: impl Into<OpenProjectOptions>,
        agents: impl AgentClientFactory + 'static,
    ) -> Self {
        Self {
            options: project.into(),
            agents: Arc::new(agents),
            configure: Arc::new(|builder| builder),
        }
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
        let ledger = FileDeliverableRepository::open(&self.options.project);
        ledger.map(Arc::new).map_err(|error| unusable(&error))
    }

    /// Returns the journal's record of a session. A session without a record in an ended run is a
    /// failure: it must not start.
    async fn session_record(&self, key: &SessionKey) -> Result<SessionRecord, Failure> {
        let key = key.clone();
        self.read_journal(move |journal| {
            let known = SessionRecord::from_journal(&key, journal);
            match known.result {
                None if journal.has_ended(&key.run) => {
                    let run = &key.run;
                    let message =
                        format!("the run {run} has ended on this host; start another one");
                    Err(Failure::permanent("run_ended", message))
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
        let project = self.options.project.clone();
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
            let path = self.options.project.status_path();
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
            let checked = recorded.check(&self.options.project, found);
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
        match self.options.clone().open().await {
            Ok(open_project) => Ok(Some(open_project)),
            Err(ProjectRunError::Project(ProjectError::Locked(_))) => Ok(None),
            Err(error) => Err(unusable(&error)),
        }
    }
}

#[async_trait]
impl SessionHost for ProjectSessionHost {
    async fn claim(&self, run: &RunId) -> Result<Epoch, SessionHostError> {
        let key = SessionKey::for_run(run);
        let failed = SessionHostError::failed(&key);
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
        let failed = SessionHostError::failed(key);
        if session.mode != self.options.mode {
            return Err(failed(wrong_mode(session.mode, self.options.mode)));
        }
        let mut open_project = loop {
            // First, so that an overtaken caller cannot record anything after the record was
            // searched.
            self.fence(key, epoch).await?;
            let SessionRecord { result, lost } = self.session_record(key).await.map_err(failed)?;
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
                () = self.options.clock.sleep(POLL_INTERVAL) => {}
            }
        };
        // It may have been recorded between the check and the lock.
        let SessionRecord { result, lost } = self.session_record(key).await.map_err(failed)?;
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
            .field("options", &self.options)
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

/// The record of one session in a journal.
struct SessionRecord {
    /// The result, if it is recorded.
    result: Option<SessionReport>,
    /// The number of starts without a recorded result.
    lost: u32,
}

impl SessionRecord {
    fn from_journal(key: &SessionKey, journal: &Journal) -> Self {
        let result = journal.session_result(key).cloned();
        let run_entries = journal
            .entries()
            .iter()
            .filter(|entry| entry.run == key.run);
        let starts = run_entries.filter(|entry| {
            let JournalLine::SessionStarted { number, .. } = &entry.line else {
                return false;
            };
            *number == key.number
        });
        let starts = u32::try_from(starts.count()).unwrap_or(u32::MAX);
        let lost = starts.saturating_sub(u32::from(result.is_some()));
        Self { result, lost }
    }
}

/// The journal's records of the ledger of a hosted run.
///
/// Between two sessions no process holds the run lock or keeps the ledger in memory. The journal has
/// only its hash, so a ledger that something else changed cannot be restored: it is an error.
#[derive(Debug, PartialEq, Eq)]
struct RecordedLedger {
    history: LedgerHistory,
    /// A clause that names the recorded deliverables.
    deliverables: Option<String>,
    /// Whether the ledger belongs to the run: from its first recorded session to its end.
    is_owned: bool,
}

impl RecordedLedger {
    /// Collects the records of `run` from `journal`.
    fn from_journal(journal: &Journal, run: &RunId) -> Self {
        let has_session = journal.entries().iter().any(|entry| {
            entry.run == *run && matches!(entry.line, JournalLine::SessionEnded { .. })
        });
        Self {
            history: journal.ledger_history(),
            deliverables: journal.recorded_deliverables(),
            is_owned: has_session && !journal.has_ended(run),
        }
    }

    /// Returns the counts of `found`, the ledger of `project`; `None` if there was never one.
    ///
    /// # Errors
    ///
    /// The ledger is missing although deliverables are recorded, or something other than the run
    /// changed it.
    fn check(
        &self,
        project: &Project,
        found: Option<Snapshot>,
    ) -> Result<Option<LedgerView>, Failure> {
        let error = match (found, &self.deliverables) {
            (Some(found), _) if !self.is_owned || self.history.matches(&found.state.ledger) => {
                return Ok(Some(found.state.view()));
            }
            (Some(_), _) => foreign_change(project),
            (None, Some(recorded)) => missing_ledger(&project.status_path(), recorded),
            (None, None) => return Ok(None),
        };
        Err(Failure::from(&error))
    }
}

fn foreign_change(project: &Project) -> RepositoryError {
    let message = format!(
        "something other than the run changed {} between two sessions of the run; the change \
         was kept. Put the last ledger of the run back, or end this run and start another one, \
         which accepts the changed ledger",
        project.status_path().display()
    );
    RepositoryError::new(RepositoryErrorKind::ForeignChange, message)
}
