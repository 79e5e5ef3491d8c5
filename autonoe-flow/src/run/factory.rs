//! [`FlowFactory`]: builds a flow from a valid definition and [`FlowOptions`]; [`StartOptions`].

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use autonoe_core::gate::{Grants, ProjectPaths};
use autonoe_core::run::SessionAccess;
use autonoe_core::session::RecordedFlow;
use autonoe_core::spec::SpecContext;
use autonoe_core::time::{Clock, SystemClock};
use autonoe_core::{RunControl, Sessions};

use super::flow::{Created, Flow, FlowParts, LazyLedger, fingerprint};
use super::observer::FlowObserver;
use crate::check::{CommandRunner, NoCommands};
use crate::completion::{CompletionDependencies, ExternalStates, build_completion};
use crate::definition::{AfterFailure, Behavior, Check, ExpectedAction, PermissionMode};
use crate::error::{FlowError, FlowErrorKind};
use crate::escalation::{Notifier, Notifiers};
use crate::machine::FlowLimits;
use crate::parameters::ParameterValues;
use crate::prompt::PromptResolver;
use crate::validate::ValidatedFlow;

/// Builds flows.
///
/// ```
/// use autonoe_core::SessionRunner;
/// use autonoe_flow::definition::WorkStep;
/// use autonoe_flow::{FlowBuilder, FlowFactory, FlowOptions, ParameterValues, StartOptions};
/// # use autonoe_testkit::{ScriptedBackend, SessionScript, VirtualClock};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?
/// #     .block_on(async {
/// # let agents = ScriptedBackend::new([SessionScript::new("greet").says("Hello!").ends()]);
/// # let clock = std::sync::Arc::new(VirtualClock::new());
/// let flow = FlowBuilder::new("hello")
///     .step("greet", "Say hello.", WorkStep::default())
///     .build()?
///     .validated()?;
/// let sessions = SessionRunner::builder("/srv/project")
///     .agents(agents)
/// #   .clock(clock.clone())
///     .build_sessions()?;
/// let options = FlowOptions::new(sessions, "/srv/project");
/// # let options = options.clock(clock);
///
/// let created = FlowFactory::build(flow, options)?;
/// let mut started = created.start(StartOptions::new(ParameterValues::default())).await?;
/// started.run().await;
/// let result = started.stop();
///
/// assert!(result.is_success());
/// assert_eq!(result.iterations(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FlowFactory;

impl FlowFactory {
    /// Builds a flow that can be started once.
    ///
    /// # Errors
    ///
    /// A dependency of the definition is missing: a state, a ledger, a program, a signing key, a
    /// notifier for webhooks, or a custom condition. The kind is
    /// [`FlowErrorKind::DependencyResolution`], and the message names the dependency. A limit that
    /// allows nothing to run is a [`FlowErrorKind::ConfigurationValidation`].
    pub fn build(flow: ValidatedFlow, options: FlowOptions) -> Result<Flow<Created>, FlowError> {
        if let Some(limits) = &options.limits {
            limits.budget.check("limits(..)")?;
            limits.quota_backoff.check("limits(..)")?;
        }
        let definition = flow.definition();
        let behavior = &definition.agent().behavior;
        let ledger = LazyLedger::default();
        let mut needed = CompletionDependencies::new(options.specs.clone())
            .with_states(options.states.clone())
            .with_commands(options.commands.clone());
        if options.sessions.has_ledger() {
            needed = needed.with_ledger(Arc::new(ledger.clone()));
        }
        let completion = build_completion(&behavior.completion, &needed)?;
        resolve_dependencies(&flow, &options)?;
        let fingerprint = fingerprint(definition).map_err(|error| {
            let message = "cannot serialise the definition of the flow";
            FlowError::new(FlowErrorKind::ConfigurationParse, message).with_cause(error)
        })?;
        Ok(Flow::created(FlowParts {
            resolver: PromptResolver::new(definition),
            access: access(behavior),
            needs: behavior.completion.needs(),
            fingerprint,
            ledger,
            completion,
            flow,
            options,
        }))
    }
}

/// Checks whether the commands of checks can be run and escalations delivered.
fn resolve_dependencies(flow: &ValidatedFlow, options: &FlowOptions) -> Result<(), FlowError> {
    let steps = flow.definition().registry().steps.values();
    for work in steps.filter_map(|step| step.work()) {
        if let Some(Check::Action(check)) = &work.check {
            for action in &check.actions {
                if let ExpectedAction::Command(command) = action {
                    options.commands.resolve(&command.command)?;
                }
            }
        }
        if let AfterFailure::Escalate(escalation) = work.plan().after_failure {
            options.notifiers.resolve(&escalation)?;
        }
    }
    Ok(())
}

