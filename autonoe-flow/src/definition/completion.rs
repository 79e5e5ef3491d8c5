//! When a flow is complete.

mod composite;
mod kinds;
mod parts;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::port::CompletionSpec;

pub use self::composite::{Composite, CompositeMode, Condition};
pub use self::kinds::{
    CheckBudget, Deliverables, ExternalState, ExternalStateSource, IterationBudget, KeywordSignal,
    NamedState, PhaseCompletion, StateCommand, StepMachine, StructuredSignal,
};
pub(crate) use self::parts::{CompletionParts, completion_schema};

/// When a flow is complete.
///
/// It is asked after each iteration whose checks are done, and when the steps have
/// come to their end.
/// A flow whose steps have come to their end while it is not complete has
/// failed.
#[derive(Debug)]
pub enum Completion {
    /// The steps have come to their end.
    StepMachine(StepMachine),
    /// There were so many iterations.
    IterationBudget(IterationBudget),
    /// So many checks of steps were made.
    CheckBudget(CheckBudget),
    /// The agent has said a word.
    KeywordSignal(KeywordSignal),
    /// The agent has given a structured signal.
    StructuredSignal(StructuredSignal),
    /// A step of a last phase has passed.
    PhaseCompletion(PhaseCompletion),
    /// Something outside says so.
    ExternalState(ExternalState),
    /// The deliverables of the ledger have passed.
    Deliverables(Deliverables),
    /// Several conditions, of which one or all must hold.
    Composite(Composite),
    /// A condition of the embedder's own.
    Custom(Box<dyn CompletionSpec>),
}

/// The names of the ways in which a flow can be complete.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum CompletionType {
    /// The steps have come to their end.
    StepMachine,
    /// There were so many iterations.
    IterationBudget,
    /// So many checks of steps were made.
    CheckBudget,
    /// The agent has said a word.
    KeywordSignal,
    /// The agent has given a structured signal.
    StructuredSignal,
    /// A step of a last phase has passed.
    PhaseCompletion,
    /// Something outside says so.
    ExternalState,
    /// The deliverables of the ledger have passed.
    Deliverables,
    /// Several conditions, of which one or all must hold.
    Composite,
    /// A condition of the embedder's own.
    Custom,
}

impl Completion {
    /// Returns the name of the way.
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
}

impl CompletionType {
    /// Returns the name as it stands in a file.
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
