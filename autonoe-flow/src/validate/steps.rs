//! Validates steps, the targets of their transitions, and their sub-steps.

use std::collections::BTreeSet;

use autonoe_core::project::config_parts::did_you_mean;

use super::findings::Findings;
use crate::definition::{Check, OnExhausted, Step, StepId, Target, WorkStep};
use crate::finding::FindingKind::{
    Contradiction, DeadEnd, MissingFallback, NeverUsed, NoDefault, NothingToDo, SelfFallback,
    SubStep, SubStepCycle, UnknownStep, UnreachableStep,
};
use crate::walk::{Reached, reachable_steps, steps_within};

/// Validates each step by itself.
pub(super) fn check(findings: &mut Findings<'_>) {
    let reached = reachable_steps(findings.registry);
    for (id, step, at) in findings.steps() {
        match step {
            Step::Gateway(gateway) => {
                if gateway.default.is_none() {
                    let message =
                        "the gateway has no default, so the flow fails if no branch matches";
                    let hint = "set `default` to the step for data that matches no branch";
                    findings.error(NoDefault, at, message, hint);
                }
            }
            Step::Normal(work) => {
                work_step(findings, id, work, &at);
                let has_target = work.plan().on_pass.is_some();
                let is_visited = reached.contains(&(id.clone(), Reached::ByTransition));
                if !has_target && is_visited {
                    let message = format!("the step `{id}` has no next step");
                    let hint =
                        "set `transition.next` or `check.onPass.next` to a step or to \"end\"";
                    findings.error(DeadEnd, at, message, hint);
                }
            }
            Step::SubStep(work) => work_step(findings, id, work, &at),
        }
    }
}

fn work_step(findings: &mut Findings<'_>, id: &StepId, work: &WorkStep, at: &str) {
    if work.prompt.is_none() && work.sub_steps.is_empty() {
        let message = format!("the step `{id}` has neither a prompt nor sub-steps");
        let hint = "add a prompt, or make it a gateway";
        findings.error(NothingToDo, at, message, hint);
    }
    if work.sequential.is_some() && work.sub_steps.is_empty() {
        let message = "`sequential` has no effect, because there are no sub-steps";
        findings.warn(NeverUsed, format!("{at}/sequential"), message, "remove it");
    }
    contradictions(findings, work, at);
    if let Some(policy) = &work.retry {
        let on_exhausted = format!("{at}/retry/onExhausted");
        let fallback = work.fallback_target();
        match (policy.on_exhausted, &fallback) {
            (Some(OnExhausted::Fallback), None) => {
                let message = "the policy uses a fallback, but no fallback is set";
                let hint = "set `retry.fallbackStep` to a step";
                findings.error(MissingFallback, on_exhausted, message, hint);
            }
            (Some(OnExhausted::Error | OnExhausted::Skip), Some(target)) => {
                let message = format!("the policy never uses the fallback `{target}`");
                let hint = "write \"fallback\", or remove the fallback";
                findings.error(Contradiction, on_exhausted, message, hint);
            }
            _ => {}
        }
        if policy.backoff.initial_ms > policy.backoff.max_ms {
            let message = "the first wait is longer than the longest wait";
            let hint = "set `maxMs` to `initialMs` or more";
            findings.error(Contradiction, format!("{at}/retry/backoff"), message, hint);
        }
    }
    self_fallback(findings, id, work, at);
}

