//! [`OpenProject`], a project directory that is opened for a run or a flow.

use std::sync::Arc;

use autonoe_security::Destructive;

use super::{
    AgentConfig, ConfigError, EffectiveConfig, FileDeliverableRepository, FileJournal, Journal,
    JournalReadError, Project, ProjectError, RunLock, SandboxSwitch,
};
use crate::agent::AgentClientFactory;
use crate::event::{Failure, Retry};
use crate::ledger::{DeliverableRepository, RepositoryError};
use crate::run::{BuildError, InstructionError, SessionRunner, SessionRunnerBuilder};
use crate::spec::SpecContext;
use crate::time::{Clock, Mode, SystemClock};

/// A project directory that is opened for a run or a flow: its lock, settings, ledger and journal.
///
/// [`ProjectRun`](super::ProjectRun) opens it itself; use this to create
/// [`Sessions`](crate::Sessions) in a project. `SPEC.md` is not needed.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::project::OpenProject;
/// use autonoe_core::run::FlowExit;
/// use autonoe_core::session::FlowStart;
/// use autonoe_core::{Project, RunControl, SessionOrder};
/// # use autonoe_testkit::{ScriptedBackend, SessionScript, VirtualClock};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?
/// #     .block_on(async {
/// # let dir = tempfile::tempdir()?;
/// # let agents = Arc::new(ScriptedBackend::new([SessionScript::new("tidy").says("Done.").ends()]));
/// let project = Project::find(dir.path(), None)?;
/// let project = OpenProject::options(&project)
/// #   .clock(VirtualClock::new())
///     .open()
///     .await?;
///
/// let interrupted = project.journal().interrupted_flow().filter(|flow| flow.start.flow == "tidy");
/// let builder = match &interrupted {
///     Some(_) => project.resume(agents)?,
///     None => project.start(agents)?,
/// };
/// let (sessions, control) = (builder.build_sessions()?, RunControl::new());
/// let mut open = match interrupted {
///     Some(recorded) => sessions.reopen(recorded, &control).await?,
///     None => sessions.open(FlowStart::new("tidy"), &control).await?,
/// };
/// open.run(SessionOrder::new("Tidy up.")).await;
/// open.close(FlowExit::Completed, json!({}));
/// // The lock is released when the project is dropped.
/// drop(project);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the lock is released when it is dropped"]
pub struct OpenProject {
    project: Project,
    config: EffectiveConfig,
    clock: Arc<dyn Clock>,
    lock: RunLock,
    journal: Journal,
    repository: Arc<FileDeliverableRepository>,
}

/// The options for opening a project; see [`OpenProject::options`].
///
/// [`ProjectRun`](super::ProjectRun), [`ProjectSessionHost`](super::ProjectSessionHost) and flows take
/// either these options or a [`Project`], which is opened with the defaults.
#[derive(Clone)]
#[must_use = "nothing is opened before `open`"]
pub struct OpenProjectOptions {
    pub(super) project: Project,
    pub(super) mode: Mode,
    sandbox: SandboxSwitch,
    destructive: Destructive,
    config: Option<AgentConfig>,
    pub(super) clock: Arc<dyn Clock>,
}

impl From<Project> for OpenProjectOptions {
    fn from(project: Project) -> Self {
        Self {
            project,
            mode: Mode::Run,
            sandbox: SandboxSwitch::default(),
            destructive: Destructive::Forbidden,
            config: None,
            clock: Arc::new(SystemClock),
        }
    }
}

impl OpenProjectOptions {
    /// Sets the mode of policy and grants; [`Mode::Run`] by default.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets whether the sandbox is on, and the source of that setting; it is on by default.
    pub fn sandbox(mut self, sandbox: SandboxSwitch) -> Self {
        self.sandbox = sandbox;
        self
    }

