//! A flow in a project directory, from its files to its result.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use autonoe_core::{
    AgentClientFactory, BuildError, Clock, Destructive, Project, ProjectGround, ProjectRunError,
    RunControl, SandboxSwitch, SessionRunnerBuilder, SystemClock, remove_folder,
};

use super::factory::FlowFactory;
use super::observer::FlowObserver;
use super::options::{FlowOptions, StartOptions};
use crate::command::CommandRunner;
use crate::completion::ExternalStates;
use crate::error::FlowError;
use crate::escalation::Notifiers;
use crate::machine::{FlowLimits, FlowResult};
use crate::parameters::ParameterValues;
use crate::validate::ValidatedFlow;

/// A flow in a project directory: takes its lock, reads its settings, resumes an interrupted flow.
///
/// `SPEC.md` is not needed. A flow that was killed, or has
/// [stopped](crate::FlowEnd::Stopped), resumes at its step, with its visits,
/// retries and costs, if it is started again with the same definition and the
/// same parameters; prompts may have been repaired.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::{Project, RunControl};
/// use autonoe_flow::{FlowRun, load};
/// # use autonoe_testkit::{ScriptedAgents, SessionScript, VirtualClock};
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
/// # let agents = Arc::new(ScriptedAgents::new([SessionScript::new("greet").says("Hello!").ends()]));
/// let project = Project::find(dir.path(), None)?;
/// let flow = load(&dir.path().join(".autonoe/flows/hello"))?.validated()?;
///
/// let result = FlowRun::new(project, flow, agents)
/// #   .clock(VirtualClock::new())
///     .run(&RunControl::new())
///     .await?;
///
/// assert!(result.is_success());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FlowRun {
    project: Project,
    flow: ValidatedFlow,
    agents: Arc<dyn AgentClientFactory>,
    parameters: ParameterValues,
    on_broken_off: OnBrokenOff,
    sandbox: SandboxSwitch,
    destructive: Destructive,
    clock: Arc<dyn Clock>,
    configure: Vec<Configure>,
    furnish: Vec<Furnish>,
}

type Configure = Box<dyn FnOnce(SessionRunnerBuilder) -> SessionRunnerBuilder + Send>;
type Furnish = Box<dyn FnOnce(FlowOptions) -> FlowOptions + Send>;

/// What to do if the last run of the project is this flow and has stopped or was interrupted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnBrokenOff {
    /// Resume it. If its definition or its parameters are not the same, that is an error.
    #[default]
    GoOn,
    /// Leave it, and start anew.
    StartAnew,
}

impl FlowRun {
    /// Prepares a run of `flow` with `agents` in `project`.
    pub fn new(
        project: Project,
        flow: ValidatedFlow,
        agents: impl AgentClientFactory + 'static,
    ) -> Self {
        Self {
            project,
            flow,
            agents: Arc::new(agents),
            parameters: ParameterValues::default(),
            on_broken_off: OnBrokenOff::default(),
            sandbox: SandboxSwitch::default(),
            destructive: Destructive::Forbidden,
            clock: Arc::new(SystemClock),
            configure: Vec::new(),
            furnish: Vec::new(),
        }
    }

    /// Sets the values of the parameters.
    #[must_use]
    pub fn parameters(mut self, parameters: ParameterValues) -> Self {
        self.parameters = parameters;
        self
    }

    /// Sets what to do with an interrupted run of the flow; by default it is resumed.
    #[must_use]
    pub fn on_broken_off(mut self, on_broken_off: OnBrokenOff) -> Self {
        self.on_broken_off = on_broken_off;
        self
    }

    /// Sets whether the sandbox is on, and who said so; it is by default.
    #[must_use]
    pub fn sandbox(mut self, sandbox: SandboxSwitch) -> Self {
        self.sandbox = sandbox;
        self
    }

    /// Sets whether `rm` and `mv` inside the project, `git clean` and `git push --force` are
    /// allowed; they are not by default.
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

