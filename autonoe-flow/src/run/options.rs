//! [`FlowOptions`] and [`StartOptions`]: options to build and to start a flow.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use autonoe_core::gate::ProjectPaths;
use autonoe_core::session::RecordedFlow;
use autonoe_core::spec::SpecContext;
use autonoe_core::time::{Clock, SystemClock};
use autonoe_core::{RunControl, Sessions};

use super::observer::FlowObserver;
use crate::command::{CommandRunner, NoCommands};
use crate::completion::ExternalStates;
use crate::escalation::Notifiers;
use crate::machine::FlowLimits;
use crate::parameters::ParameterValues;

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
#[non_exhaustive]
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

    /// Sets the control that cancels the flow.
    #[must_use]
    pub fn control(mut self, control: &RunControl) -> Self {
        self.control = control.clone();
        self
    }

    /// Resumes an interrupted flow.
    #[must_use]
    pub fn resume(mut self, recorded: RecordedFlow) -> Self {
        self.recorded = Some(recorded);
        self
    }
}
