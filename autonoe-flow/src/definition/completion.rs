//! [`Completion`]: the completion condition of a flow.

mod composite;
mod kinds;
mod parts;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::port::CompletionSpec;

pub use self::composite::{CompletionCondition, Composite, CompositeMode};
pub use self::kinds::{
    CheckBudget, Deliverables, ExternalState, ExternalStateSource, IterationBudget, KeywordSignal,
    NamedState, PhaseCompletion, StateCommand, StepMachine, StructuredSignal,
};
pub(crate) use self::parts::{CompletionParts, completion_schema};

/// The completion condition of a flow.
///
/// It is checked after each iteration whose step checks are done, and when the steps reach their
/// end. A flow whose steps reach their end while it is not complete has failed.
#[derive(Debug)]
pub enum Completion {
    /// The steps have reached their end.
    StepMachine(StepMachine),
    /// A number of iterations is reached.
    IterationBudget(IterationBudget),
    /// A number of step checks is reached.
    CheckBudget(CheckBudget),
    /// The agent's text contains a keyword.
    KeywordSignal(KeywordSignal),
    /// The agent has sent a structured signal.
    StructuredSignal(StructuredSignal),
    /// A step of a terminal phase has passed.
    PhaseCompletion(PhaseCompletion),
    /// An external state is reached.
    ExternalState(ExternalState),
    /// The deliverables of the ledger have passed.
    Deliverables(Deliverables),
    /// Any or all of several conditions hold.
    Composite(Composite),
    /// A custom condition of the embedder.
    Custom(Box<dyn CompletionSpec>),
}

/// The types of completion conditions.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum CompletionType {
    /// The flow reached the end of its steps.
    StepMachine,
    /// A number of iterations is reached.
    IterationBudget,
    /// A number of step checks is reached.
    CheckBudget,
    /// The agent's text contains a keyword.
    KeywordSignal,
    /// The agent has sent a structured signal.
    StructuredSignal,
    /// A step of a terminal phase has passed.
    PhaseCompletion,
    /// An external state is reached.
    ExternalState,
    /// The deliverables of the ledger have passed.
    Deliverables,
    /// One or all of several conditions hold.
    Composite,
    /// A custom condition of the embedding program.
    Custom,
}

impl Completion {
    /// Returns the type of the condition.
    pub fn completion_type(&self) -> CompletionType {
        match self {
            Self::StepMachine(_) => CompletionType::StepMachine,
            Self::IterationBudget(_) => CompletionType::IterationBudget,
            Self::CheckBudget(_) => CompletionType::CheckBudget,
            Self::KeywordSignal(_) => CompletionType::KeywordSignal,
            Self::StructuredSignal(_) => CompletionType::StructuredSignal,
            Self::PhaseCompletion(_) => CompletionType::PhaseCompletion,
            Self::ExternalState(_) => CompletionType::ExternalState,
            Self::Deliverables(_) => CompletionType::Deliverables,
            Self::Composite(_) => CompletionType::Composite,
            Self::Custom(_) => CompletionType::Custom,
        }
    }

    /// Returns whether the condition, or a part of it, reads the ledger.
    pub fn reads_ledger(&self) -> bool {
        match self {
            Self::Deliverables(_) => true,
            Self::Composite(composite) => composite.any(Self::reads_ledger),
            Self::StepMachine(_)
            | Self::IterationBudget(_)
            | Self::CheckBudget(_)
            | Self::KeywordSignal(_)
            | Self::StructuredSignal(_)
            | Self::PhaseCompletion(_)
            | Self::ExternalState(_)
            | Self::Custom(_) => false,
        }
    }

    /// Returns whether the condition, or a part of it, runs a command.
    pub fn runs_command(&self) -> bool {
        match self {
            Self::ExternalState(state) => matches!(state.source, ExternalStateSource::Command(_)),
            Self::Composite(composite) => composite.any(Self::runs_command),
            Self::StepMachine(_)
            | Self::IterationBudget(_)
            | Self::CheckBudget(_)
            | Self::KeywordSignal(_)
            | Self::StructuredSignal(_)
            | Self::PhaseCompletion(_)
            | Self::Deliverables(_)
            | Self::Custom(_) => false,
        }
    }
}

impl CompletionType {
    /// Returns the name of the type in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::StepMachine => "stepMachine",
            Self::IterationBudget => "iterationBudget",
            Self::CheckBudget => "checkBudget",
            Self::KeywordSignal => "keywordSignal",
            Self::StructuredSignal => "structuredSignal",
            Self::PhaseCompletion => "phaseCompletion",
            Self::ExternalState => "externalState",
            Self::Deliverables => "deliverables",
            Self::Composite => "composite",
            Self::Custom => "custom",
        }
    }
}
