//! A run in a project directory, from its files to its report.

use std::sync::Arc;

use autonoe_security::Destructive;

use super::{
    ConfigError, JournalReadError, Project, ProjectError, ProjectGround, ProjectInstructions,
    SandboxSwitch,
};
use crate::domain::{Mode, RunReport};
use crate::port::{AgentClientFactory, Clock, InstructionError, RepositoryError, SystemClock};
use crate::run::{BuildError, GivenLimits, RunControl, SessionRunnerBuilder};

/// A run in a project directory: takes its lock, reads its settings, resumes an interrupted run.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::{Project, ProjectRun, RunControl};
/// # use autonoe_core::{AgentClient, AgentClientFactory, AgentError, AgentErrorKind, Capabilities, SessionSpec};
/// # struct NotInstalled;
/// # #[async_trait::async_trait]
/// # impl AgentClientFactory for NotInstalled {
/// #     async fn probe(&self) -> Result<Capabilities, AgentError> {
/// #         Err(AgentError::new(AgentErrorKind::NotAvailable, "there is no agent here"))
/// #     }
/// #     fn create(&self, _: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
/// #         Err(AgentError::new(AgentErrorKind::NotAvailable, "there is no agent here"))
/// #     }
/// # }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// # let dir = tempfile::tempdir()?;
/// # std::fs::write(dir.path().join("SPEC.md"), "# Shop")?;
/// # let (working_dir, agents) = (dir.path(), Arc::new(NotInstalled));
/// let project = Project::find(working_dir, None)?;
///
/// let report = ProjectRun::new(project, agents)
///     .configure(|runner| runner.max_iterations(10))
///     .run(&RunControl::new())
///     .await?;
///
/// println!("{report}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ProjectRun {
    project: Project,
    agents: Arc<dyn AgentClientFactory>,
    mode: Mode,
    sandbox: SandboxSwitch,
    destructive: Destructive,
    clock: Arc<dyn Clock>,
    limits: GivenLimits,
    configure: Vec<Configure>,
}

type Configure = Box<dyn FnOnce(SessionRunnerBuilder) -> SessionRunnerBuilder + Send>;

impl ProjectRun {
    /// Prepares a run of `agents` in `project`.
    pub fn new(project: Project, agents: impl AgentClientFactory + 'static) -> Self {
        Self {
            project,
            agents: Arc::new(agents),
            mode: Mode::Run,
            sandbox: SandboxSwitch::default(),
            destructive: Destructive::Forbidden,
            clock: Arc::new(SystemClock),
            limits: GivenLimits::default(),
            configure: Vec::new(),
        }
    }

    /// Sets what the run is for; [`Mode::Run`] by default.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets whether the sandbox is on, and who said so; it is by default.
    #[must_use]
    pub fn sandbox(mut self, sandbox: SandboxSwitch) -> Self {
        self.sandbox = sandbox;
        self
    }

    /// Sets whether run mode allows `rm` and `mv` inside the project, `git clean` and
    /// `git push --force`; it does not by default.
    #[must_use]
    pub fn destructive(mut self, destructive: Destructive) -> Self {
        self.destructive = destructive;
        self
    }

    /// Sets the clock; the machine's by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Sets the limits that are given for this start: a new run starts with them, and an
    /// interrupted one is resumed with them. Other limits stay as in its first start.
    ///
    /// Limits that are set by [`configure`](Self::configure) are for new runs alone.
    #[must_use]
    pub fn limits(mut self, given: GivenLimits) -> Self {
        self.limits = given;
        self
    }

    /// Sets anything else of the runner, after the files of the project were read.
    #[must_use]
    pub fn configure(
        mut self,
        configure: impl FnOnce(SessionRunnerBuilder) -> SessionRunnerBuilder + Send + 'static,
    ) -> Self {
        self.configure.push(Box::new(configure));
        self
    }

    /// Runs to the end, or resumes the interrupted run of the project, and reports.
    ///
    /// An interrupted run is resumed if it has the same mode. Otherwise a new run starts.
    ///
    /// # Errors
    ///
    /// The run could not start: another one is under way, `SPEC.md` is missing or blank,
    /// or a file of the project cannot be understood. Nothing was changed but the
    /// files of the locks.
    pub async fn run(self, control: &RunControl) -> Result<RunReport, ProjectRunError> {
        self.project.specification()?;
        let ground = ProjectGround::of(&self.project)
            .mode(self.mode)
            .sandbox(self.sandbox)
            .destructive(self.destructive)
            .clock(self.clock)
            .take()
            .await?;
        let broke_off = ground
            .journal()
            .broken_off()
            .filter(|recorded| recorded.mode() == self.mode)
            .map(|recorded| recorded.with_limits(self.limits.clone()));
        let builder = match broke_off {
            Some(_) => ground.go_on(self.agents)?,
            None => ground.begin(self.agents)?,
        };
        let instructions = ProjectInstructions::new(self.project.state_dir());
        let builder = builder.instructions(Arc::new(instructions));
        let builder = self
            .configure
            .into_iter()
            .fold(builder, |builder, configure| configure(builder))
            .limits(&self.limits);
        let runner = builder.build()?;
        Ok(match broke_off {
            Some(recorded) => runner.resume(recorded, control).await,
            None => runner.run(control).await,
        })
    }
}

impl std::fmt::Debug for ProjectRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProjectRun")
            .field("project", &self.project)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

/// Why a run in a project could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectRunError {
    /// The directory, or another run in it.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The settings.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalReadError),
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] RepositoryError),
    /// The text of an instruction.
    #[error(transparent)]
    Instruction(#[from] InstructionError),
    /// The parts.
    #[error(transparent)]
    Build(#[from] BuildError),
}