    /// Sets the limits of the flow. An interrupted flow keeps those that it was started with,
    /// if none are set.
    #[must_use]
    pub fn limits(self, limits: FlowLimits) -> Self {
        self.furnish(move |options| options.limits(limits))
    }

    /// Sets who runs the commands of checks and conditions; nobody does by default.
    #[must_use]
    pub fn commands(self, commands: impl CommandRunner + 'static) -> Self {
        self.furnish(move |options| options.commands(commands))
    }

    /// Sets the states that conditions may name.
    #[must_use]
    pub fn states(self, states: ExternalStates) -> Self {
        self.furnish(move |options| options.states(states))
    }

    /// Sets who tells escalations.
    #[must_use]
    pub fn notifiers(self, notifiers: Notifiers) -> Self {
        self.furnish(move |options| options.notifiers(notifiers))
    }

    /// Adds somebody who is told what happens.
    #[must_use]
    pub fn observer(self, observer: impl FlowObserver + 'static) -> Self {
        self.furnish(move |options| options.observer(observer))
    }

    /// Changes how sessions are run: observers, hooks, models, limits of a session.
    #[must_use]
    pub fn configure(
        mut self,
        configure: impl FnOnce(SessionRunnerBuilder) -> SessionRunnerBuilder + Send + 'static,
    ) -> Self {
        self.configure.push(Box::new(configure));
        self
    }

    fn furnish(
        mut self,
        furnish: impl FnOnce(FlowOptions) -> FlowOptions + Send + 'static,
    ) -> Self {
        self.furnish.push(Box::new(furnish));
        self
    }

    /// Runs the flow until it ends or stops.
    ///
    /// # Errors
    ///
    /// It could not begin: another run is under way, a file of the project
    /// cannot be understood, something that the definition names is not there,
    /// or the interrupted flow is not the one to resume.
    pub async fn run(self, control: &RunControl) -> Result<FlowResult, FlowRunError> {
        let ground = ProjectGround::of(&self.project)
            .sandbox(self.sandbox)
            .destructive(self.destructive)
            .clock(self.clock.clone())
            .take()
            .await?;
        let name = &self.flow.definition().agent().name;
        let recorded = match self.on_broken_off {
            OnBrokenOff::GoOn => ground.journal().broken_off_flow(),
            OnBrokenOff::StartAnew => None,
        };
        let recorded = recorded.filter(|recorded| recorded.start.flow == name.as_str());
        let builder = match &recorded {
            Some(_) => ground.go_on(self.agents)?,
            None => ground.begin(self.agents)?,
        };
        let conversations = self.project.conversations_dir().join("flow");
        let builder = builder.conversations(&conversations);
        let configure = self.configure.into_iter();
        let builder = configure.fold(builder, |builder, configure| configure(builder));
        let sessions = builder.build_sessions()?;
        let options = FlowOptions::new(sessions, self.project.root()).clock(self.clock);
        let furnish = self.furnish.into_iter();
        let options = furnish.fold(options, |options, furnish| furnish(options));
        let created = FlowFactory::build(self.flow, options)?;
        let mut start = StartOptions::new(self.parameters).control(control);
        let is_new = recorded.is_none();
        start.recorded = recorded;
        let mut started = created.start(start).await?;
        if is_new {
            // Those of an interrupted flow stay until it cannot be resumed any more.
            remove(&conversations);
        }
        started.run().await;
        let result = started.stop();
        if !result.end.is_resumable() {
            remove(&conversations);
        }
        // The lock is released when everything is over.
        drop(ground);
        Ok(result)
    }
}

/// Deletes the conversations of a flow, which nobody resumes any more.
fn remove(conversations: &Path) {
    if let Err(error) = remove_folder(conversations) {
        tracing::warn!(%error, path = %conversations.display(), "conversations are not deleted");
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

/// Why a flow in a project could not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlowRunError {
    /// The project cannot be taken.
    #[error(transparent)]
    Project(#[from] ProjectRunError),
    /// The parts of the sessions do not fit together.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The flow cannot be built or started.
    #[error(transparent)]
    Flow(#[from] FlowError),
}
