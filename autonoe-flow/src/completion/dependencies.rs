//! [`CompletionDependencies`]: the states, commands and ledger that completion conditions read.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::ledger::{Ledger, LedgerStore};
use autonoe_core::spec::SpecContext;

use crate::check::{CommandRunner, NoCommands};
use crate::error::{FlowError, FlowErrorKind};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Dependencies of completion conditions, beside the flow itself.
#[derive(Clone)]
pub struct CompletionDependencies {
    pub(super) specs: SpecContext,
    pub(super) states: ExternalStates,
    pub(super) commands: Arc<dyn CommandRunner>,
    pub(super) ledger: Option<Arc<dyn LedgerSource>>,
}

impl CompletionDependencies {
    /// Creates dependencies without states, commands or a ledger; `specs` is for custom conditions.
    pub fn new(specs: SpecContext) -> Self {
        Self {
            specs,
            states: ExternalStates::default(),
            commands: Arc::new(NoCommands),
            ledger: None,
        }
    }

    /// Sets the external states that the embedder provides.
    #[must_use]
    pub fn with_states(mut self, states: ExternalStates) -> Self {
        self.states = states;
        self
    }

    /// Sets the runner of commands.
    #[must_use]
    pub fn with_commands(mut self, commands: impl CommandRunner + 'static) -> Self {
        self.commands = Arc::new(commands);
        self
    }

    /// Sets the source of the deliverables.
    #[must_use]
    pub fn with_ledger(mut self, ledger: impl LedgerSource + 'static) -> Self {
        self.ledger = Some(Arc::new(ledger));
        self
    }
}

impl fmt::Debug for CompletionDependencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompletionDependencies")
            .field("states", &self.states)
            .field("has_ledger", &self.ledger.is_some())
            .finish_non_exhaustive()
    }
}

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

/// Provides the current ledger. [`LedgerStore`] implements it.
#[async_trait]
pub trait LedgerSource: Send + Sync {
    /// Reads the ledger. Returns `None` if nothing has been saved.
    async fn ledger(&self) -> Result<Option<Ledger>, BoxError>;
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<S: LedgerSource + ?Sized> LedgerSource for Arc<S> {
    async fn ledger(&self) -> Result<Option<Ledger>, BoxError> {
        (**self).ledger().await
    }
}

#[async_trait]
impl LedgerSource for LedgerStore {
    async fn ledger(&self) -> Result<Option<Ledger>, BoxError> {
        Ok(self.read().await?.map(|state| state.ledger))
    }
}

/// Returns the error about a missing dependency.
pub(super) fn unresolved(message: impl Into<String>) -> FlowError {
    FlowError::new(FlowErrorKind::DependencyResolution, message)
}