fn contradictions(findings: &mut Findings<'_>, work: &WorkStep, at: &str) {
    let transition = work.transition.as_ref();
    let from_transition = transition.and_then(|it| it.next.as_ref());
    if let Some(check) = &work.check {
        let on_fail = check.on_fail();
        let from_check = check.on_pass().next.as_ref();
        if from_check.is_some() && from_transition.is_some() && from_check != from_transition {
            let message =
                "the check and the transition set different next steps for a step that passed";
            let hint = "keep `check.onPass.next` or `transition.next`";
            findings.error(
                Contradiction,
                format!("{at}/transition/next"),
                message,
                hint,
            );
        }
        if on_fail.next.is_some() && on_fail.fallback.is_some() {
            let message = "`next` and `fallback` both set the next step after a failure";
            let pointer = format!("{at}/check/onFail");
            findings.error(Contradiction, pointer, message, "remove one of them");
        }
        let pointer = format!("{at}/check/onFail/maxRetries");
        retry_without_tries(findings, on_fail.retry, on_fail.max_retries, pointer);
    }
    if let Some(transition) = transition {
        let pointer = format!("{at}/transition/maxRetries");
        retry_without_tries(findings, transition.retry, transition.max_retries, pointer);
    }
    let fallbacks: Vec<Target> = work.failure_targets().map(|(_, target)| target).collect();
    let is_same = fallbacks.windows(2).all(|pair| pair[0] == pair[1]);
    let on_fail = work.check.as_ref().map(Check::on_fail);
    let is_in_one_place = on_fail.is_some_and(|it| it.next.is_some() && it.fallback.is_some());
    if !is_same && !is_in_one_place {
        let message = "two fields set different next steps after a failure";
        findings.error(Contradiction, at, message, "remove one of them");
    }
    if work.retry.is_some() {
        let is_set_twice = on_fail.is_some_and(|it| it.retry.is_some() || it.max_retries.is_some())
            || transition.is_some_and(|it| it.retry.is_some() || it.max_retries.is_some());
        if is_set_twice {
            let message = "two fields set the number of retries";
            let hint = "keep `retry` of the step, and remove `retry` and `maxRetries` elsewhere";
            findings.error(Contradiction, format!("{at}/retry"), message, hint);
        }
    }
}

fn retry_without_tries(
    findings: &mut Findings<'_>,
    retry: Option<bool>,
    max_retries: Option<u32>,
    pointer: String,
) {
    match (retry, max_retries) {
        (Some(false), Some(number)) if number > 0 => {
            let message = format!("`retry` is off, but the number of retries is {number}");
            findings.error(
                Contradiction,
                pointer,
                message,
                "keep `retry` or `maxRetries`",
            );
        }
        (Some(true), Some(0)) => {
            let message = "`retry` is on, but the number of retries is 0";
            findings.error(Contradiction, pointer, message, "write 1 or more");
        }
        _ => {}
    }
}

fn self_fallback(findings: &mut Findings<'_>, id: &StepId, work: &WorkStep, at: &str) {
    for (pointer, _) in work
        .failure_targets()
        .filter(|(_, it)| it.step() == Some(id))
    {
        let message = format!("the step `{id}` is its own fallback");
        let hint = "to retry the step, write `\"retry\": true`";
        findings.error(SelfFallback, format!("{at}/{pointer}"), message, hint);
    }
}

/// Validates the targets of steps, and that every step is reachable.
pub(super) fn check_targets(findings: &mut Findings<'_>) {
    let entry = findings.registry.entry_step.clone();
    target(findings, &entry.into(), "/entryStep".to_owned());
    for (_, step, at) in findings.steps() {
        match step {
            Step::Gateway(gateway) => {
                for (index, branch) in gateway.branches.iter().enumerate() {
                    let pointer = format!("{at}/branches/{index}/next");
                    target(findings, &branch.next, pointer);
                }
                if let Some(next) = &gateway.default {
                    target(findings, next, format!("{at}/default"));
                }
            }
            Step::Normal(work) => {
                for (pointer, next) in named_targets(work) {
                    target(findings, &next, format!("{at}/{pointer}"));
                }
            }
            // A sub-step must not have targets, which the validation of sub-steps reports.
            Step::SubStep(_) => {}
        }
    }
    unreachable(findings);
}

/// Returns every target in the definition of a step, with its pointer.
fn named_targets(work: &WorkStep) -> impl Iterator<Item = (&'static str, Target)> {
    let transition = work.transition.as_ref().and_then(|it| it.next.clone());
    let check = work.check.as_ref();
    let on_pass = check.and_then(|it| it.on_pass().next.clone());
    let after_pass = [
        ("transition/next", transition),
        ("check/onPass/next", on_pass),
    ];
    after_pass
        .into_iter()
        .filter_map(|(pointer, target)| Some((pointer, target?)))
        .chain(work.failure_targets())
}

