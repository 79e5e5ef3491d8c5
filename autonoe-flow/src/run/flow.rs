//! [`Flow`]: a flow whose lifecycle is encoded in its type, with its states [`Created`] and [`Started`].

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use autonoe_core::RunControl;
use autonoe_core::event::Failure;
use autonoe_core::ledger::{Ledger, LedgerStore};
use autonoe_core::run::{Durability, ExitClass, FlowExit, SessionAccess};
use autonoe_core::session::{FlowStart, FlowStartError, OpenSessions, RecordedFlow};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::driver;
use super::factory::{FlowOptions, StartOptions};
use super::observer::FlowEvent;
use crate::completion::{CompletionHandler, CompletionNeeds, LedgerSource};
use crate::definition::{PromptRef, StepId};
use crate::error::{FlowError, FlowErrorKind};
use crate::load::FlowDefinition;
use crate::machine::{FlowAction, FlowEnd, FlowFact, FlowFailure, FlowMachine, FlowResult};
use crate::parameters::ParameterValues;
use crate::prompt::{PromptResolver, ResolvedPrompt, Variables};
use crate::validate::ValidatedFlow;

/// A flow: [`Created`], then [`Started`], then stopped and consumed. No state can be entered twice.
///
/// [`FlowFactory::build`](super::FlowFactory::build) creates one. A second start does not compile:
///
/// ```compile_fail,E0382
/// # use autonoe_flow::run::Created;
/// # use autonoe_flow::{Flow, StartOptions};
/// async fn twice(flow: Flow<Created>) {
///     let first = flow.start(StartOptions::default()).await;
///     let second = flow.start(StartOptions::default()).await;
/// }
/// ```
///
/// Neither does using a flow before its start or after its stop:
///
/// ```compile_fail,E0599
/// # use autonoe_flow::run::Created;
/// # use autonoe_flow::Flow;
/// async fn too_early(mut flow: Flow<Created>) {
///     flow.run().await;
/// }
/// ```
///
/// ```compile_fail,E0382
/// # use autonoe_flow::{Flow, Started};
/// async fn too_late(mut flow: Flow<Started>) {
///     let result = flow.stop();
///     flow.run().await;
/// }
/// ```
///
/// Stopping a flow returns its result, which cannot be started:
///
/// ```compile_fail,E0599
/// # use autonoe_flow::{Flow, StartOptions, Started};
/// async fn again(flow: Flow<Started>) {
///     flow.stop().start(StartOptions::default()).await;
/// }
/// ```
#[derive(Debug)]
pub struct Flow<S> {
    state: S,
}

/// The state of a flow that can be started.
pub struct Created(Box<FlowParts>);

impl Flow<Created> {
    pub(super) fn created(parts: FlowParts) -> Self {
        Self {
            state: Created(Box::new(parts)),
        }
    }

    /// Returns the fingerprint of the definition. It does not cover prompts.
    pub fn fingerprint(&self) -> &str {
        &self.state.0.fingerprint
    }

    /// Starts the flow: probes the backend, acquires the ledger, starts the journal.
    ///
    /// # Errors
    ///
    /// The sessions cannot be opened, the system prompt cannot be used, or the flow to resume has
    /// another name, definition or parameters. In that case the interrupted flow stays unchanged.
    pub async fn start(self, start: StartOptions) -> Result<Flow<Started>, FlowError> {
        let parts = self.state.0;
        let agent = parts.flow.definition().agent();
        let mut machine = FlowMachine::new(&parts.flow, &start.parameters);
        let system_prompt = system_prompt(&parts, &start.parameters)?;
        let sessions = |machine: &FlowMachine| {
            let limits = parts.options.limits.unwrap_or(*machine.limits());
            parts.options.sessions.clone().caller_budget(limits.budget)
        };
        let opened = match start.recorded {
            Some(recorded) => {
                let parameters = json(&start.parameters)?;
                ensure_same_flow(&parts, &recorded.start, &parameters)?;
                replay(&mut machine, &recorded)?;
                let sessions = sessions(&machine);
                sessions.reopen(recorded, &start.control).await
            }
            None => {
                let flow_start = FlowStart::new(agent.name.as_str())
                    .definition(&parts.fingerprint)
                    .parameters(json(&start.parameters)?);
                sessions(&machine).open(flow_start, &start.control).await
            }
        };
        let open = opened.map_err(not_opened)?;
        if let Some(store) = open.ledger_store() {
            parts.ledger.open(store);
        }
        Ok(Flow {
            state: Started {
                parts,
                open,
                machine,
                system_prompt,
                control: start.control,
            },
        })
    }
}

