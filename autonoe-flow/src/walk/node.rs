//! Steps as nodes of the graph.

use super::edges::{Edge, EdgeKind, edges, escalation_step};
use super::effort::{StepBounds, VisitBounds, VisitCounts, step_bounds};
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
        ways.extend(bounds.into_iter().map(|visit| OutEdge {
            to: None,
            counts: visit.all(),
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
    let bounds = match (own, edge.kind) {
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
        counts: bounds.all(),
        // An escalation step is visited in between.
        is_in_a_row: edge.to.step() == Some(id) && !(is_escalated && called.is_some()),
    }
}