/// Checks the target of a transition.
fn target(findings: &mut Findings<'_>, target: &Target, pointer: String) {
    let Target::Step(id) = target else {
        return;
    };
    match findings.registry.step(id) {
        Some(Step::Normal(_) | Step::Gateway(_)) => {}
        Some(Step::SubStep(_)) => {
            let message = format!("the step `{id}` is a sub-step and cannot be a next step");
            let hint = "use its parent, or make it a normal step";
            findings.error(SubStep, pointer, message, hint);
        }
        None if id.as_str() == Target::END => {
            let message = "`end` is not allowed here";
            findings.error(UnknownStep, pointer, message, "write the id of a step");
        }
        None => unknown_step(findings, id.as_str(), pointer),
    }
}

/// Reports a reference to a step that does not exist.
pub(super) fn unknown_step(findings: &mut Findings<'_>, id: &str, pointer: String) {
    let hint = did_you_mean(id, findings.ids());
    findings.error(
        UnknownStep,
        pointer,
        format!("there is no step `{id}`"),
        hint,
    );
}

fn unreachable(findings: &mut Findings<'_>) {
    let reached = reachable_steps(findings.registry);
    let reached: BTreeSet<StepId> = reached.into_iter().map(|(id, _)| id).collect();
    for (id, step, at) in findings.steps().filter(|(id, ..)| !reached.contains(*id)) {
        let hint = match step {
            Step::SubStep(_) => "add it to `subSteps` of its parent, or remove it",
            Step::Normal(_) | Step::Gateway(_) => {
                "make it the next step of another step, or remove it"
            }
        };
        let message = format!("the step `{id}` is unreachable");
        findings.warn(UnreachableStep, at, message, hint);
    }
}

/// Validates sub-steps, and that no step contains itself.
pub(super) fn check_sub_steps(findings: &mut Findings<'_>) {
    for (id, step, at) in findings.steps() {
        let Some(work) = step.work() else {
            continue;
        };
        for (index, sub) in work.sub_steps.iter().enumerate() {
            part(findings, sub, format!("{at}/subSteps/{index}"));
        }
        if steps_within(work, findings.registry).contains(id) {
            let message = format!("the step `{id}` contains itself");
            let hint = "a sub-step cannot contain its parent";
            findings.error(SubStepCycle, format!("{at}/subSteps"), message, hint);
        }
        if let Step::SubStep(work) = step {
            for (pointer, target) in named_targets(work) {
                let message =
                    format!("a sub-step has no next step, but this one leads to `{target}`");
                let hint = "set the next step in its parent";
                findings.error(SubStep, format!("{at}/{pointer}"), message, hint);
            }
            let on_exhausted = work.retry.as_ref().and_then(|it| it.on_exhausted);
            if on_exhausted == Some(OnExhausted::Fallback) {
                let message = "a sub-step has no fallback: if it fails, its parent fails";
                let hint = "write \"error\" or \"skip\"";
                findings.error(SubStep, format!("{at}/retry/onExhausted"), message, hint);
            }
            if work.escalation.is_some() {
                let message = "a sub-step is not escalated: if it fails, its parent fails";
                let hint = "move the escalation to its parent";
                findings.error(SubStep, format!("{at}/escalation"), message, hint);
            }
        }
    }
}

fn part(findings: &mut Findings<'_>, id: &StepId, pointer: String) {
    match findings.registry.step(id) {
        Some(Step::SubStep(_)) => {}
        Some(Step::Normal(_) | Step::Gateway(_)) => {
            let message = format!("the step `{id}` is not of the type subStep");
            let hint = "write `\"type\": \"subStep\"` there, or use another step";
            findings.error(SubStep, pointer, message, hint);
        }
        None => unknown_step(findings, id.as_str(), pointer),
    }
}
