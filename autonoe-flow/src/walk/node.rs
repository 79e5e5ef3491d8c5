//! Steps as nodes of the graph, with bounds of what happens in a visit.

use std::collections::BTreeSet;

use super::edges::{Edge, EdgeKind, edges, escalation_step};
use super::effort::{StepBounds, step_bounds};
use crate::definition::{AfterFailure, ReturnFlow, Step, StepId, StepsRegistry, Target, WorkStep};

/// A step as a node of the graph.
pub(super) struct Node<'a> {
    pub(super) id: &'a StepId,
    pub(super) is_gateway: bool,
    pub(super) ways: Vec<OutEdge>,
    /// Whether the step itself is invalid, which other validations report.
    pub(super) is_broken: bool,
}

/// A transition of a step, and what happened in the visit.
pub(super) struct OutEdge {
    /// `None` if the flow ends with an error, unless what happened completes it.
    pub(super) to: Option<Target>,
    /// The bounds of what can happen in the visit.
    pub(super) counts: Vec<VisitCounts>,
    /// Whether it leads to the same step, without another step in between.
    pub(super) is_in_a_row: bool,
}

/// Returns the node of the step `id`.
pub(super) fn node<'a>(id: &'a StepId, step: &'a Step, registry: &'a StepsRegistry) -> Node<'a> {
    let out = edges(id, step, registry);
    let is_broken = match step {
        Step::SubStep(_) => true,
        Step::Gateway(gateway) => gateway.default.is_none(),
        Step::Normal(work) => {
            let is_there = |id| registry.step(id).is_some_and(|step| step.work().is_some());
            let does_nothing = work.prompt.is_none() && !work.sub_steps.iter().any(is_there);
            work.plan().on_pass.is_none() || does_nothing
        }
    };
    let called = escalation_step(step)
        .and_then(|id| registry.step(&id))
        .and_then(|step| step.work())
        .map(|work| (work, step_bounds(work, registry)));
    let done = called.as_ref().map(|(work, effort)| effort.done(work));
    let own = step.work().map(|work| step_bounds(work, registry));
    let mut ways: Vec<OutEdge> = out
        .iter()
        .map(|edge| way(edge, id, own.as_ref(), done.as_ref()))
        .collect();
    if let (Some(own), Step::Normal(work)) = (&own, step) {
        let bounds = failure_bounds(own, &work.plan().after_failure, called.as_ref());
        ways.extend(bounds.into_iter().map(|happens| OutEdge {
            to: None,
            counts: happens.all(),
            is_in_a_row: false,
        }));
    }
    Node {
        id,
        is_gateway: step.work().is_none(),
        ways,
        is_broken,
    }
}

/// Returns what can happen before a flow ends with the error of a step, or of its escalation step.
fn failure_bounds(
    own: &StepBounds,
    after_failure: &AfterFailure,
    called: Option<&(&WorkStep, StepBounds)>,
) -> Vec<VisitBounds> {
    match (after_failure, called) {
        (AfterFailure::Error, _) => vec![own.fail.clone()],
        (AfterFailure::Escalate(escalation), called) => {
            let is_abort = escalation.return_flow == ReturnFlow::Abort;
            match called {
                Some((work, effort)) => {
                    let done = is_abort.then(|| own.fail.then(&effort.done(work)));
                    done.into_iter()
                        .chain([own.fail.then(&effort.fail)])
                        .collect()
                }
                None if is_abort => vec![own.fail.clone()],
                None => Vec::new(),
            }
        }
        (AfterFailure::Goto(_) | AfterFailure::Skip, _) => Vec::new(),
    }
}

fn way(
    edge: &Edge,
    id: &StepId,
    own: Option<&StepBounds>,
    called: Option<&VisitBounds>,
) -> OutEdge {
    let is_escalated = matches!(edge.kind, EdgeKind::Resume | EdgeKind::Restart);
    let happens = match (own, edge.kind) {
        (None, _) => VisitBounds::nothing(),
        (Some(own), EdgeKind::Pass) => own.pass.clone(),
        (Some(own), EdgeKind::Resume | EdgeKind::Restart) => match called {
            Some(called) => own.fail.then(called),
            None => own.fail.clone(),
        },
        (Some(own), _) => own.fail.clone(),
    };
    OutEdge {
        to: Some(edge.to.clone()),
        counts: happens.all(),
        // An escalation step is visited in between.
        is_in_a_row: edge.to.step() == Some(id) && !(is_escalated && called.is_some()),
    }
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
    pub(super) fn only(happened: VisitCounts) -> Self {
        Self {
            least: vec![happened.clone()],
            most: vec![happened],
        }
    }

    /// Nothing happens.
    pub(super) fn nothing() -> Self {
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
        let (mut all, mut power, mut rest) = (Self::nothing(), self.clone(), times);
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
        for happened in self.most {
            if !all.contains(&happened) {
                all.push(happened);
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
    extreme(all, VisitCounts::is_at_most)
}

fn highest(all: Vec<VisitCounts>) -> Vec<VisitCounts> {
    extreme(all, |a, b| b.is_at_most(a))
}

/// Keeps the elements without a better one.
fn extreme(
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
