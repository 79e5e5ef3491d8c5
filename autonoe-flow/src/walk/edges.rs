//! Transitions between steps as edges of a graph.

use std::collections::BTreeSet;

use crate::definition::{
    AfterFailure, NotificationMethod, ReturnFlow, Step, StepId, StepsRegistry, Target, WorkStep,
};

/// A transition from one step to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) to: Target,
    pub(crate) kind: EdgeKind,
}

/// The condition of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EdgeKind {
    /// The step passed.
    Pass,
    /// The step failed for good.
    Fail,
    /// The step failed for good and is skipped.
    Skip,
    /// The branch of a gateway with this index holds.
    Branch(usize),
    /// No branch of a gateway holds.
    Default,
    /// The step was escalated and is visited again.
    Resume,
    /// The step was escalated and the flow restarts.
    Restart,
}

/// Returns the transitions of `step`, whose ID is `id`.
pub(crate) fn edges(id: &StepId, step: &Step, registry: &StepsRegistry) -> Vec<Edge> {
    let to = |to: &Target, kind| Edge {
        to: to.clone(),
        kind,
    };
    match step {
        // A sub-step has no transitions; its parent does.
        Step::SubStep(_) => Vec::new(),
        Step::Gateway(gateway) => {
            let branches = gateway.branches.iter().enumerate();
            let default = gateway.default.iter();
            branches
                .map(|(index, branch)| to(&branch.next, EdgeKind::Branch(index)))
                .chain(default.map(|next| to(next, EdgeKind::Default)))
                .collect()
        }
        Step::Normal(work) => {
            let plan = work.plan();
            let pass = plan.on_pass.iter().map(|next| to(next, EdgeKind::Pass));
            let fail = match &plan.after_failure {
                AfterFailure::Error => None,
                AfterFailure::Goto(target) => Some(to(target, EdgeKind::Fail)),
                AfterFailure::Skip => plan.on_pass.as_ref().map(|next| to(next, EdgeKind::Skip)),
                AfterFailure::Escalate(escalation) => match escalation.return_flow {
                    ReturnFlow::Abort => None,
                    ReturnFlow::Resume => Some(to(&id.clone().into(), EdgeKind::Resume)),
                    ReturnFlow::Restart => {
                        let entry = registry.entry_step.clone().into();
                        Some(to(&entry, EdgeKind::Restart))
                    }
                },
            };
            pass.chain(fail).collect()
        }
    }
}

/// Returns the targets of the transitions of `step`.
pub(crate) fn targets(
    id: &StepId,
    step: &Step,
    registry: &StepsRegistry,
) -> impl Iterator<Item = Target> {
    let edges = edges(id, step, registry).into_iter();
    edges.map(|edge| edge.to)
}

/// Returns `first`, and everything that can be reached from it by `next`.
pub(crate) fn reachable<T: Ord + Clone, N: IntoIterator<Item = T>>(
    first: impl IntoIterator<Item = T>,
    next: impl Fn(&T) -> N,
) -> BTreeSet<T> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<T> = first.into_iter().collect();
    while let Some(item) = open.pop() {
        if reached.insert(item.clone()) {
            open.extend(next(&item));
        }
    }
    reached
}

/// Returns the direct and indirect sub-steps of `work`.
pub(crate) fn steps_within(work: &WorkStep, registry: &StepsRegistry) -> BTreeSet<StepId> {
    reachable(work.sub_steps.clone(), |id| {
        let inner = registry.work(id);
        inner.map(|work| work.sub_steps.clone()).unwrap_or_default()
    })
}

/// Returns the step that runs when `step` is escalated.
pub(crate) fn escalation_step(step: &Step) -> Option<StepId> {
    let Step::Normal(work) = step else {
        return None;
    };
    match work.plan().after_failure {
        AfterFailure::Escalate(escalation)
            if escalation.notification_method == NotificationMethod::InAgent =>
        {
            escalation.escalate_to.parse().ok()
        }
        _ => None,
    }
}

/// Returns the steps that run for an escalation, with their sub-steps.
pub(crate) fn escalation_steps(registry: &StepsRegistry) -> BTreeSet<StepId> {
    let called = registry.steps.values().filter_map(escalation_step);
    reachable(called, |id| {
        let work = registry.work(id);
        work.map(|work| work.sub_steps.clone()).unwrap_or_default()
    })
}

/// Kind of the edge that leads to a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reached {
    /// By a transition, so it must have transitions itself.
    ByTransition,
    /// As a sub-step, or for an escalation.
    ByStep,
}

/// Returns the reachable steps.
pub(crate) fn reachable_steps(registry: &StepsRegistry) -> BTreeSet<(StepId, Reached)> {
    let first = (registry.entry_step.clone(), Reached::ByTransition);
    reachable([first], |(id, reached)| {
        let mut next = Vec::new();
        let Some(step) = registry.step(id) else {
            return next;
        };
        let parts = step.work().into_iter().flat_map(|work| &work.sub_steps);
        next.extend(parts.map(|part| (part.clone(), Reached::ByStep)));
        if *reached == Reached::ByTransition {
            let steps = targets(id, step, registry).filter_map(|target| target.step().cloned());
            next.extend(steps.map(|step| (step, Reached::ByTransition)));
            next.extend(escalation_step(step).map(|step| (step, Reached::ByStep)));
        }
        next
    })
}