impl Flow<Started> {
    /// Returns the machine, with the position and the progress of the flow.
    pub fn machine(&self) -> &FlowMachine {
        &self.state.machine
    }

    /// Runs the flow until it ends or [stops](FlowEnd::Stopped). An ended flow stays ended; a
    /// stopped one is resumed.
    pub async fn run(&mut self) -> FlowEnd {
        driver::run(&mut self.state).await
    }

    /// Stops the flow: records its end, releases all resources, and returns the result.
    ///
    /// A flow that has not ended is interrupted. Like a flow that has [stopped](FlowEnd::Stopped),
    /// it can be resumed, because its journal stays open.
    pub fn stop(mut self) -> FlowResult {
        let started = &mut self.state;
        let end = match started.machine.action() {
            FlowAction::Finish(end) => end,
            _ => {
                let message = "the flow was stopped before its end";
                let failure = FlowFailure::new(FlowErrorKind::Interrupted, message);
                let fact = started.failed(failure.clone());
                match driver::record_fact(started, fact, Durability::Synced) {
                    FlowAction::Finish(end) => end,
                    _ => FlowEnd::Stopped { failure },
                }
            }
        };
        let Started {
            open,
            machine,
            parts,
            ..
        } = self.state;
        let now = parts.options.clock.now();
        let result = machine.result_with(open.run_id(), end, now);
        let exit = exit(&result.end);
        if result.end.is_resumable() {
            open.interrupt(exit);
            return result;
        }
        // Serialization cannot fail: the value consists of names, strings and numbers.
        let value = serde_json::to_value(&result).unwrap_or(Value::Null);
        open.close(exit, value);
        result
    }
}

/// The parts of a flow.
pub(super) struct FlowParts {
    pub(super) flow: ValidatedFlow,
    pub(super) options: FlowOptions,
    pub(super) resolver: PromptResolver,
    pub(super) completion: Box<dyn CompletionHandler>,
    pub(super) access: SessionAccess,
    pub(super) needs: CompletionNeeds,
    pub(super) ledger: LazyLedger,
    pub(super) fingerprint: String,
}

/// The state of a started flow: its sessions are open, and all dependencies are resolved.
///
/// If it is dropped without [`stop`](Flow::stop), the flow is interrupted and can be resumed.
pub struct Started {
    pub(super) parts: Box<FlowParts>,
    pub(super) open: OpenSessions,
    pub(super) machine: FlowMachine,
    pub(super) system_prompt: Option<String>,
    pub(super) control: RunControl,
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

impl Started {
    /// Creates the fact that the flow cannot continue.
    pub(super) fn failed(&self, failure: FlowFailure) -> FlowFact {
        FlowFact::Failed {
            at: self.parts.options.clock.now(),
            failure,
        }
    }

    /// Sends an event to the observers of the flow.
    pub(super) fn emit(&self, event: &FlowEvent<'_>) {
        for observer in &self.parts.options.observers {
            if catch_unwind(AssertUnwindSafe(|| observer.on_event(event))).is_err() {
                tracing::error!("an observer of a flow panicked");
            }
        }
    }

