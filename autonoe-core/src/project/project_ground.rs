//! What a run or a flow in a project directory stands on.

use std::sync::Arc;

use autonoe_security::Destructive;

use super::{
    AgentConfig, EffectiveConfig, FileDeliverableRepository, FileJournal, Journal, Project,
    ProjectRunError, RunLock, SandboxSwitch,
};
use crate::domain::{Failure, Mode, Retry};
use crate::port::{AgentClientFactory, Clock, DeliverableRepository, SpecContext, SystemClock};
use crate::run::{SessionRunner, SessionRunnerBuilder};

/// Takes a project directory for a run or a flow: its lock, settings, ledger and journal.
///
/// [`ProjectRun`](super::ProjectRun) does it by itself; this is for who makes
/// [`Sessions`](crate::Sessions) in a project. `SPEC.md` is not needed.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::{FlowExit, FlowStart, Project, ProjectGround, RunControl, SessionOrder};
/// # use autonoe_testkit::{ScriptedAgents, SessionScript, VirtualClock};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?
/// #     .block_on(async {
/// # let dir = tempfile::tempdir()?;
/// # let agents = Arc::new(ScriptedAgents::new([SessionScript::new("tidy").says("Done.").ends()]));
/// let project = Project::find(dir.path(), None)?;
/// let ground = ProjectGround::of(&project)
/// #   .clock(VirtualClock::new())
///     .take()
///     .await?;
///
/// let broke_off = ground.journal().broken_off_flow().filter(|flow| flow.start.flow == "tidy");
/// let builder = match &broke_off {
///     Some(_) => ground.go_on(agents)?,
///     None => ground.begin(agents)?,
/// };
/// let (sessions, control) = (builder.build_sessions()?, RunControl::new());
/// let mut open = match broke_off {
///     Some(recorded) => sessions.reopen(recorded, &control).await?,
///     None => sessions.open(FlowStart::new("tidy"), &control).await?,
/// };
/// open.run(SessionOrder::new("Tidy up.")).await;
/// open.close(FlowExit::Completed, json!({}));
/// // The lock is released when the ground is dropped.
/// drop(ground);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the lock is released when it is dropped"]
pub struct ProjectGround {
    project: Project,
    config: EffectiveConfig,
    clock: Arc<dyn Clock>,
    lock: RunLock,
    journal: Journal,
    repository: Arc<FileDeliverableRepository>,
}

/// What a project is taken for; see [`ProjectGround::of`].
#[must_use = "nothing is taken before `take`"]
pub struct ProjectTaking {
    project: Project,
    mode: Mode,
    sandbox: SandboxSwitch,
    destructive: Destructive,
    clock: Arc<dyn Clock>,
}

impl ProjectTaking {
    /// Sets the mode of policy and grants; [`Mode::Run`] by default.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets whether the sandbox is on, and who said so; it is by default.
    pub fn sandbox(mut self, sandbox: SandboxSwitch) -> Self {
        self.sandbox = sandbox;
        self
    }

    /// Sets whether run mode allows `rm` and `mv` inside the project, `git clean` and
    /// `git push --force`; it does not by default.
    pub fn destructive(mut self, destructive: Destructive) -> Self {
        self.destructive = destructive;
        self
    }

    /// Sets the clock; the machine's by default.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Reads the settings, takes the lock, and reads journal and ledger.
    ///
    /// # Errors
    ///
    /// Another run is under way, a file of the project cannot be understood, or the ledger is missing
    /// although the journal records deliverables. Nothing was changed but the files of the locks.
    pub async fn take(self) -> Result<ProjectGround, ProjectRunError> {
        let (config, lock) = self.config_and_lock()?;
        let project = self.project;
        let journal = Journal::read(&project.journal_path())?;
        let repository =
            FileDeliverableRepository::open(&project)?.owned_by_run(&lock, &project)?;
        // Looked at before anything is written down: a run that cannot start leaves no trace.
        let ledger = repository.load().await?;
        if ledger.is_none() {
            project.check_journal_has_no_deliverables()?;
        }
        repository.check_takeover(ledger.as_ref())?;
        Ok(ProjectGround {
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
    /// use autonoe_core::{FlowExit, FlowStart, Project, ProjectGround, RunControl, SessionOrder};
    /// # use autonoe_testkit::{ScriptedAgents, SessionScript, VirtualClock};
    /// use serde_json::json;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?
    /// #     .block_on(async {
    /// # let dir = tempfile::tempdir()?;
    /// # let agents = Arc::new(ScriptedAgents::new([SessionScript::new("why").says("A typo.").ends()]));
    /// let project = Project::find(dir.path(), None)?;
    /// let (lock, builder) = ProjectGround::of(&project)
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
        self,
        agents: impl AgentClientFactory + 'static,
    ) -> Result<(RunLock, SessionRunnerBuilder), ProjectRunError> {
        let (config, lock) = self.config_and_lock()?;
        let builder = session_builder(&self.project, config, self.clock, &lock, agents)?;
        Ok((lock, builder))
    }

    fn config_and_lock(&self) -> Result<(EffectiveConfig, RunLock), ProjectRunError> {
        let config = AgentConfig::load(self.project.config_path())?;
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

impl ProjectGround {
    /// Says what `project` is to be taken for; [`take`](ProjectTaking::take) does it.
    pub fn of(project: &Project) -> ProjectTaking {
        ProjectTaking {
            project: project.clone(),
            mode: Mode::Run,
            sandbox: SandboxSwitch::default(),
            destructive: Destructive::Forbidden,
            clock: Arc::new(SystemClock),
        }
    }

    /// Returns the project.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Returns the settings, each with where it comes from.
    pub fn config(&self) -> &EffectiveConfig {
        &self.config
    }

    /// Returns the journal as it was when the project was taken, with an interrupted run or flow.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Begins a run or a flow: a journal that has grown large is put aside.
    ///
    /// The builder has the agents, ledger, journal, lock, clock and all settings of the project.
    ///
    /// # Errors
    ///
    /// A hook of the settings cannot be built, or the journal cannot be written.
    pub fn begin(
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
    /// As for [`begin`](Self::begin).
    pub fn go_on(
        &self,
        agents: impl AgentClientFactory + 'static,
    ) -> Result<SessionRunnerBuilder, ProjectRunError> {
        let builder = self.builder(agents)?;
        let journal = FileJournal::open(&self.project)?;
        Ok(builder.journal(Arc::new(journal)))
    }

    /// Waits for work with agents. Who drops that leaves them the lock: they are ended without
    /// anybody who waits for it, and nobody else is to begin before they are gone.
    pub(super) async fn while_agents_work<T>(&mut self, work: impl AsyncFnOnce(&Self) -> T) -> T {
        self.lock.leave_to_agents();
        let done = work(self).await;
        self.lock.free_when_dropped();
        done
    }

    pub(super) fn builder(
        &self,
        agents: impl AgentClientFactory + 'static,
    ) -> Result<SessionRunnerBuilder, ProjectRunError> {
        let project = self.project.clone();
        let read_ledger_history = move || {
            Journal::read_ledger_history(&project)
                .map_err(|error| Failure::from_error("journal_unavailable", &error, Retry::Useless))
        };
        let (config, clock) = (self.config.clone(), self.clock.clone());
        let builder = session_builder(&self.project, config, clock, &self.lock, agents)?;
        Ok(builder
            .repository(self.repository.clone())
            .ledger_history(Arc::new(read_ledger_history)))
    }
}

impl std::fmt::Debug for ProjectGround {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProjectGround")
            .field("project", &self.project)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for ProjectTaking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProjectTaking")
            .field("project", &self.project)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}