    /// Sets whether run mode allows `rm` and `mv` inside the project, `git clean` and `git push
    /// --force`; it does not by default.
    pub fn destructive(mut self, destructive: Destructive) -> Self {
        self.destructive = destructive;
        self
    }

    /// Sets the configuration that the caller has loaded; by default it is loaded when the project
    /// is opened.
    pub fn config(mut self, config: impl Into<Option<AgentConfig>>) -> Self {
        self.config = config.into();
        self
    }

    /// Sets the clock; the system clock by default.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Reads the settings, acquires the lock, and reads journal and ledger.
    ///
    /// # Errors
    ///
    /// Another run is running, a file of the project cannot be parsed, or the ledger is missing
    /// although the journal records deliverables. Nothing was changed except the lock files.
    pub async fn open(mut self) -> Result<OpenProject, ProjectRunError> {
        let (config, lock) = self.config_and_lock()?;
        let project = self.project;
        let journal = Journal::read(&project.journal_path())?;
        let repository =
            FileDeliverableRepository::open(&project)?.owned_by_run(&lock, &project)?;
        // Checked before anything is recorded: a run that cannot start leaves no trace.
        let ledger = repository.load().await?;
        if ledger.is_none() {
            project.check_journal_has_no_deliverables()?;
        }
        repository.check_takeover(ledger.as_ref())?;
        Ok(OpenProject {
            project,
            config,
            clock: self.clock,
            lock,
            journal,
            repository: Arc::new(repository),
        })
    }

    /// Acquires the run lock and returns it with a builder for single sessions of `agents` that use
    /// neither the ledger nor the journal.
    ///
    /// Lock, guards, policy, hooks and settings are those of a run. An interrupted run or flow of
    /// the project can still be resumed afterwards. Dropping the lock releases it.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use autonoe_core::project::OpenProject;
    /// use autonoe_core::run::FlowExit;
    /// use autonoe_core::session::FlowStart;
    /// use autonoe_core::{Project, RunControl, SessionOrder};
    /// # use autonoe_testkit::{ScriptedBackend, SessionScript, VirtualClock};
    /// use serde_json::json;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?
    /// #     .block_on(async {
    /// # let dir = tempfile::tempdir()?;
    /// # let agents = Arc::new(ScriptedBackend::new([SessionScript::new("why").says("A typo.").ends()]));
    /// let project = Project::find(dir.path(), None)?;
    /// let (lock, builder) = OpenProject::options(&project)
    /// #   .clock(VirtualClock::new())
    ///     .sessions(agents)?;
    ///
    /// let sessions = builder.build_sessions()?;
    /// let mut open = sessions.open(FlowStart::new("ask"), &RunControl::new()).await?;
    /// let performed = open.run(SessionOrder::new("Why does the build fail?")).await;
    /// open.close(FlowExit::Completed, json!({}));
    /// drop(lock);
    ///
    /// assert_eq!(performed.answer, "A typo.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Another run holds the lock, the configuration is invalid, or a hook of the configuration
    /// cannot be built.
    pub fn sessions(
        mut self,
        agents: impl AgentClientFactory + 'static,
    ) -> Result<(RunLock, SessionRunnerBuilder), ProjectRunError> {
        let (config, lock) = self.config_and_lock()?;
        let builder = session_builder(&self.project, config, self.clock, &lock, agents)?;
        Ok((lock, builder))
    }

    fn config_and_lock(&mut self) -> Result<(EffectiveConfig, RunLock), ProjectRunError> {
        let config = match self.config.take() {
            None => AgentConfig::load(self.project.config_path())?,
            loaded => loaded,
        };
        let config =
            EffectiveConfig::merge(config, self.mode, self.sandbox)?.destructive(self.destructive);
        for warning in config.warnings() {
            tracing::info!("{warning}");
        }
        let lock = RunLock::acquire(&self.project, self.clock.now())?;
        Ok((config, lock))
    }
}

