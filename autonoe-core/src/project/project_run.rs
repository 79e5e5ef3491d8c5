//! [`ProjectRun`], a run in a project directory from its files to its report.

use std::sync::Arc;

use super::{OpenProject, OpenProjectOptions, ProjectInstructions, ProjectRunError, Specification};
use crate::agent::AgentClientFactory;
use crate::run::{LimitOverrides, RunControl, RunReport, SessionRunnerBuilder};

/// A run in a project directory: acquires its lock, reads its settings, resumes an interrupted run.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::{Project, ProjectRun, RunControl};
/// # use autonoe_core::agent::AgentErrorKind;
/// # use autonoe_core::{AgentClient, AgentClientFactory, AgentError, Capabilities, SessionSpec};
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
    options: OpenProjectOptions,
    agents: Arc<dyn AgentClientFactory>,
    specification: Option<Specification>,
    limits: LimitOverrides,
    on_open: Vec<OnOpen>,
    configure: Vec<Configure>,
}

type OnOpen = Box<dyn FnOnce(&OpenProject) + Send>;
type Configure = Box<dyn FnOnce(SessionRunnerBuilder) -> SessionRunnerBuilder + Send>;

impl ProjectRun {
    /// Prepares a run of `agents` in a project. Pass a [`Project`](super::Project), or
    /// [`OpenProject::options`] with the mode, the configuration or the clock of the run.
    pub fn new(
        project: impl Into<OpenProjectOptions>,
        agents: impl AgentClientFactory + 'static,
    ) -> Self {
        Self {
            options: project.into(),
            agents: Arc::new(agents),
            specification: None,
            limits: LimitOverrides::default(),
            on_open: Vec::new(),
            configure: Vec::new(),
        }
    }

    /// Sets the specification that the caller has checked; by default [`run`](Self::run) checks it.
    #[must_use]
    pub fn specification(mut self, checked: Specification) -> Self {
        self.specification = Some(checked);
        self
    }

    /// Sets the limit overrides of this start: a new run starts with them, and an interrupted one
    /// is resumed with them. Other limits stay as in its first start.
    ///
    /// Limits that are set by [`configure`](Self::configure) apply to new runs only.
    #[must_use]
    pub fn limits(mut self, limits: LimitOverrides) -> Self {
        self.limits = limits;
        self
    }

    /// Adds a function that is called after the project was opened and before the run starts, for
    /// example to print whether an interrupted run is resumed.
    #[must_use]
    pub fn on_open(mut self, on_open: impl FnOnce(&OpenProject) + Send + 'static) -> Self {
        self.on_open.push(Box::new(on_open));
        self
    }

    /// Adds a function that configures the runner further, after the files of the project were
    /// read.
    #[must_use]
    pub fn configure(
        mut self,
        configure: impl FnOnce(SessionRunnerBuilder) -> SessionRunnerBuilder + Send + 'static,
    ) -> Self {
        self.configure.push(Box::new(configure));
        self
    }

    /// Runs to the end, or resumes the interrupted run of the project, and returns the report.
    ///
    /// An interrupted run is resumed if it has the same mode. Otherwise a new run starts.
    ///
    /// # Errors
    ///
    /// The run could not start: another one is running, `SPEC.md` is missing or blank, or a file of
    /// the project cannot be parsed. Nothing was changed except the lock files.
    pub async fn run(self, control: &RunControl) -> Result<RunReport, ProjectRunError> {
        if self.specification.is_none() {
            self.options.project.specification()?;
        }
        let mode = self.options.mode;
        let open_project = self.options.open().await?;
        for on_open in self.on_open {
            on_open(&open_project);
        }
        let interrupted = open_project
            .journal()
            .interrupted_run()
            .filter(|recorded| recorded.mode() == mode)
            .map(|recorded| recorded.with_limits(self.limits.clone()));
        let builder = match interrupted {
            Some(_) => open_project.resume(self.agents)?,
            None => open_project.start(self.agents)?,
        };
        let instructions = ProjectInstructions::new(open_project.project().state_dir());
        let builder = builder.instructions(Arc::new(instructions));
        let builder = self
            .configure
            .into_iter()
            .fold(builder, |builder, configure| configure(builder))
            .limits(&self.limits);
        let runner = builder.build()?;
        Ok(match interrupted {
            Some(recorded) => runner.resume(recorded, control).await,
            None => runner.run(control).await,
        })
    }
}

impl std::fmt::Debug for ProjectRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProjectRun")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
