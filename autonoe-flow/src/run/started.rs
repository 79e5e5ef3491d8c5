//! [`Started`]: a started flow, as the driver and the checks of steps use it.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use autonoe_core::agent::BudgetKind;
use autonoe_core::ledger::{Ledger, LedgerStore};
use autonoe_core::run::SessionAccess;
use autonoe_core::session::OpenSessions;
use autonoe_core::time::Clock;

use super::observer::{FlowEvent, emit as notify_observers};
use super::options::FlowOptions;
use crate::completion::LedgerSource;
use crate::definition::{PromptRef, StepId, VariableName};
use crate::error::FlowErrorKind;
use crate::machine::{FlowFact, FlowFailure, FlowMachine};
use crate::port::CompletionHandler;
use crate::progress::Triggers;
use crate::prompt::{PromptResolver, ResolvedPrompt, Variables};
use crate::validate::ValidatedFlow;

/// The parts of a flow.
pub(super) struct FlowParts {
    pub(super) flow: ValidatedFlow,
    pub(super) options: FlowOptions,
    pub(super) resolver: PromptResolver,
    pub(super) completion: Box<dyn CompletionHandler>,
    pub(super) access: SessionAccess,
    pub(super) watched: Triggers,
    pub(super) reads_ledger: bool,
    pub(super) ledger: LazyLedger,
    pub(super) fingerprint: String,
}

/// The state of a started flow: its sessions are open, and all dependencies are resolved.
///
/// If it is dropped without [`stop`](super::Flow::stop), the flow is interrupted and can be resumed.
pub struct Started {
    pub(super) parts: Box<FlowParts>,
    pub(super) open: OpenSessions,
    pub(super) machine: FlowMachine,
    pub(super) system_prompt: Option<String>,
    pub(super) control: autonoe_core::RunControl,
}

impl fmt::Debug for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Prompts and answers belong to the user and must not appear in diagnostics.
        f.debug_struct("Started")
            .field("flow", self.machine.flow())
            .field("run", self.open.run_id())
            .field("iteration", &self.machine.context().iteration())
            .finish_non_exhaustive()
    }
}

/// The ledger, which is available once the sessions are open.
#[derive(Clone, Default)]
pub(super) struct LazyLedger(Arc<OnceLock<LedgerStore>>);

impl LazyLedger {
    pub(super) fn open(&self, store: &LedgerStore) {
        let _ = self.0.set(store.clone());
    }
}

#[async_trait]
impl LedgerSource for LazyLedger {
    async fn ledger(&self) -> Result<Option<Ledger>, Box<dyn std::error::Error + Send + Sync>> {
        match self.0.get() {
            Some(store) => LedgerSource::ledger(store).await,
            None => Err("the ledger is not open yet".into()),
        }
    }
}

/// Creates the fact that the flow cannot continue.
pub(super) fn failed(flow: &Started, failure: FlowFailure) -> FlowFact {
    FlowFact::Failed {
        at: flow.parts.options.clock.now(),
        failure,
    }
}

pub(super) fn interrupted() -> FlowFailure {
    FlowFailure::new(FlowErrorKind::Interrupted, "the flow was cancelled")
}

/// Finds a prompt and fills it. Observers receive undefined variables, which are an error in strict
/// mode.
pub(super) fn resolve(
    flow: &Started,
    step: &StepId,
    reference: &PromptRef,
    variables: &Variables,
) -> Result<ResolvedPrompt, FlowFailure> {
    let prompt = flow.parts.resolver.resolve(reference, variables);
    let prompt = prompt.map_err(FlowFailure::from)?;
    let undefined: &BTreeSet<VariableName> = &prompt.undefined;
    if !undefined.is_empty() {
        let event = FlowEvent::Undefined {
            step,
            variables: undefined,
        };
        notify_observers(&flow.parts.options.observers, &event);
    }
    let places = &flow.parts.flow.definition().agent().prompts;
    prompt.require_defined(places).map_err(FlowFailure::from)?;
    Ok(prompt)
}

/// Waits until the deadline of a flow; forever if it has none.
pub(super) async fn until(clock: Arc<dyn Clock>, deadline: Option<jiff::Timestamp>) {
    match deadline {
        Some(deadline) => {
            let left = deadline.duration_since(clock.now());
            clock.sleep(left.try_into().unwrap_or_default()).await;
        }
        None => std::future::pending().await,
    }
}

pub(super) fn budget_spent(budget: BudgetKind) -> FlowFailure {
    let message = format!("the {budget} budget of the flow is spent");
    let mut failure = FlowFailure::new(FlowErrorKind::BudgetExceeded, message);
    failure.budget = Some(budget);
    failure
}
