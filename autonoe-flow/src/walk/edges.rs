//! Transitions between steps as edges of a graph.

use std::collections::BTreeSet;

use super::effort::steps_within;
use crate::definition::{
    AfterFailure, NotificationMethod, ReturnFlow, Step, StepId, StepsRegistry, Target,
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
            let branches =
                branches.map(|(index, branch)| to(&branch.next, EdgeKind::Branch(index)));
            let default = gateway.default.iter();
            branches
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
    let mut found = BTreeSet::new();
    for id in registry.steps.values().filter_map(escalation_step) {
        let work = registry.step(&id).and_then(|step| step.work());
        found.extend(work.map_or_else(BTreeSet::new, |work| steps_within(work, registry)));
        found.insert(id);
    }
    found
}

/// The steps that are reachable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReachableSteps {
    /// Steps that a transition leads to, which must have transitions themselves.
    pub(crate) visited: BTreeSet<StepId>,
    /// The visited steps, their sub-steps, and the steps that run for an escalation.
    pub(crate) run: BTreeSet<StepId>,
}

/// Returns the reachable steps.
pub(crate) fn reachable_steps(registry: &StepsRegistry) -> ReachableSteps {
    let mut found = ReachableSteps::default();
    let mut open = vec![(registry.entry_step.clone(), true)];
    while let Some((id, is_visit)) = open.pop() {
        let Some(step) = registry.step(&id) else {
            continue;
        };
        let is_new = found.run.insert(id.clone());
        let is_new_visit = is_visit && found.visited.insert(id.clone());
        if is_new {
            let parts = step.work().into_iter().flat_map(|work| &work.sub_steps);
            open.extend(parts.map(|part| (part.clone(), false)));
        }
        if is_new_visit {
            let targets = edges(&id, step, registry).into_iter().map(|edge| edge.to);
            let steps = targets.filter_map(|target| target.step().cloned());
            open.extend(steps.map(|step| (step, true)));
            open.extend(escalation_step(step).map(|step| (step, false)));
        }
    }
    found
}
