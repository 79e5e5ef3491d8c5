//! [`FlowRun`]: a flow in a project directory, from its files to its result.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use autonoe_core::project::{OpenProjectOptions, ProjectRunError, remove_folder};
use autonoe_core::run::{BuildError, SessionRunnerBuilder};
use autonoe_core::{AgentClientFactory, Mode, RunControl};

use super::factory::{FlowFactory, FlowOptions, StartOptions};
use crate::error::FlowError;
use crate::machine::FlowResult;
use crate::parameters::ParameterValues;
use crate::validate::ValidatedFlow;

/// A flow in a project directory. It acquires the project's lock, reads its settings, and resumes
/// an interrupted flow.
///
/// `SPEC.md` is not required. A flow that was killed or has
/// [stopped](crate::machine::FlowEnd::Stopped) resumes at its step, with its visits, retries and
/// costs, if it is started again with the same definition and the same parameters. Prompts may be
/// fixed in between.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::{Project, RunControl};
/// use autonoe_flow::{FlowRun, load};
/// # use autonoe_testkit::{ScriptedBackend, SessionScript, VirtualClock};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?
/// #     .block_on(async {
/// # let dir = tempfile::tempdir()?;
/// # let folder = dir.path().join(".autonoe/flows/hello");
/// # std::fs::create_dir_all(folder.join("prompts"))?;
/// # std::fs::write(folder.join("prompts/greet.md"), "Say hello.")?;
/// # std::fs::write(folder.join("agent.json"),
/// #     r#"{"version": "1", "name": "hello", "behavior": {"completionType": "stepMachine"}}"#)?;
/// # std::fs::write(folder.join("steps_registry.json"),
/// #     r#"{"entryStep": "greet", "steps": {"greet": {"prompt": "prompts/greet.md", "transition": {"next": "end"}}}}"#)?;
/// # let agents = Arc::new(ScriptedBackend::new([SessionScript::new("greet").says("Hello!").ends()]));
/// let project = Project::find(dir.path(), None)?;
/// let flow = load(&dir.path().join(".autonoe/flows/hello"))?.validated()?;
///
/// # let project = autonoe_core::project::OpenProject::options(&project).clock(VirtualClock::new());
/// let result = FlowRun::new(project, flow, agents)
///     .run(&RunControl::new())
///     .await?;
///
/// assert!(result.is_success());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FlowRun {
    project: OpenProjectOptions,
    flow: ValidatedFlow,
    agents: Arc<dyn AgentClientFactory>,
    parameters: ParameterValues,
    on_interrupted: OnInterrupted,
    configure: Vec<Configure>,
    set_options: Vec<SetOption>,
}

type Configure = Box<dyn FnOnce(SessionRunnerBuilder) -> SessionRunnerBuilder + Send>;
type SetOption = Box<dyn FnOnce(FlowOptions) -> FlowOptions + Send>;

/// The treatment of the project's last run, if it is this flow and has stopped or was interrupted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnInterrupted {
    /// Resume it. A different definition or different parameters are an error.
    #[default]
    Resume,
    /// Discard it, and start a new flow.
    StartNew,
}

impl FlowRun {
    /// Creates a run of `flow` with `agents` in a project. Pass a [`Project`](autonoe_core::Project), or
    /// [`OpenProject::options`](autonoe_core::project::OpenProject::options) with the configuration or
    /// the clock of the flow. The mode is always [`Mode::Run`].
    pub fn new(
        project: impl Into<OpenProjectOptions>,
        flow: ValidatedFlow,
        agents: impl AgentClientFactory + 'static,
    ) -> Self {
        Self {
            project: project.into().mode(Mode::Run),
            flow,
            agents: Arc::new(agents),
            parameters: ParameterValues::default(),
            on_interrupted: OnInterrupted::default(),
            configure: Vec::new(),
            set_options: Vec::new(),
        }
    }

    /// Sets the values of the parameters.
    #[must_use]
    pub fn parameters(mut self, parameters: ParameterValues) -> Self {
        self.parameters = parameters;
        self
    }

    /// Sets the treatment of an interrupted run of the flow. By default it is resumed.
    #[must_use]
    pub fn on_interrupted(mut self, on_interrupted: OnInterrupted) -> Self {
        self.on_interrupted = on_interrupted;
        self
    }

    /// Sets options of the flow: limits, commands, states, notifiers, observers.
    #[must_use]
    pub fn options(
        mut self,
        set: impl FnOnce(FlowOptions) -> FlowOptions + Send + 'static,
    ) -> Self {
        self.set_options.push(Box::new(set));
        self
    }

    /// Configures the sessions: observers, hooks, models, limits of a session.
    #[must_use]
    pub fn configure(
        mut self,
        configure: impl FnOnce(SessionRunnerBuilder) -> SessionRunnerBuilder + Send + 'static,
    ) -> Self {
        self.configure.push(Box::new(configure));
        self
    }

    /// Runs the flow until it ends or stops.
    ///
    /// # Errors
    ///
    /// The flow could not start: another run is in progress, a file of the project is invalid, a
    /// dependency of the definition is missing, or the interrupted flow is not the one to resume.
    pub async fn run(self, control: &RunControl) -> Result<FlowResult, FlowRunError> {
        let open_project = self.project.open().await?;
        let project = open_project.project();
        let name = &self.flow.definition().agent().name;
        let recorded = match self.on_interrupted {
            OnInterrupted::Resume => open_project.journal().interrupted_flow(),
            OnInterrupted::StartNew => None,
        };
        let recorded = recorded.filter(|recorded| recorded.start.flow == name.as_str());
        let builder = match &recorded {
            Some(_) => open_project.resume(self.agents)?,
            None => open_project.start(self.agents)?,
        };
        let conversations = project.conversations_dir().join("flow");
        let builder = builder.conversations(&conversations);
        let configure = self.configure.into_iter();
        let builder = configure.fold(builder, |builder, configure| configure(builder));
        let sessions = builder.build_sessions()?;
        let options = FlowOptions::new(sessions, project.root()).clock(open_project.clock());
        let set_options = self.set_options.into_iter();
        let options = set_options.fold(options, |options, set| set(options));
        let created = FlowFactory::build(self.flow, options)?;
        let is_new = recorded.is_none();
        let start = StartOptions {
            parameters: self.parameters,
            control: control.clone(),
            recorded,
        };
        let mut started = created.start(start).await?;
        if is_new {
            // The conversations of an interrupted flow are kept until it cannot be resumed any
            // more.
            remove(&conversations);
        }
        started.run().await;
        let result = started.stop();
        if !result.end.is_resumable() {
            remove(&conversations);
        }
        // The lock is released last.
        drop(open_project);
        Ok(result)
    }
}

/// Deletes the conversations of a flow that cannot be resumed any more.
fn remove(conversations: &Path) {
    if let Err(error) = remove_folder(conversations) {
        tracing::warn!(%error, path = %conversations.display(), "cannot delete the conversations");
    }
}

impl fmt::Debug for FlowRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowRun")
            .field("project", &self.project)
            .field("flow", &self.flow.definition().agent().name)
            .finish_non_exhaustive()
    }
}

/// Error of starting a flow in a project.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlowRunError {
    /// The project cannot be opened.
    #[error(transparent)]
    Project(#[from] ProjectRunError),
    /// The configuration of the sessions is inconsistent.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The flow cannot be built or started.
    #[error(transparent)]
    Flow(#[from] FlowError),
}
