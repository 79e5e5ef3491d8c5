//! A completion as a formula over what happened in a walk.

use crate::definition::{Completion, CompositeMode};

/// When a flow is complete, as far as a walk can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Formula {
    /// The steps came to their end.
    End,
    /// There were so many iterations.
    Iterations(u64),
    /// There were so many checks.
    Checks(u64),
    /// A step of one of these phases passed.
    Phases(Vec<String>),
    /// It may hold after any iteration, which nobody can foresee.
    Free,
    /// One of these holds.
    Any(Vec<Formula>),
    /// All of these hold.
    All(Vec<Formula>),
}

impl Formula {
    /// Returns the formula of `completion`.
    pub(crate) fn of(completion: &Completion) -> Self {
        match completion {
            Completion::StepMachine(_) => Self::End,
            Completion::IterationBudget(budget) => {
                Self::Iterations(u64::from(budget.max_iterations))
            }
            Completion::CheckBudget(budget) => Self::Checks(u64::from(budget.max_checks)),
            Completion::PhaseCompletion(phases) => Self::Phases(phases.terminal_phases.clone()),
            Completion::KeywordSignal(_)
            | Completion::StructuredSignal(_)
            | Completion::ExternalState(_)
            | Completion::Deliverables(_)
            | Completion::Custom(_) => Self::Free,
            Completion::Composite(composite) => {
                let conditions = composite.conditions.iter();
                let parts: Vec<Self> = conditions
                    .map(|condition| Self::of(&condition.completion))
                    .collect();
                match (composite.mode, parts.is_empty()) {
                    // It is refused for another reason.
                    (_, true) => Self::Free,
                    (CompositeMode::Any, false) => Self::Any(parts),
                    (CompositeMode::All, false) => Self::All(parts),
                }
            }
        }
    }

    /// Lists the formulas without parts.
    pub(super) fn leaves<'a>(&'a self, found: &mut Vec<&'a Formula>) {
        match self {
            Self::Any(parts) | Self::All(parts) => {
                parts.iter().for_each(|part| part.leaves(found));
            }
            leaf => found.push(leaf),
        }
    }

    /// Tells whether it holds, if `holds` tells so for the formulas without parts.
    pub(super) fn holds(&self, holds: &impl Fn(&Formula) -> bool) -> bool {
        match self {
            Self::Any(parts) => parts.iter().any(|part| part.holds(holds)),
            Self::All(parts) => parts.iter().all(|part| part.holds(holds)),
            leaf => holds(leaf),
        }
    }
}
