//! From a definition to what tells whether the flow is complete.

use std::fmt;
use std::sync::Arc;

use autonoe_core::SpecContext;

use super::composite::{Part, Several};
use super::deliverables::DeliverablesPassed;
use super::external::External;
use super::rules::Ruled;
use super::{ExternalStates, LedgerSource};
use crate::command::{CommandRunner, NoCommands};
use crate::definition::{Completion, Composite, ExternalStateSource};
use crate::error::{FlowError, FlowErrorKind};
use crate::port::CompletionHandler;

/// What conditions need beside the flow itself.
#[derive(Clone)]
pub struct CompletionDependencies {
    specs: SpecContext,
    states: ExternalStates,
    commands: Arc<dyn CommandRunner>,
    ledger: Option<Arc<dyn LedgerSource>>,
}

impl CompletionDependencies {
    /// Has no states, no commands and no ledger; `specs` is for conditions of the embedder's own.
    pub fn new(specs: SpecContext) -> Self {
        Self {
            specs,
            states: ExternalStates::default(),
            commands: Arc::new(NoCommands),
            ledger: None,
        }
    }

    /// Sets the states that the embedder knows.
    #[must_use]
    pub fn with_states(mut self, states: ExternalStates) -> Self {
        self.states = states;
        self
    }

    /// Sets who runs commands.
    #[must_use]
    pub fn with_commands(mut self, commands: impl CommandRunner + 'static) -> Self {
        self.commands = Arc::new(commands);
        self
    }

    /// Sets where the deliverables are.
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

/// Makes what tells whether a flow is complete.
///
/// # Errors
///
/// Something that a condition names is not there; the kind is
/// [`FlowErrorKind::DependencyResolution`], and the sentence names it.
///
/// ```
/// use autonoe_core::{ProjectPaths, SpecContext};
/// use autonoe_flow::{
///     Behavior, CompletionContext, CompletionDependencies, FlowProgress, build_completion,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let behavior: Behavior = serde_json::from_str(
///     r#"{"completionType": "iterationBudget", "completionConfig": {"maxIterations": 1}}"#,
/// )?;
/// let needed = CompletionDependencies::new(SpecContext::new(ProjectPaths::new("/srv/project")));
/// let mut completion = build_completion(&behavior.completion, &needed)?;
///
/// let step = "draft".parse()?;
/// let mut progress = FlowProgress::default();
/// progress.note_iteration();
/// let now = CompletionContext::new(&step, &progress).expect("there was an iteration");
/// completion.check(&now).await?;
///
/// assert!(completion.is_complete());
/// assert_eq!(completion.reason(), "the iterations so far: 1");
/// # Ok(())
/// # }
/// ```
pub fn build_completion(
    completion: &Completion,
    needed: &CompletionDependencies,
) -> Result<Box<dyn CompletionHandler>, FlowError> {
    Ok(match completion {
        Completion::StepMachine(rule) => Box::new(Ruled::by(*rule)),
        Completion::IterationBudget(rule) => Box::new(Ruled::by(*rule)),
        Completion::CheckBudget(rule) => Box::new(Ruled::by(*rule)),
        Completion::KeywordSignal(rule) => Box::new(Ruled::by(rule.clone())),
        Completion::StructuredSignal(rule) => Box::new(Ruled::by(rule.clone())),
        Completion::PhaseCompletion(rule) => Box::new(Ruled::by(rule.clone())),
        Completion::ExternalState(state) => Box::new(external(&state.source, needed)?),
        Completion::Deliverables(wanted) => {
            let source = needed.ledger.clone();
            let source = source.ok_or_else(|| unresolved("there is no ledger of deliverables"))?;
            Box::new(DeliverablesPassed::new(wanted.clone(), source))
        }
        Completion::Composite(composite) => Box::new(several(composite, needed)?),
        Completion::Custom(spec) => spec.build(&needed.specs).map_err(|error| {
            unresolved("a condition of your own could not be built").because(error)
        })?,
    })
}

fn external(
    source: &ExternalStateSource,
    needed: &CompletionDependencies,
) -> Result<External, FlowError> {
    match source {
        ExternalStateSource::Command(command) => {
            needed.commands.resolve(&command.command)?;
            Ok(External::command(command, Arc::clone(&needed.commands)))
        }
        ExternalStateSource::Named(state) => {
            let name = &state.name;
            let probe = needed.states.get(name).ok_or_else(|| {
                let known: Vec<&str> = needed.states.names().collect();
                let known = match known.is_empty() {
                    true => "none is registered".to_owned(),
                    false => format!("registered are `{}`", known.join("`, `")),
                };
                unresolved(format!("there is no state `{name}`; {known}"))
            })?;
            Ok(External::named(name, Arc::clone(probe)))
        }
    }
}

fn several(composite: &Composite, needed: &CompletionDependencies) -> Result<Several, FlowError> {
    let parts = composite.conditions.iter().map(|condition| {
        Ok(Part {
            name: condition.name.clone(),
            handler: build_completion(&condition.completion, needed)?,
        })
    });
    let parts: Result<Vec<Part>, FlowError> = parts.collect();
    Ok(Several::new(composite.mode, parts?))
}

fn unresolved(message: impl Into<String>) -> FlowError {
    FlowError::new(FlowErrorKind::DependencyResolution, message)
}
