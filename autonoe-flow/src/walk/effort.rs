//! Bounds of the iterations, checks and phases of a visit, including retries and sub-steps.

use std::collections::BTreeSet;

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
    let mut so_far = VisitBounds::empty();
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
        let Some(sub) = registry.work(id).filter(|_| !above.contains(&id)) else {
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

/// Counts of iterations and checks, reached phases, and whether the agent answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct VisitCounts {
    pub(super) iterations: u64,
    pub(super) checks: u64,
    pub(super) phases: BTreeSet<String>,
    pub(super) is_answered: bool,
}

impl VisitCounts {
    fn then(&self, other: &Self) -> Self {
        Self {
            iterations: self.iterations.saturating_add(other.iterations),
            checks: self.checks.saturating_add(other.checks),
            phases: self.phases.union(&other.phases).cloned().collect(),
            is_answered: self.is_answered || other.is_answered,
        }
    }

    fn is_at_most(&self, other: &Self) -> bool {
        self.iterations <= other.iterations
            && self.checks <= other.checks
            && self.phases.is_subset(&other.phases)
            && self.is_answered <= other.is_answered
    }
}

/// Lower and upper bounds of what can happen: no path has less than each of `least`, or more than
/// each of `most`.
///
/// A condition that holds after less also holds after more, so the cases in between need not be
/// explored. Empty bounds mean that it cannot happen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct VisitBounds {
    pub(super) least: Vec<VisitCounts>,
    pub(super) most: Vec<VisitCounts>,
}

impl VisitBounds {
    /// Creates bounds for exactly one possibility.
    pub(super) fn only(counts: VisitCounts) -> Self {
        Self {
            least: vec![counts.clone()],
            most: vec![counts],
        }
    }

    /// Nothing happens.
    pub(super) fn empty() -> Self {
        Self::only(VisitCounts::default())
    }

    /// This, followed by `other`.
    pub(super) fn then(&self, other: &Self) -> Self {
        Self {
            least: lowest(sums(&self.least, &other.least)),
            most: highest(sums(&self.most, &other.most)),
        }
    }

    /// This or `other`.
    pub(super) fn or(mut self, other: &Self) -> Self {
        self.least.extend(other.least.iter().cloned());
        self.most.extend(other.most.iter().cloned());
        Self {
            least: lowest(self.least),
            most: highest(self.most),
        }
    }

    /// This, repeated `times` times.
    pub(super) fn times(&self, times: u64) -> Self {
        // By repeated doubling, so that a million retries are cheap.
        let (mut all, mut power, mut rest) = (Self::empty(), self.clone(), times);
        while rest > 0 {
            if rest % 2 == 1 {
                all = all.then(&power);
            }
            rest /= 2;
            if rest > 0 {
                power = power.then(&power.clone());
            }
        }
        all
    }

    /// Returns all bounds, without duplicates.
    pub(super) fn all(self) -> Vec<VisitCounts> {
        let mut all = self.least;
        for counts in self.most {
            if !all.contains(&counts) {
                all.push(counts);
            }
        }
        all
    }
}

fn sums(first: &[VisitCounts], second: &[VisitCounts]) -> Vec<VisitCounts> {
    let pairs = first
        .iter()
        .flat_map(|a| second.iter().map(move |b| (a, b)));
    pairs.map(|(a, b)| a.then(b)).collect()
}

fn lowest(all: Vec<VisitCounts>) -> Vec<VisitCounts> {
    non_dominated(all, VisitCounts::is_at_most)
}

fn highest(all: Vec<VisitCounts>) -> Vec<VisitCounts> {
    non_dominated(all, |a, b| b.is_at_most(a))
}

/// Keeps the elements without a better one.
fn non_dominated(
    all: Vec<VisitCounts>,
    is_better: impl Fn(&VisitCounts, &VisitCounts) -> bool,
) -> Vec<VisitCounts> {
    let mut best: Vec<VisitCounts> = Vec::new();
    for one in all {
        if !best.iter().any(|other| is_better(other, &one)) {
            best.retain(|other| !is_better(&one, other));
            best.push(one);
        }
    }
    best
}
