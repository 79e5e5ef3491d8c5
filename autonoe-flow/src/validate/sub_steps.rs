//! Validates the types of sub-steps, and that no step contains itself.

use std::collections::BTreeSet;

use super::findings::Findings;
use super::targets::named;
use crate::definition::{OnExhausted, Step, StepId, StepType};
use crate::finding::FindingKind::{SubStep, SubStepCycle, UnknownStep};
use crate::walk::steps_within;
use autonoe_core::project::config_parts::did_you_mean;

pub(super) fn check(found: &mut Findings<'_>) {
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
