//! A step as a place in a walk: the ways out of it, and what happens before each.

use std::collections::BTreeSet;

use super::edges::{Edge, EdgeKind, calls, edges};
use super::effort::{Effort, effort};
use crate::definition::{AfterFailure, ReturnFlow, Step, StepId, StepsRegistry, Target, WorkStep};

/// A step as a place in a walk.
pub(super) struct Node<'a> {
    pub(super) id: &'a StepId,
    pub(super) is_gateway: bool,
    pub(super) ways: Vec<Way>,
    /// Whether it is wrong in itself, which is told elsewhere.
    pub(super) is_broken: bool,
}

/// A way out of a step, and what happened in the visit.
pub(super) struct Way {
    /// `None` if the flow ends with an error, unless what happened completes it.
    pub(super) to: Option<Target>,
    /// The extremes of what can happen in the visit.
    pub(super) happened: Vec<Happened>,
    /// Whether it leads to the same step, with no other between.
    pub(super) is_in_a_row: bool,
}

/// Returns the place of the step `id`.
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
    let called = calls(step)
        .and_then(|id| registry.step(&id))
        .and_then(|step| step.work())
        .map(|work| (work, effort(work, registry)));
    let done = called.as_ref().map(|(work, effort)| effort.done(work));
    let own = step.work().map(|work| effort(work, registry));
    let mut ways: Vec<Way> = out
        .iter()
        .map(|edge| way(edge, id, own.as_ref(), done.as_ref()))
        .collect();
    if let (Some(own), Step::Normal(work)) = (&own, step) {
        let failing = failing(own, &work.plan().after_failure, called.as_ref());
        ways.extend(failing.into_iter().map(|happens| Way {
            to: None,
            happened: happens.all(),
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

/// Returns what can happen before a flow ends with the error of a step, or of the one that it is escalated to.
fn failing(
    own: &Effort,
    after_failure: &AfterFailure,
    called: Option<&(&WorkStep, Effort)>,
) -> Vec<Extremes> {
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

fn way(edge: &Edge, id: &StepId, own: Option<&Effort>, called: Option<&Extremes>) -> Way {
    let is_escalated = matches!(edge.kind, EdgeKind::Resume | EdgeKind::Restart);
    let happens = match (own, edge.kind) {
        (None, _) => Extremes::nothing(),
        (Some(own), EdgeKind::Pass) => own.pass.clone(),
        (Some(own), EdgeKind::Resume | EdgeKind::Restart) => match called {
            Some(called) => own.fail.then(called),
            None => own.fail.clone(),
        },
        (Some(own), _) => own.fail.clone(),
    };
    Way {
        to: Some(edge.to.clone()),
        happened: happens.all(),
        // Another step is visited in between when one is called for an escalation.
        is_in_a_row: edge.to.step() == Some(id) && !(is_escalated && called.is_some()),
    }
}

/// What happened: iterations, checks, phases that were reached, and whether the agent answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Happened {
    pub(super) iterations: u64,
    pub(super) checks: u64,
    pub(super) phases: BTreeSet<String>,
    pub(super) is_answered: bool,
}

impl Happened {
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

/// The extremes of what can happen: no way brings less than each of the least, or more than each of the most.
///
/// Whatever can be complete after less can be complete after more, so that
/// what lies between them needs no look. Empty means that it cannot happen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Extremes {
    pub(super) least: Vec<Happened>,
    pub(super) most: Vec<Happened>,
}

impl Extremes {
    /// What happens for certain.
    pub(super) fn only(happened: Happened) -> Self {
        Self {
            least: vec![happened.clone()],
            most: vec![happened],
        }
    }

    /// Nothing happens.
    pub(super) fn nothing() -> Self {
        Self::only(Happened::default())
    }

    /// This, and then the other.
    pub(super) fn then(&self, other: &Self) -> Self {
        Self {
            least: lowest(sums(&self.least, &other.least)),
            most: highest(sums(&self.most, &other.most)),
        }
    }

    /// This, or the other.
    pub(super) fn or(mut self, other: &Self) -> Self {
        self.least.extend(other.least.iter().cloned());
        self.most.extend(other.most.iter().cloned());
        Self {
            least: lowest(self.least),
            most: highest(self.most),
        }
    }

    /// This, so many times.
    pub(super) fn times(&self, times: u64) -> Self {
        // By doubling, so that a million new tries are no work.
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

    /// Returns all extremes, each once.
    pub(super) fn all(self) -> Vec<Happened> {
        let mut all = self.least;
        for happened in self.most {
            if !all.contains(&happened) {
                all.push(happened);
            }
        }
        all
    }
}

fn sums(first: &[Happened], second: &[Happened]) -> Vec<Happened> {
    let pairs = first
        .iter()
        .flat_map(|a| second.iter().map(move |b| (a, b)));
    pairs.map(|(a, b)| a.then(b)).collect()
}

fn lowest(all: Vec<Happened>) -> Vec<Happened> {
    extreme(all, Happened::is_at_most)
}

fn highest(all: Vec<Happened>) -> Vec<Happened> {
    extreme(all, |a, b| b.is_at_most(a))
}

/// Keeps what nothing else goes before.
fn extreme(
    all: Vec<Happened>,
    goes_before: impl Fn(&Happened, &Happened) -> bool,
) -> Vec<Happened> {
    let mut kept: Vec<Happened> = Vec::new();
    for one in all {
        if !kept.iter().any(|other| goes_before(other, &one)) {
            kept.retain(|other| !goes_before(&one, other));
            kept.push(one);
        }
    }
    kept
}
