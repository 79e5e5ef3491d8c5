//! Validates each step by itself.

use super::findings::Findings;
use crate::definition::{OnExhausted, Step, StepId, Target, WorkStep};
use crate::finding::FindingKind::{
    Contradiction, DeadEnd, MissingFallback, NeverUsed, NoDefault, NothingToDo, SelfFallback,
};
use crate::walk::reachable_steps;

pub(super) fn check(found: &mut Findings<'_>) {
    let visited = reachable_steps(found.registry).visited;
    for (id, step, at) in found.steps() {
        match step {
            Step::Gateway(gateway) => {
                if gateway.default.is_none() {
                    let message =
                        "the gateway has no default, so the flow fails if no branch matches";
                    let hint = "set `default` to the step for data that matches no branch";
                    found.error(NoDefault, at, message, hint);
                }
            }
            Step::Normal(work) => {
                work_step(found, id, work, &at);
                let has_target = work.plan().on_pass.is_some();
                if !has_target && visited.contains(id) {
                    let message = format!("the step `{id}` has no next step");
                    let hint =
                        "set `transition.next` or `check.onPass.next` to a step or to \"end\"";
                    found.error(DeadEnd, at, message, hint);
                }
            }
            Step::SubStep(work) => work_step(found, id, work, &at),
        }
    }
}

fn work_step(found: &mut Findings<'_>, id: &StepId, work: &WorkStep, at: &str) {
    if work.prompt.is_none() && work.sub_steps.is_empty() {
        let message = format!("the step `{id}` has neither a prompt nor sub-steps");
        let hint = "add a prompt, or make it a gateway";
        found.error(NothingToDo, at, message, hint);
    }
    if work.sequential.is_some() && work.sub_steps.is_empty() {
        let message = "`sequential` has no effect, because there are no sub-steps";
        found.warn(NeverUsed, format!("{at}/sequential"), message, "remove it");
    }
    contradictions(found, work, at);
    if let Some(policy) = &work.retry {
        let on_exhausted = format!("{at}/retry/onExhausted");
        let fallback = work.fallback_target();
        match (policy.on_exhausted, &fallback) {
            (Some(OnExhausted::Fallback), None) => {
                let message = "the policy uses a fallback, but no fallback is set";
                let hint = "set `retry.fallbackStep` to a step";
                found.error(MissingFallback, on_exhausted, message, hint);
            }
            (Some(OnExhausted::Error | OnExhausted::Skip), Some(target)) => {
                let message = format!("the policy never uses the fallback `{target}`");
                let hint = "write \"fallback\", or remove the fallback";
                found.error(Contradiction, on_exhausted, message, hint);
            }
            _ => {}
        }
        if policy.backoff.initial_ms > policy.backoff.max_ms {
            let message = "the first wait is longer than the longest wait";
            let hint = "set `maxMs` to `initialMs` or more";
            found.error(Contradiction, format!("{at}/retry/backoff"), message, hint);
        }
    }
    self_fallback(found, id, work, at);
}

fn contradictions(found: &mut Findings<'_>, work: &WorkStep, at: &str) {
    let transition = work.transition.as_ref();
    let from_transition = transition.and_then(|it| it.next.as_ref());
    if let Some(check) = &work.check {
        let on_fail = check.on_fail();
        let from_check = check.on_pass().next.as_ref();
        if from_check.is_some() && from_transition.is_some() && from_check != from_transition {
            let message =
                "the check and the transition set different next steps for a step that passed";
            let hint = "keep `check.onPass.next` or `transition.next`";
            found.error(
                Contradiction,
                format!("{at}/transition/next"),
                message,
                hint,
            );
        }
        if on_fail.next.is_some() && on_fail.fallback.is_some() {
            let message = "`next` and `fallback` both set the next step after a failure";
            let pointer = format!("{at}/check/onFail");
            found.error(Contradiction, pointer, message, "remove one of them");
        }
        let pointer = format!("{at}/check/onFail/maxRetries");
        retry_without_tries(found, on_fail.retry, on_fail.max_retries, pointer);
    }
    if let Some(transition) = transition {
        let pointer = format!("{at}/transition/maxRetries");
        retry_without_tries(found, transition.retry, transition.max_retries, pointer);
    }
    let fallbacks: Vec<Target> = [
        work.retry.as_ref().and_then(|it| it.fallback_step.clone()),
        work.check
            .as_ref()
            .and_then(|it| it.on_fail().fallback.clone()),
        transition.and_then(|it| it.fallback.clone()),
    ]
    .into_iter()
    .flatten()
    .map(Target::from)
    .chain(work.check.as_ref().and_then(|it| it.on_fail().next.clone()))
    .collect();
    let is_same = fallbacks.windows(2).all(|pair| pair[0] == pair[1]);
    let is_in_one_place = work
        .check
        .as_ref()
        .is_some_and(|it| it.on_fail().next.is_some() && it.on_fail().fallback.is_some());
    if !is_same && !is_in_one_place {
        let message = "two fields set different next steps after a failure";
        found.error(Contradiction, at, message, "remove one of them");
    }
    if work.retry.is_some() {
        let from_check = work.check.as_ref().map(|it| it.on_fail());
        let is_set_twice = from_check
            .is_some_and(|it| it.retry.is_some() || it.max_retries.is_some())
            || transition.is_some_and(|it| it.retry.is_some() || it.max_retries.is_some());
        if is_set_twice {
            let message = "two fields set the number of retries";
            let hint = "keep `retry` of the step, and remove `retry` and `maxRetries` elsewhere";
            found.error(Contradiction, format!("{at}/retry"), message, hint);
        }
    }
}

fn retry_without_tries(
    found: &mut Findings<'_>,
    retry: Option<bool>,
    max_retries: Option<u32>,
    pointer: String,
) {
    match (retry, max_retries) {
        (Some(false), Some(number)) if number > 0 => {
            let message = format!("`retry` is off, but the number of retries is {number}");
            found.error(
                Contradiction,
                pointer,
                message,
                "keep `retry` or `maxRetries`",
            );
        }
        (Some(true), Some(0)) => {
            let message = "`retry` is on, but the number of retries is 0";
            found.error(Contradiction, pointer, message, "write 1 or more");
        }
        _ => {}
    }
}

fn self_fallback(found: &mut Findings<'_>, id: &StepId, work: &WorkStep, at: &str) {
    let from_policy = work.retry.as_ref().and_then(|it| it.fallback_step.as_ref());
    let on_fail = work.check.as_ref().map(|it| it.on_fail());
    let from_check = on_fail.and_then(|it| it.fallback.as_ref());
    let from_transition = work.transition.as_ref().and_then(|it| it.fallback.as_ref());
    let from_next = on_fail.and_then(|it| it.next.as_ref()?.step());
    for (fallback, pointer) in [
        (from_policy, "retry/fallbackStep"),
        (from_check, "check/onFail/fallback"),
        (from_next, "check/onFail/next"),
        (from_transition, "transition/fallback"),
    ] {
        if fallback == Some(id) {
            let message = format!("the step `{id}` is its own fallback");
            let hint = "to retry the step, write `\"retry\": true`";
            found.error(SelfFallback, format!("{at}/{pointer}"), message, hint);
        }
    }
}
