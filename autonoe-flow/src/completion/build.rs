//! Builds the [`CompletionHandler`] of a definition.

use std::fmt;
use std::sync::Arc;

use autonoe_core::spec::SpecContext;

use super::composite::{CompositeHandler, Part};
use super::deliverables::DeliverablesPassed;
use super::external::ExternalStateHandler;
use super::rules::RuleHandler;
use super::{ExternalStates, LedgerSource};
use crate::command::{CommandRunner, NoCommands};
use crate::definition::{Completion, Composite, ExternalStateSource};
use crate::error::{FlowError, FlowErrorKind};
use crate::port::CompletionHandler;

/// Dependencies of completion conditions, beside the flow itself.
#[derive(Clone)]
pub struct CompletionDependencies {
    specs: SpecContext,
    states: ExternalStates,
    commands: Arc<dyn CommandRunner>,
    ledger: Option<Arc<dyn LedgerSource>>,
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

/// Builds the handler that decides whether a flow is complete.
///
/// # Errors
///
/// A dependency of a condition is missing. The kind is [`FlowErrorKind::DependencyResolution`], and
/// the message names the dependency.
///
/// ```
/// use autonoe_core::gate::ProjectPaths;
/// use autonoe_core::spec::SpecContext;
/// use autonoe_flow::completion::{CompletionDependencies, build_completion};
/// use autonoe_flow::definition::Behavior;
/// use autonoe_flow::port::CompletionContext;
/// use autonoe_flow::progress::FlowProgress;
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
/// progress.record_iteration();
/// let now = CompletionContext::new(&step, &progress).expect("there was an iteration");
/// completion.check(&now).await?;
///
/// assert!(completion.is_complete());
/// assert_eq!(completion.reason(), "iterations so far: 1");
/// # Ok(())
/// # }
/// ```
pub fn build_completion(
    completion: &Completion,
    needed: &CompletionDependencies,
) -> Result<Box<dyn CompletionHandler>, FlowError> {
    Ok(match completion {
        Completion::StepMachine(rule) => Box::new(RuleHandler::new(*rule)),
        Completion::IterationBudget(rule) => Box::new(RuleHandler::new(*rule)),
        Completion::CheckBudget(rule) => Box::new(RuleHandler::new(*rule)),
        Completion::KeywordSignal(rule) => Box::new(RuleHandler::new(rule.clone())),
        Completion::StructuredSignal(rule) => Box::new(RuleHandler::new(rule.clone())),
        Completion::PhaseCompletion(rule) => Box::new(RuleHandler::new(rule.clone())),
        Completion::ExternalState(state) => Box::new(external(&state.source, needed)?),
        Completion::Deliverables(wanted) => {
            let source = needed.ledger.clone();
            let source =
                source.ok_or_else(|| unresolved("the project has no ledger of deliverables"))?;
            Box::new(DeliverablesPassed::new(wanted.clone(), source))
        }
        Completion::Composite(composite) => Box::new(several(composite, needed)?),
        Completion::Custom(spec) => spec.build(&needed.specs).map_err(|error| {
            unresolved("the custom condition could not be built").because(error)
        })?,
    })
}

fn external(
    source: &ExternalStateSource,
    needed: &CompletionDependencies,
) -> Result<ExternalStateHandler, FlowError> {
    match source {
        ExternalStateSource::Command(command) => {
            needed.commands.resolve(&command.command)?;
            Ok(ExternalStateHandler::command(
                command,
                Arc::clone(&needed.commands),
            ))
        }
        ExternalStateSource::Named(state) => {
            let name = &state.name;
            let probe = needed.states.get(name).ok_or_else(|| {
                let known: Vec<&str> = needed.states.names().collect();
                let known = if known.is_empty() {
                    "no state is registered".to_owned()
                } else {
                    format!("known states: `{}`", known.join("`, `"))
                };
                unresolved(format!("the state `{name}` is not registered; {known}"))
            })?;
            Ok(ExternalStateHandler::named(name, Arc::clone(probe)))
        }
    }
}

fn several(
    composite: &Composite,
    needed: &CompletionDependencies,
) -> Result<CompositeHandler, FlowError> {
    let parts = composite.conditions.iter().map(|condition| {
        Ok(Part {
            name: condition.name.clone(),
            handler: build_completion(&condition.completion, needed)?,
        })
    });
    let parts: Result<Vec<Part>, FlowError> = parts.collect();
    Ok(CompositeHandler::new(composite.mode, parts?))
}

fn unresolved(message: impl Into<String>) -> FlowError {
    FlowError::new(FlowErrorKind::DependencyResolution, message)
}
