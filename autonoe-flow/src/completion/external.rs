//! Completion conditions on states outside of a flow.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::rules::LastResult;
use crate::command::{CommandOutcome, CommandRunner};
use crate::definition::StateCommand;
use crate::error::{FlowError, FlowErrorKind};
use crate::port::{CompletionContext, CompletionHandler, CompletionResult};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Probes whether a state outside of a flow is reached.
///
/// Implementations must answer in bounded time and return an error if the state cannot be
/// determined. The simplest implementation is a closure: [`probe_fn`].
#[async_trait]
pub trait StateProbe: Send + Sync {
    /// Probes the state now.
    async fn is_reached(&self) -> Result<bool, BoxError>;
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<P: StateProbe + ?Sized> StateProbe for Arc<P> {
    async fn is_reached(&self) -> Result<bool, BoxError> {
        (**self).is_reached().await
    }
}

/// Creates a probe from a closure.
///
/// ```
/// use autonoe_flow::completion::{ExternalStates, probe_fn};
///
/// let states = ExternalStates::default().with("released", probe_fn(|| true));
///
/// assert_eq!(states.names().collect::<Vec<_>>(), ["released"]);
/// ```
pub fn probe_fn(probe: impl Fn() -> bool + Send + Sync + 'static) -> Arc<dyn StateProbe> {
    Arc::new(Closure(probe))
}

struct Closure<F>(F);

#[async_trait]
impl<F: Fn() -> bool + Send + Sync> StateProbe for Closure<F> {
    async fn is_reached(&self) -> Result<bool, BoxError> {
        Ok((self.0)())
    }
}

/// External states of an embedder, by the names that definitions use.
#[derive(Clone, Default)]
pub struct ExternalStates(BTreeMap<String, Arc<dyn StateProbe>>);

impl ExternalStates {
    /// Adds a state. A later state replaces an earlier one of the same name.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, probe: impl StateProbe + 'static) -> Self {
        self.0.insert(name.into(), Arc::new(probe));
        self
    }

    /// Returns the names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Arc<dyn StateProbe>> {
        self.0.get(name)
    }
}

impl fmt::Debug for ExternalStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// A condition that probes an external state on each check.
pub(super) struct ExternalStateHandler {
    /// Its description in reasons and errors.
    name: String,
    probe: Arc<dyn StateProbe>,
    last: LastResult,
}

impl ExternalStateHandler {
    pub(super) fn named(name: &str, probe: Arc<dyn StateProbe>) -> Self {
        Self {
            name: format!("the state `{name}`"),
            probe,
            last: LastResult::default(),
        }
    }

    pub(super) fn command(command: &StateCommand, runner: Arc<dyn CommandRunner>) -> Self {
        let program = command.command.first().map_or("", String::as_str);
        Self {
            name: format!("the state that the command `{program}` reports"),
            probe: Arc::new(Command {
                command: command.clone(),
                runner,
            }),
            last: LastResult::default(),
        }
    }
}

#[async_trait]
impl CompletionHandler for ExternalStateHandler {
    async fn check(&mut self, _: &CompletionContext<'_>) -> Result<CompletionResult, FlowError> {
        self.last.reset();
        let is_reached = self.probe.is_reached().await.map_err(|error| {
            let message = format!("cannot determine {}", self.name);
            FlowError::new(FlowErrorKind::CompletionCheck, message).because(error)
        })?;
        let reason = is_reached.then(|| format!("{} is reached", self.name));
        Ok(self.last.set(reason))
    }

    fn is_complete(&self) -> bool {
        self.last.is_complete()
    }

    fn reason(&self) -> &str {
        self.last.reason()
    }
}

/// A command that exits with 0 when a state is reached, and with 1 while it is not.
struct Command {
    command: StateCommand,
    runner: Arc<dyn CommandRunner>,
}

#[async_trait]
impl StateProbe for Command {
    async fn is_reached(&self) -> Result<bool, BoxError> {
        let time = Duration::from_secs(self.command.timeout_seconds);
        match self.runner.run(&self.command.command, time).await? {
            CommandOutcome::Exited { code: 0 } => Ok(true),
            CommandOutcome::Exited { code: 1 } => Ok(false),
            end => Err(format!(
                "the command {end}; it must exit with 0 if the state is reached, or with 1 if it \
                 is not"
            )
            .into()),
        }
    }
}
