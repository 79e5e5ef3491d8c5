//! Bounds of the iterations, checks and phases of a visit, including retries and sub-steps.

use std::collections::BTreeSet;

use super::node::{VisitBounds, VisitCounts};
use crate::definition::{AfterFailure, Step, StepId, StepsRegistry, WorkStep};

/// Bounds of a visit, by its outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StepBounds {
    pub(super) pass: VisitBounds,
    /// Empty if the step cannot fail.
    pub(super) fail: VisitBounds,
}

impl StepBounds {
    /// Returns the bounds if the flow continues after a step that another one runs: it passed or
    /// was skipped.
    pub(super) fn done(&self, work: &WorkStep) -> VisitBounds {
        match work.plan().after_failure {
            AfterFailure::Skip => self.pass.clone().or(&self.fail),
            _ => self.pass.clone(),
        }
    }
}

/// Returns the bounds of a visit of `work`.
pub(super) fn step_bounds(work: &WorkStep, registry: &StepsRegistry) -> StepBounds {
    effort_within(work, registry, &mut Vec::new())
}

/// Computes the bounds; `above` are the enclosing steps, which terminates cycles of sub-steps.
fn effort_within<'a>(
    work: &'a WorkStep,
    registry: &'a StepsRegistry,
    above: &mut Vec<&'a StepId>,
) -> StepBounds {
    let mut so_far = VisitBounds::nothing();
    let mut fail = VisitBounds::default();
    if work.prompt.is_some() {
        let prompted = |is_answered| {
            VisitBounds::only(VisitCounts {
                iterations: 1,
                is_answered,
                ..VisitCounts::default()
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
        let inner = effort_within(sub, registry, above);
        above.pop();
        if sub.plan().after_failure != AfterFailure::Skip {
            fail = fail.or(&so_far.then(&inner.fail));
        }
        so_far = so_far.then(&inner.done(sub));
    }
    if work.check.is_some() {
        // The check may have no verdict.
        fail = fail.or(&so_far);
        so_far = so_far.then(&VisitBounds::only(VisitCounts {
            checks: 1,
            ..VisitCounts::default()
        }));
        fail = fail.or(&so_far);
    }
    let pass = so_far.then(&VisitBounds::only(VisitCounts {
        phases: work.phase.iter().cloned().collect(),
        ..VisitCounts::default()
    }));
    let retries = u64::from(work.plan().max_retries);
    let after_failures = fail.times(retries).then(&pass);
    StepBounds {
        pass: pass.or(&after_failures),
        fail: fail.times(retries.saturating_add(1)),
    }
}

/// Returns the direct and indirect sub-steps of `work`, without duplicates.
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

/// Returns the maximum numbers of iterations and checks that the limits of visits allow.
pub(crate) fn max_iterations_and_checks(registry: &StepsRegistry) -> (u64, u64) {
    let visits = u64::from(registry.limits.max_visits);
    let (mut iterations, mut checks) = (0_u64, 0_u64);
    for step in registry.steps.values() {
        if let Step::Normal(work) = step {
            let effort = step_bounds(work, registry);
            let most = || effort.pass.most.iter().chain(&effort.fail.most);
            let in_step = most().map(|it| it.iterations).max().unwrap_or(0);
            iterations = iterations.saturating_add(in_step);
            checks = checks.saturating_add(most().map(|it| it.checks).max().unwrap_or(0));
        }
    }
    (
        iterations.saturating_mul(visits),
        checks.saturating_mul(visits),
    )
}

/// The completion condition, as far as the graph determines it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Formula {
    /// The steps reached their end.
    End,
    /// A number of iterations is reached.
    Iterations(u64),
    /// A number of checks is reached.
    Checks(u64),
    /// A step of one of these phases passed.
    Phases(Vec<String>),
    /// It may hold after any iteration, which is unpredictable.
    Free,
    /// One of these holds.
    Any(Vec<Formula>),
    /// All of these hold.
    All(Vec<Formula>),
}

impl Formula {
    /// Collects the formulas without parts.
    pub(super) fn leaves<'a>(&'a self, found: &mut Vec<&'a Formula>) {
        match self {
            Self::Any(parts) | Self::All(parts) => {
                parts.iter().for_each(|part| part.leaves(found));
            }
            leaf => found.push(leaf),
        }
    }

    /// Evaluates the formula; `holds` evaluates the formulas without parts.
    pub(super) fn holds(&self, holds: &impl Fn(&Formula) -> bool) -> bool {
        match self {
            Self::Any(parts) => parts.iter().any(|part| part.holds(holds)),
            Self::All(parts) => parts.iter().all(|part| part.holds(holds)),
            leaf => holds(leaf),
        }
    }
}