/// Returns the permissions of a flow's agent: the tools allowed by name, and those that the mode
/// adds.
///
/// Guards and hooks judge every call, regardless of these permissions.
pub(super) fn access(behavior: &Behavior) -> SessionAccess {
    let named = behavior.allowed_tools.iter();
    let named = named.fold(Grants::none(), Grants::with_tool);
    match behavior.permission_mode {
        PermissionMode::Default => SessionAccess::Only(named),
        PermissionMode::AcceptEdits => {
            const EDITS: [&str; 2] = ["Edit(./**)", "Write(./**)"];
            SessionAccess::Only(EDITS.into_iter().fold(named, Grants::with_tool))
        }
        PermissionMode::Plan => SessionAccess::ReadOnly(named),
    }
}

/// Options of a flow: its sessions, and the dependencies of its definition.
///
/// By default there are only sessions: no commands, no states, no webhooks.
/// [`FlowFactory::build`](super::FlowFactory::build) rejects a definition with missing
/// dependencies.
#[derive(Clone)]
pub struct FlowOptions {
    pub(super) sessions: Sessions,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) limits: Option<FlowLimits>,
    pub(super) commands: Arc<dyn CommandRunner>,
    pub(super) states: ExternalStates,
    pub(super) notifiers: Notifiers,
    pub(super) specs: SpecContext,
    pub(super) observers: Vec<Arc<dyn FlowObserver>>,
}

impl FlowOptions {
    /// Creates options with `sessions`; `project` is the directory for custom conditions.
    pub fn new(sessions: Sessions, project: impl Into<PathBuf>) -> Self {
        Self {
            sessions,
            clock: Arc::new(SystemClock),
            limits: None,
            commands: Arc::new(NoCommands),
            states: ExternalStates::default(),
            notifiers: Notifiers::default(),
            specs: SpecContext::new(ProjectPaths::new(project.into())),
            observers: Vec::new(),
        }
    }

    /// Sets the clock, which must be the clock of the sessions. The default is the system clock.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Sets the limits of the flow. By default, a resumed flow keeps the limits that it was started
    /// with.
    #[must_use]
    pub fn limits(mut self, limits: FlowLimits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Sets the runner for commands of checks and conditions.
    #[must_use]
    pub fn commands(mut self, commands: impl CommandRunner + 'static) -> Self {
        self.commands = Arc::new(commands);
        self
    }

    /// Sets the external states for conditions.
    #[must_use]
    pub fn states(mut self, states: ExternalStates) -> Self {
        self.states = states;
        self
    }

    /// Sets the notifiers for escalations.
    #[must_use]
    pub fn notifiers(mut self, notifiers: Notifiers) -> Self {
        self.notifiers = notifiers;
        self
    }

    /// Adds an observer.
    #[must_use]
    pub fn observer(mut self, observer: impl FlowObserver + 'static) -> Self {
        self.observers.push(Arc::new(observer));
        self
    }
}

impl fmt::Debug for FlowOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowOptions")
            .field("sessions", &self.sessions)
            .field("limits", &self.limits)
            .field("states", &self.states)
            .finish_non_exhaustive()
    }
}

/// Options to start a flow.
#[derive(Clone, Debug, Default)]
pub struct StartOptions {
    /// The values of its parameters.
    pub parameters: ParameterValues,
    /// Cancels and pauses the flow, and sends messages to its agents.
    pub control: RunControl,
    /// The interrupted flow to resume.
    pub recorded: Option<RecordedFlow>,
}

impl StartOptions {
    /// Starts a new flow with these parameters.
    pub fn new(parameters: ParameterValues) -> Self {
        Self {
            parameters,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_permission_mode_adds_edits_or_removes_all_writes() {
        let access_of = |mode: &str| {
            let behavior = json!({
                "completionType": "stepMachine",
                "allowedTools": ["Grep", "Bash(npm test)"],
                "permissionMode": mode,
            });
            access(&serde_json::from_value(behavior).expect("a behavior"))
        };
        let named = Grants::none().with_tool("Grep").with_tool("Bash(npm test)");
        let rules = |grants: &Grants| grants.rules().count();

        assert_eq!(access_of("default"), SessionAccess::Only(named.clone()));
        assert_eq!(access_of("plan"), SessionAccess::ReadOnly(named.clone()));
        match access_of("acceptEdits") {
            SessionAccess::Only(grants) => assert_eq!(rules(&grants), rules(&named) + 2),
            other => panic!("{other:?}"),
        }
    }
}