/// Creates a builder with the agents, lock, clock and settings of a project.
fn session_builder(
    project: &Project,
    config: EffectiveConfig,
    clock: Arc<dyn Clock>,
    lock: &RunLock,
    agents: impl AgentClientFactory + 'static,
) -> Result<SessionRunnerBuilder, ProjectRunError> {
    let project_paths = project.paths();
    let mut builder = SessionRunner::builder(&project_paths.project)
        .agents(agents)
        .clock(clock)
        .lock(lock.descriptor());
    if let Some(link) = &project_paths.project_link {
        builder = builder.project_link(link);
    }
    let context = SpecContext::new(project_paths);
    Ok(config.apply(builder, &context)?)
}

impl OpenProject {
    /// Creates the options for opening `project`; [`open`](OpenProjectOptions::open) opens it.
    pub fn options(project: &Project) -> OpenProjectOptions {
        project.clone().into()
    }

    /// Returns the project.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Returns the clock.
    pub fn clock(&self) -> Arc<dyn Clock> {
        self.clock.clone()
    }

    /// Returns the settings, each with its source.
    pub fn config(&self) -> &EffectiveConfig {
        &self.config
    }

    /// Returns the journal as of the opening of the project, which may contain an interrupted run
    /// or flow.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Starts a run or a flow: a large journal is rotated.
    ///
    /// The builder has the agents, ledger, journal, lock, clock and all settings of the project.
    ///
    /// # Errors
    ///
    /// A hook of the settings cannot be built, or the journal cannot be written.
    pub fn start(
        &self,
        agents: impl AgentClientFactory + 'static,
    ) -> Result<SessionRunnerBuilder, ProjectRunError> {
        let builder = self.builder(agents)?;
        let journal = FileJournal::open_for_new_run(&self.project)?;
        Ok(builder.journal(Arc::new(journal)))
    }

    /// Resumes an interrupted run or flow in its journal.
    ///
    /// # Errors
    ///
    /// As for [`start`](Self::start).
    pub fn resume(
        &self,
        agents: impl AgentClientFactory + 'static,
    ) -> Result<SessionRunnerBuilder, ProjectRunError> {
        let builder = self.builder(agents)?;
        let journal = FileJournal::open(&self.project)?;
        Ok(builder.journal(Arc::new(journal)))
    }

    /// Waits for work with agents. If the future is dropped, the agents' processes keep the lock:
    /// they are being ended in the background, and no other run may start before they are gone.
    pub(super) async fn run_with_agents<T>(&mut self, work: impl AsyncFnOnce(&Self) -> T) -> T {
        self.lock.leave_to_agents();
        let done = work(self).await;
        self.lock.release_on_drop();
        done
    }

    pub(super) fn builder(
        &self,
        agents: impl AgentClientFactory + 'static,
    ) -> Result<SessionRunnerBuilder, ProjectRunError> {
        let project = self.project.clone();
        let read_ledger_history = move || {
            Journal::read_ledger_history(&project).map_err(|error| {
                Failure::from_error("journal_unavailable", &error, Retry::Permanent)
            })
        };
        let (config, clock) = (self.config.clone(), self.clock.clone());
        let builder = session_builder(&self.project, config, clock, &self.lock, agents)?;
        Ok(builder
            .repository(self.repository.clone())
            .ledger_history(Arc::new(read_ledger_history)))
    }
}

impl std::fmt::Debug for OpenProject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenProject")
            .field("project", &self.project)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for OpenProjectOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenProjectOptions")
            .field("project", &self.project)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

/// The reason why a run in a project could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectRunError {
    /// An error of the directory, or another run in it.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// An error in the settings.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An error of reading the journal.
    #[error(transparent)]
    Journal(#[from] JournalReadError),
    /// An error of the ledger.
    #[error(transparent)]
    Ledger(#[from] RepositoryError),
    /// The text of an instruction is not available.
    #[error(transparent)]
    Instruction(#[from] InstructionError),
    /// The runner could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
}