    /// Finds a prompt and fills it. Observers receive undefined variables, which are an error in
    /// strict mode.
    pub(super) fn resolve(
        &self,
        step: &StepId,
        reference: &PromptRef,
        variables: &Variables,
    ) -> Result<ResolvedPrompt, FlowFailure> {
        let prompt = self.parts.resolver.resolve(reference, variables)?;
        if !prompt.undefined.is_empty() {
            self.emit(&FlowEvent::Undefined {
                step,
                variables: &prompt.undefined,
            });
        }
        prompt.require_defined(&self.parts.flow.definition().agent().prompts)?;
        Ok(prompt)
    }
}

fn system_prompt(
    parts: &FlowParts,
    parameters: &ParameterValues,
) -> Result<Option<String>, FlowError> {
    let agent = parts.flow.definition().agent();
    let mut variables: Variables = parameters.variables();
    if let Ok(name) = "flow".parse() {
        variables.insert(name, agent.name.to_string());
    }
    let Some(prompt) = parts.resolver.resolve_system(&variables)? else {
        return Ok(None);
    };
    prompt.require_defined(&agent.prompts)?;
    Ok(Some(prompt.text))
}

fn json(parameters: &ParameterValues) -> Result<Value, FlowError> {
    serde_json::to_value(parameters).map_err(|error| {
        FlowError::new(FlowErrorKind::Parameter, "cannot serialise the parameters")
            .with_cause(error)
    })
}

/// Checks that the interrupted flow `recorded` is the one to resume.
fn ensure_same_flow(
    parts: &FlowParts,
    recorded: &FlowStart,
    parameters: &Value,
) -> Result<(), FlowError> {
    let name = &parts.flow.definition().agent().name;
    let differs = |kind, difference: &str| {
        let message = format!(
            "cannot resume the flow `{}`: {difference}; restore what was changed, or start a new run",
            recorded.flow
        );
        Err(FlowError::new(kind, message))
    };
    if recorded.flow != name.as_str() {
        let difference = format!("the flow to run is `{name}`");
        return differs(FlowErrorKind::ConfigurationValidation, &difference);
    }
    if recorded.definition != parts.fingerprint {
        let difference = "its definition has changed since";
        return differs(FlowErrorKind::ConfigurationValidation, difference);
    }
    if recorded.parameters != *parameters {
        let difference = "its parameters have changed since";
        return differs(FlowErrorKind::Parameter, difference);
    }
    Ok(())
}

fn not_opened(error: FlowStartError) -> FlowError {
    let exit = &error.report().exit;
    let kind = match exit.class() {
        ExitClass::Interrupted => FlowErrorKind::Interrupted,
        ExitClass::Budget => FlowErrorKind::BudgetExceeded,
        ExitClass::Quota => FlowErrorKind::SdkRateLimit,
        ExitClass::Success
        | ExitClass::Failed
        | ExitClass::Blocked
        | ExitClass::Iterations
        | ExitClass::Retries
        | ExitClass::Stalled => match exit.failure() {
            Some(failure) => super::outcome::failure(failure).kind,
            None => FlowErrorKind::SdkRefused,
        },
    };
    FlowError::new(kind, error.to_string()).with_cause(error)
}

/// Converts the end of a flow into the exit of its run.
fn exit(end: &FlowEnd) -> FlowExit {
    let Some(failure) = end.failure() else {
        return FlowExit::Completed;
    };
    match (failure.kind, failure.budget) {
        (FlowErrorKind::BudgetExceeded, Some(budget)) => FlowExit::BudgetExceeded { budget },
        (FlowErrorKind::Interrupted, _) => FlowExit::Interrupted,
        (FlowErrorKind::SdkRateLimit, _) => FlowExit::QuotaExceeded,
        (kind, _) => FlowExit::Failed {
            error: Failure::permanent(kind.code(), failure.message_with_causes()),
        },
    }
}

impl fmt::Debug for Created {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flow = &self.0.flow.definition().agent().name;
        f.debug_tuple("Created").field(flow).finish()
    }
}

/// Applies the recorded facts of an interrupted flow to `machine`. The action in progress was lost
/// and is repeated.
pub(super) fn replay(machine: &mut FlowMachine, recorded: &RecordedFlow) -> Result<(), FlowError> {
    for (index, fact) in recorded.facts.iter().enumerate() {
        let fact: FlowFact = serde_json::from_value(fact.clone()).map_err(|error| {
            let message = format!("cannot read fact {} of the flow's journal", index + 1);
            FlowError::new(FlowErrorKind::Record, message).with_cause(error)
        })?;
        let _ = machine.apply(fact);
    }
    Ok(())
}

/// Returns a hash of the files that determine the course of a flow: `agent.json` and the steps.
///
/// Prompts are not included. They are read for each step, and a flow that stopped because of a
/// broken prompt can be resumed once the prompt is fixed.
///
/// ```
/// use autonoe_flow::definition::{FlowAgent, StepsRegistry};
/// use autonoe_flow::run::fingerprint;
/// use autonoe_flow::FlowDefinition;
/// use serde_json::{from_value, json};
///
/// let definition = |version: &str| -> Result<FlowDefinition, serde_json::Error> {
///     let behavior = json!({"completionType": "stepMachine"});
///     let agent = json!({"version": version, "name": "hello", "behavior": behavior});
///     let steps = json!({"greet": {"prompt": "greet.md", "transition": {"next": "end"}}});
///     let registry = json!({"entryStep": "greet", "steps": steps});
///     Ok(FlowDefinition::new(from_value::<FlowAgent>(agent)?, from_value::<StepsRegistry>(registry)?))
/// };
///
/// assert_ne!(fingerprint(&definition("1")?)?, fingerprint(&definition("2")?)?);
/// assert_eq!(fingerprint(&definition("1")?)?, fingerprint(&definition("1")?)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
///
/// The definition cannot be serialized as JSON.
pub fn fingerprint(definition: &FlowDefinition) -> Result<String, serde_json::Error> {
    let mut hash = Sha256::new();
    for part in [
        serde_json::to_vec(definition.agent())?,
        serde_json::to_vec(definition.registry())?,
    ] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let bytes = hash.finalize();
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
