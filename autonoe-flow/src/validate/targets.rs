//! Validates the targets of steps and the types of sub-steps, and that no step contains itself.

use std::collections::BTreeSet;

use autonoe_core::project::config_parts::did_you_mean;

use super::findings::Findings;
use crate::definition::{OnExhausted, Step, StepId, StepType, Target, WorkStep};
use crate::finding::FindingKind::{SubStep, SubStepCycle, UnknownStep, UnreachableStep};
use crate::walk::{reachable_steps, steps_within};

pub(super) fn check(found: &mut Findings<'_>) {
    let entry = found.registry.entry_step.clone();
    target(found, &entry, "/entryStep".to_owned());
    for (_, step, at) in found.steps() {
        match step {
            Step::Gateway(gateway) => {
                for (index, branch) in gateway.branches.iter().enumerate() {
                    let pointer = format!("{at}/branches/{index}/next");
                    target_or_end(found, &branch.next, pointer);
                }
                if let Some(next) = &gateway.default {
                    target_or_end(found, next, format!("{at}/default"));
                }
            }
            Step::Normal(work) => {
                for (pointer, next) in named(work) {
                    target_or_end(found, &next, format!("{at}/{pointer}"));
                }
            }
            // A sub-step must not have targets, which the validation of sub-steps reports.
            Step::SubStep(_) => {}
        }
    }
    unreachable(found);
}

/// Returns every target in the definition of a step, with its pointer.
fn named(work: &WorkStep) -> Vec<(&'static str, Target)> {
    let transition = work.transition.as_ref();
    let check = work.check.as_ref();
    let policy = work.retry.as_ref();
    let step = |id: Option<&StepId>| id.cloned().map(Target::from);
    [
        ("transition/next", transition.and_then(|it| it.next.clone())),
        (
            "transition/fallback",
            step(transition.and_then(|it| it.fallback.as_ref())),
        ),
        (
            "check/onPass/next",
            check.and_then(|it| it.on_pass().next.clone()),
        ),
        (
            "check/onFail/next",
            check.and_then(|it| it.on_fail().next.clone()),
        ),
        (
            "check/onFail/fallback",
            step(check.and_then(|it| it.on_fail().fallback.as_ref())),
        ),
        (
            "retry/fallbackStep",
            step(policy.and_then(|it| it.fallback_step.as_ref())),
        ),
    ]
    .into_iter()
    .filter_map(|(pointer, target)| target.map(|target| (pointer, target)))
    .collect()
}

fn target_or_end(found: &mut Findings<'_>, next: &Target, pointer: String) {
    if let Target::Step(id) = next {
        target(found, id, pointer);
    }
}

/// Checks the target of a transition.
fn target(found: &mut Findings<'_>, id: &StepId, pointer: String) {
    match found.registry.step(id).map(Step::step_type) {
        Some(StepType::Normal | StepType::Gateway) => {}
        Some(StepType::SubStep) => {
            let message = format!("the step `{id}` is a sub-step and cannot be a next step");
            let hint = "use its parent, or make it a normal step";
            found.error(SubStep, pointer, message, hint);
        }
        None if id.as_str() == Target::END => {
            let message = "`end` is not allowed here";
            found.error(UnknownStep, pointer, message, "write the id of a step");
        }
        None => {
            let hint = did_you_mean(id.as_str(), found.ids());
            let message = format!("there is no step `{id}`");
            found.error(UnknownStep, pointer, message, hint);
        }
    }
}

fn unreachable(found: &mut Findings<'_>) {
    let reach = reachable_steps(found.registry);
    for (id, step, at) in found.steps() {
        if reach.run.contains(id) {
            continue;
        }
        let hint = match step.step_type() {
            StepType::SubStep => "add it to `subSteps` of its parent, or remove it",
            StepType::Normal | StepType::Gateway => {
                "make it the next step of another step, or remove it"
            }
        };
        let message = format!("the step `{id}` is unreachable");
        found.warn(UnreachableStep, at, message, hint);
    }
}

pub(super) fn check_sub_steps(found: &mut Findings<'_>) {
    let mut reported = BTreeSet::new();
    for (id, step, at) in found.steps() {
        let Some(work) = step.work() else {
            continue;
        };
        for (index, sub) in work.sub_steps.iter().enumerate() {
            part(found, sub, format!("{at}/subSteps/{index}"));
        }
        let contains_itself = steps_within(work, found.registry).contains(id);
        if contains_itself && reported.insert(id.clone()) {
            let message = format!("the step `{id}` contains itself");
            let hint = "a sub-step cannot contain its parent";
            found.error(SubStepCycle, format!("{at}/subSteps"), message, hint);
        }
        if let Step::SubStep(work) = step {
            for (pointer, target) in named(work) {
                let message =
                    format!("a sub-step has no next step, but this one leads to `{target}`");
                let hint = "set the next step in its parent";
                found.error(SubStep, format!("{at}/{pointer}"), message, hint);
            }
            let on_exhausted = work.retry.as_ref().and_then(|it| it.on_exhausted);
            if on_exhausted == Some(OnExhausted::Fallback) {
                let message = "a sub-step has no fallback: if it fails, its parent fails";
                let hint = "write \"error\" or \"skip\"";
                found.error(SubStep, format!("{at}/retry/onExhausted"), message, hint);
            }
            if work.escalation.is_some() {
                let message = "a sub-step is not escalated: if it fails, its parent fails";
                let hint = "move the escalation to its parent";
                found.error(SubStep, format!("{at}/escalation"), message, hint);
            }
        }
    }
}

fn part(found: &mut Findings<'_>, id: &StepId, pointer: String) {
    match found.registry.step(id).map(Step::step_type) {
        Some(StepType::SubStep) => {}
        Some(StepType::Normal | StepType::Gateway) => {
            let message = format!("the step `{id}` is not of the type subStep");
            let hint = "write `\"type\": \"subStep\"` there, or use another step";
            found.error(SubStep, pointer, message, hint);
        }
        None => {
            let message = format!("there is no step `{id}`");
            let hint = did_you_mean(id.as_str(), found.ids());
            found.error(UnknownStep, pointer, message, hint);
        }
    }
}
