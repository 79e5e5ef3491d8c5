//! What a flow is built with, and what it is started with.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use autonoe_core::{
    Clock, ProjectPaths, RecordedFlow, RunControl, Sessions, SpecContext, SystemClock,
};

use super::observer::FlowObserver;
use crate::command::{CommandRunner, NoCommands};
use crate::completion::ExternalStates;
use crate::escalation::Notifiers;
use crate::machine::FlowLimits;
use crate::parameters::ParameterValues;

/// What a flow is built with: where its sessions come from, and what its definition may name.
///
/// Nothing is there by default but the sessions: no commands, no states, no
/// webhooks. A definition that names what is not there is refused by
/// [`FlowFactory::build`](super::FlowFactory::build).
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
    /// Takes sessions from `sessions`; `project` is where conditions of the embedder's own look.
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

    /// Sets the clock, which must be that of the sessions; the machine's by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Sets the limits of the flow. An interrupted flow keeps those that it was started with,
    /// if none are set.
    #[must_use]
    pub fn limits(mut self, limits: FlowLimits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Sets who runs the commands of checks and conditions.
    #[must_use]
    pub fn commands(mut self, commands: impl CommandRunner + 'static) -> Self {
        self.commands = Arc::new(commands);
        self
    }

    /// Sets the states that conditions may name.
    #[must_use]
    pub fn states(mut self, states: ExternalStates) -> Self {
        self.states = states;
        self
    }

    /// Sets who tells escalations.
    #[must_use]
    pub fn notifiers(mut self, notifiers: Notifiers) -> Self {
        self.notifiers = notifiers;
        self
    }

    /// Adds somebody who is told what happens.
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

/// What a flow is started with.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StartOptions {
    /// The values of its parameters.
    pub parameters: ParameterValues,
    /// What cancels it, holds it and tells its agents something.
    pub control: RunControl,
    /// The interrupted flow to resume.
    pub recorded: Option<RecordedFlow>,
}

impl StartOptions {
    /// Starts a flow anew, with these parameters.
    pub fn new(parameters: ParameterValues) -> Self {
        Self {
            parameters,
            ..Self::default()
        }
    }

    /// Sets what cancels the flow.
    #[must_use]
    pub fn control(mut self, control: &RunControl) -> Self {
        self.control = control.clone();
        self
    }

    /// Resumes an interrupted flow.
    #[must_use]
    pub fn going_on(mut self, recorded: RecordedFlow) -> Self {
        self.recorded = Some(recorded);
        self
    }
}
