//! How much happens in a visit of a step, new tries and sub-steps included.

use std::collections::BTreeSet;

use super::node::{Extremes, Happened};
use crate::definition::{
    AfterFailure, Completion, CompositeMode, Step, StepId, StepsRegistry, WorkStep,
};

/// How much happens in a visit that ends in one way or the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Effort {
    pub(super) pass: Extremes,
    /// Empty if the step cannot fail.
    pub(super) fail: Extremes,
}

impl Effort {
    /// What happens when the flow goes on behind a step that another runs: it passed, or was passed over.
    pub(super) fn done(&self, work: &WorkStep) -> Extremes {
        match work.plan().after_failure {
            AfterFailure::Skip => self.pass.clone().or(&self.fail),
            _ => self.pass.clone(),
        }
    }
}

/// Returns how much happens in a visit of `work`.
pub(super) fn effort(work: &WorkStep, registry: &StepsRegistry) -> Effort {
    within(work, registry, &mut Vec::new())
}

/// `above` are the steps around it, so that sub-steps that contain each other come to an end.
fn within<'a>(
    work: &'a WorkStep,
    registry: &'a StepsRegistry,
    above: &mut Vec<&'a StepId>,
) -> Effort {
    let mut so_far = Extremes::nothing();
    let mut fail = Extremes::default();
    if work.prompt.is_some() {
        let prompted = |is_answered| {
            Extremes::only(Happened {
                iterations: 1,
                is_answered,
                ..Happened::default()
            })
        };
        so_far = prompted(true);
        // The agent may fail.
        fail = prompted(false);
    }
    for id in &work.sub_steps {
        let sub = registry.step(id).and_then(|step| step.work());
        let Some(sub) = sub.filter(|_| !above.contains(&id)) else {
            continue;
        };
        above.push(id);
        let inner = within(sub, registry, above);
        above.pop();
        if sub.plan().after_failure != AfterFailure::Skip {
            fail = fail.or(&so_far.then(&inner.fail));
        }
        so_far = so_far.then(&inner.done(sub));
    }
    if work.check.is_some() {
        // It may come to no verdict.
        fail = fail.or(&so_far);
        so_far = so_far.then(&Extremes::only(Happened {
            checks: 1,
            ..Happened::default()
        }));
        fail = fail.or(&so_far);
    }
    let pass = so_far.then(&Extremes::only(Happened {
        phases: work.phase.iter().cloned().collect(),
        ..Happened::default()
    }));
    let retries = u64::from(work.plan().max_retries);
    let after_failures = fail.times(retries).then(&pass);
    Effort {
        pass: pass.or(&after_failures),
        fail: fail.times(retries.saturating_add(1)),
    }
}

/// Returns the sub-steps of `work`, and theirs, each once.
pub(crate) fn steps_within(work: &WorkStep, registry: &StepsRegistry) -> BTreeSet<StepId> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&StepId> = work.sub_steps.iter().collect();
    while let Some(id) = open.pop() {
        if found.insert(id.clone()) {
            let inner = registry.step(id).and_then(|step| step.work());
            open.extend(inner.into_iter().flat_map(|work| &work.sub_steps));
        }
    }
    found
}

/// Returns how many iterations and checks the limits of visits let happen at most.
pub(crate) fn most_that_happens(registry: &StepsRegistry) -> (u64, u64) {
    let visits = u64::from(registry.limits.max_visits);
    let (mut iterations, mut checks) = (0_u64, 0_u64);
    for step in registry.steps.values() {
        if let Step::Normal(work) = step {
            let effort = effort(work, registry);
            let most = || effort.pass.most.iter().chain(&effort.fail.most);
            let of_step = most().map(|it| it.iterations).max().unwrap_or(0);
            iterations = iterations.saturating_add(of_step);
            checks = checks.saturating_add(most().map(|it| it.checks).max().unwrap_or(0));
        }
    }
    (
        iterations.saturating_mul(visits),
        checks.saturating_mul(visits),
    )
}

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
