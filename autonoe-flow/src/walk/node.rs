//! A step as a place in a walk: the ways out of it, and what happens before each.

use super::edges::{Edge, EdgeKind, calls, edges};
use super::effort::{Effort, effort};
use super::happened::{Extremes, Happened};
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
