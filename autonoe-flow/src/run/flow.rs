//! A flow, from its making to its end, in types.

use std::fmt;

use autonoe_core::{
    Durability, FlowExit, FlowStart, NotOpened, OpenSessions, RecordedFlow, SessionAccess,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::driver;
use super::factory::LateLedger;
use super::options::{FlowOptions, StartOptions};
use crate::error::{FlowError, FlowErrorKind};
use crate::load::FlowDefinition;
use crate::machine::{FlowAction, FlowEnd, FlowFact, FlowFailure, FlowMachine, FlowResult};
use crate::parameters::ParameterValues;
use crate::port::CompletionHandler;
use crate::progress::Watched;
use crate::prompt::{PromptResolver, Variables};
use crate::validate::ValidatedFlow;

/// All that a flow is made of.
pub(super) struct Parts {
    pub(super) flow: ValidatedFlow,
    pub(super) options: FlowOptions,
    pub(super) resolver: PromptResolver,
    pub(super) completion: Box<dyn CompletionHandler>,
    pub(super) access: SessionAccess,
    pub(super) watched: Watched,
    pub(super) reads_ledger: bool,
    pub(super) ledger: LateLedger,
    pub(super) fingerprint: String,
}

/// A flow: [`Created`], then [`Started`], then stopped and gone. There is no way back.
///
/// [`FlowFactory::build`](super::FlowFactory::build) makes one. A second start does not compile:
///
/// ```compile_fail,E0382
/// # use autonoe_flow::{Created, Flow, StartOptions};
/// async fn twice(flow: Flow<Created>) {
///     let first = flow.start(StartOptions::default()).await;
///     let second = flow.start(StartOptions::default()).await;
/// }
/// ```
///
/// Nor does a flow that is used before its start or after its stop:
///
/// ```compile_fail,E0599
/// # use autonoe_flow::{Created, Flow};
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
/// A stopped flow is its result, which cannot be started:
///
/// ```compile_fail,E0599
/// # use autonoe_flow::{Flow, StartOptions, Started};
/// async fn again(flow: Flow<Started>) {
///     flow.stop().start(StartOptions::default()).await;
/// }
/// ```
pub struct Flow<S> {
    state: S,
}

/// The state of a flow that can be started.
pub struct Created(Box<Parts>);

/// The state of a flow that was started: its sessions are open, and all that it needs is there.
///
/// Dropped without [`stop`](Flow::stop), the flow is interrupted, and can be resumed.
pub struct Started {
    pub(super) parts: Box<Parts>,
    pub(super) open: OpenSessions,
    pub(super) machine: FlowMachine,
    pub(super) system_prompt: Option<String>,
    pub(super) control: autonoe_core::RunControl,
}

impl Flow<Created> {
    pub(super) fn created(parts: Parts) -> Self {
        Self {
            state: Created(Box::new(parts)),
        }
    }

    /// Returns what tells versions of the definition apart. Prompts are not in it.
    pub fn fingerprint(&self) -> &str {
        &self.state.0.fingerprint
    }

    /// Starts the flow: looks at the backend, takes over the ledger, begins the journal.
    ///
    /// # Errors
    ///
    /// The sessions cannot be had, the system prompt cannot be used, or the flow
    /// that is to be gone on with was another one: its name, its definition or
    /// its parameters are different. An interrupted flow then stays as it was.
    pub async fn start(self, start: StartOptions) -> Result<Flow<Started>, FlowError> {
        let parts = self.state.0;
        let agent = parts.flow.definition().agent();
        let mut machine = FlowMachine::new(&parts.flow, &start.parameters);
        let system_prompt = system_prompt(&parts, &start.parameters)?;
        let sessions = |machine: &FlowMachine| {
            let limits = parts.options.limits.unwrap_or(*machine.limits());
            parts.options.sessions.clone().keeping(limits.budget)
        };
        let opened = match start.recorded {
            Some(recorded) => {
                let parameters = json(&start.parameters)?;
                is_the_same(&parts, &recorded.start, &parameters)?;
                replay(&mut machine, &recorded)?;
                let sessions = sessions(&machine);
                sessions.reopen(recorded, &start.control).await
            }
            None => {
                let begins = FlowStart::new(agent.name.as_str())
                    .definition(&parts.fingerprint)
                    .parameters(json(&start.parameters)?);
                sessions(&machine).open(begins, &start.control).await
            }
        };
        let open = opened.map_err(not_opened)?;
        if let Some(book) = open.book() {
            parts.ledger.open(book);
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
    /// Returns what decides: where the flow is, and what it has reached.
    pub fn machine(&self) -> &FlowMachine {
        &self.state.machine
    }

    /// Runs the flow until it ends or [stops](FlowEnd::Stopped). One that has ended stays as it is, one
    /// that has stopped is resumed.
    pub async fn run(&mut self) -> FlowEnd {
        driver::run(&mut self.state).await
    }

    /// Stops the flow: records its end, releases everything, and returns the result.
    ///
    /// A flow that has not ended is interrupted and can be resumed, and so can a flow that has
    /// [stopped](FlowEnd::Stopped): its journal stays open.
    pub fn stop(mut self) -> FlowResult {
        let started = &mut self.state;
        let end = match started.machine.action() {
            FlowAction::Finish(end) => end,
            _ => {
                let message = "the flow was stopped before its end";
                let failure = FlowFailure::new(FlowErrorKind::Interrupted, message);
                let fact = driver::failed(started, failure.clone());
                match driver::tell(started, fact, Durability::Synced) {
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
        let result = machine.ended(open.run_id(), end, now);
        let exit = exit(&result.end);
        if result.end.is_resumable() {
            open.break_off(exit);
            return result;
        }
        // It is made of names, texts and numbers alone.
        let told = serde_json::to_value(&result).unwrap_or(Value::Null);
        open.close(exit, told);
        result
    }
}

fn system_prompt(parts: &Parts, parameters: &ParameterValues) -> Result<Option<String>, FlowError> {
    let mut variables: Variables = parameters.variables();
    if let Ok(name) = "flow".parse() {
        let flow = &parts.flow.definition().agent().name;
        variables.insert(name, flow.to_string());
    }
    let Some(prompt) = parts.resolver.resolve_system(&variables)? else {
        return Ok(None);
    };
    prompt.require_defined(&parts.flow.definition().agent().prompts)?;
    Ok(Some(prompt.text))
}

fn json(parameters: &ParameterValues) -> Result<Value, FlowError> {
    serde_json::to_value(parameters).map_err(|error| {
        FlowError::new(
            FlowErrorKind::Parameter,
            "the parameters cannot be written down",
        )
        .because(error)
    })
}

/// Checks that the interrupted flow `begun` is the one to resume.
fn is_the_same(parts: &Parts, begun: &FlowStart, parameters: &Value) -> Result<(), FlowError> {
    let name = &parts.flow.definition().agent().name;
    let differs = |kind, what: &str| {
        let message = format!(
            "the flow `{}` was interrupted, and {what}; put it back as it was, or start anew",
            begun.flow
        );
        Err(FlowError::new(kind, message))
    };
    if begun.flow != name.as_str() {
        let what = format!("this is the flow `{name}`");
        return differs(FlowErrorKind::ConfigurationValidation, &what);
    }
    if begun.definition != parts.fingerprint {
        let what = "its definition was changed since";
        return differs(FlowErrorKind::ConfigurationValidation, what);
    }
    if begun.parameters != *parameters {
        return differs(FlowErrorKind::Parameter, "it had other parameters");
    }
    Ok(())
}

fn not_opened(error: NotOpened) -> FlowError {
    let kind = match &error.report().exit {
        FlowExit::Interrupted => FlowErrorKind::Interrupted,
        FlowExit::BudgetExceeded { .. } => FlowErrorKind::BudgetExceeded,
        FlowExit::Failed { error } => super::outcome::failure(error).kind,
        _ => FlowErrorKind::SdkRefused,
    };
    FlowError::new(kind, error.to_string()).because(error)
}

/// Says how the run ended that the flow was.
fn exit(end: &FlowEnd) -> FlowExit {
    let Some(failure) = end.failure() else {
        return FlowExit::Completed;
    };
    match (failure.kind, failure.budget) {
        (FlowErrorKind::BudgetExceeded, Some(budget)) => FlowExit::BudgetExceeded { budget },
        (FlowErrorKind::Interrupted, _) => FlowExit::Interrupted,
        (FlowErrorKind::SdkRateLimit, _) => FlowExit::QuotaExceeded,
        (kind, _) => FlowExit::Failed {
            error: autonoe_core::Failure::permanent(kind.code(), failure.told()),
        },
    }
}

impl<S: fmt::Debug> fmt::Debug for Flow<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Flow").field(&self.state).finish()
    }
}

impl fmt::Debug for Created {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flow = &self.0.flow.definition().agent().name;
        f.debug_tuple("Created").field(flow).finish()
    }
}

impl fmt::Debug for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Prompts and answers are the user's and do not belong into diagnostics.
        f.debug_struct("Started")
            .field("flow", self.machine.flow())
            .field("run", self.open.run_id())
            .field("iteration", &self.machine.context().iteration())
            .finish_non_exhaustive()
    }
}

/// Applies the recorded facts of an interrupted flow to `machine`. What was under way is lost, and
/// starts again.
pub(super) fn replay(machine: &mut FlowMachine, recorded: &RecordedFlow) -> Result<(), FlowError> {
    for (index, fact) in recorded.facts.iter().enumerate() {
        let fact: FlowFact = serde_json::from_value(fact.clone()).map_err(|error| {
            let message = format!(
                "the journal of the flow cannot be understood at its fact {}",
                index + 1
            );
            FlowError::new(FlowErrorKind::Record, message).because(error)
        })?;
        let _ = machine.apply(fact);
    }
    Ok(())
}

/// Returns a hash of what decides how a flow goes on: `agent.json` and the steps.
///
/// Prompts are left out. They are read anew for each step, and a flow that broke
/// off because of one may go on once it is mended.
///
/// ```
/// use autonoe_flow::{FlowAgent, FlowDefinition, StepsRegistry, fingerprint};
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
/// The definition cannot be written as JSON.
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
