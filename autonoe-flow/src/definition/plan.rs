//! [`StepPlan`]: the combined transitions and retries of a step.

use super::failure::{Backoff, DEFAULT_MAX_RETRIES, OnExhausted, StepEscalation, StepRetryPolicy};
use super::step::WorkStep;
use super::transition::Target;

/// Transitions and retries of a step, combined from its check, its transition and its retry policy.
///
/// ```
/// use autonoe_flow::definition::{AfterFailure, Step, Target};
///
/// let step: Step = serde_json::from_str(
///     r#"{"prompt": "prompts/draft.md", "transition": {"next": "end", "retry": true}}"#,
/// )?;
/// let plan = step.work().expect("no gateway").plan();
///
/// assert_eq!(plan.on_pass, Some(Target::End));
/// assert_eq!((plan.max_retries, plan.after_failure), (3, AfterFailure::Error));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepPlan {
    /// The target after a pass. `None` if the definition names none, as in every sub-step.
    pub on_pass: Option<Target>,
    /// Maximum number of retries after a failure.
    pub max_retries: u32,
    /// Wait before a retry after a backend error.
    pub backoff: Backoff,
    /// The action after a failure without further retries.
    pub after_failure: AfterFailure,
}

/// The action when a step has failed and is not retried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AfterFailure {
    /// The flow ends with an error.
    Error,
    /// The flow continues at the target.
    Goto(Target),
    /// The flow continues as if the step had passed.
    Skip,
    /// The escalation is sent. Its definition decides how the flow continues.
    Escalate(StepEscalation),
}

impl WorkStep {
    /// Combines the transitions and retries of the step.
    ///
    /// If the definition sets a value in two places, the check takes precedence over the
    /// transition, and the retry policy over both. Validation rejects contradictions.
    pub fn plan(&self) -> StepPlan {
        let policy = self.retry.as_ref();
        StepPlan {
            on_pass: self.next_target().cloned(),
            max_retries: policy.map_or_else(
                || self.retry_count().unwrap_or(0),
                |policy| policy.max_retries,
            ),
            backoff: policy.map(|policy| policy.backoff).unwrap_or_default(),
            after_failure: self.after_failure(policy),
        }
    }

    fn next_target(&self) -> Option<&Target> {
        let from_check = self
            .check
            .as_ref()
            .and_then(|it| it.on_pass().next.as_ref());
        from_check.or_else(|| self.transition.as_ref()?.next.as_ref())
    }

    /// Returns the number of retries, if the check or the transition sets it.
    fn retry_count(&self) -> Option<u32> {
        let from_check = self.check.as_ref().map(|it| it.on_fail());
        let from_check = from_check.and_then(|it| retries(it.retry, it.max_retries));
        from_check.or_else(|| {
            let transition = self.transition.as_ref()?;
            retries(transition.retry, transition.max_retries)
        })
    }

    /// Returns the target after a failure, if the definition names one.
    pub(crate) fn fallback_target(&self) -> Option<Target> {
        let policy = self.retry.as_ref();
        let from_policy = policy.and_then(|it| it.fallback_step.clone());
        let from_check = || {
            let on_fail = self.check.as_ref()?.on_fail();
            let fallback = on_fail.fallback.clone().map(Target::from);
            on_fail.next.clone().or(fallback)
        };
        let from_transition = || self.transition.as_ref()?.fallback.clone().map(Target::from);
        from_policy
            .map(Target::from)
            .or_else(from_check)
            .or_else(from_transition)
    }

    fn after_failure(&self, policy: Option<&StepRetryPolicy>) -> AfterFailure {
        let fallback = self.fallback_target();
        let on_exhausted = policy.and_then(|policy| policy.on_exhausted);
        match (on_exhausted, fallback) {
            (Some(OnExhausted::Skip), _) => AfterFailure::Skip,
            (Some(OnExhausted::Fallback) | None, Some(target)) => AfterFailure::Goto(target),
            (Some(OnExhausted::Error), _) | (Some(OnExhausted::Fallback) | None, None) => {
                match &self.escalation {
                    Some(escalation) => AfterFailure::Escalate(escalation.clone()),
                    None => AfterFailure::Error,
                }
            }
        }
    }
}

/// Returns the number of retries that the two fields set, or `None` if both are absent.
fn retries(retry: Option<bool>, max_retries: Option<u32>) -> Option<u32> {
    match (retry, max_retries) {
        (None, None) => None,
        (Some(false), _) => Some(0),
        (Some(true), None) => Some(DEFAULT_MAX_RETRIES),
        (_, Some(number)) => Some(number),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn plan(step: Value) -> StepPlan {
        serde_json::from_value::<WorkStep>(step)
            .expect("a step")
            .plan()
    }

    fn to(id: &str) -> AfterFailure {
        AfterFailure::Goto(Target::Step(id.parse().expect("an id")))
    }

    // Shows: flows/retry/required
    #[test]
    fn retry_without_a_number_is_three_times() {
        for (step, number) in [
            (json!({}), 0),
            (json!({"transition": {"retry": true}}), 3),
            (json!({"transition": {"retry": false}}), 0),
            (json!({"transition": {"maxRetries": 7}}), 7),
            (json!({"transition": {"retry": true, "maxRetries": 0}}), 0),
            (
                json!({"check": {"type": "keyword", "keywords": ["x"], "onFail": {"retry": true}}}),
                3,
            ),
            (json!({"retry": {}}), 3),
            (json!({"retry": {"maxRetries": 1}}), 1),
        ] {
            assert_eq!(plan(step.clone()).max_retries, number, "{step}");
        }
    }

    // Shows: flows/retry/on-exhausted
    #[test]
    fn after_failure_follows_the_policy() {
        let escalation = json!({"escalateTo": "lead"});
        for (step, after) in [
            (json!({}), AfterFailure::Error),
            (json!({"transition": {"fallback": "repair"}}), to("repair")),
            (
                json!({"retry": {"onExhausted": "skip"}}),
                AfterFailure::Skip,
            ),
            (
                json!({"retry": {"onExhausted": "fallback", "fallbackStep": "repair"}}),
                to("repair"),
            ),
            (
                json!({"retry": {"maxRetries": 1}, "transition": {"fallback": "repair"}}),
                to("repair"),
            ),
            (
                json!({"retry": {"onExhausted": "error"}}),
                AfterFailure::Error,
            ),
            (
                json!({"check": {"type": "keyword", "keywords": ["x"], "onFail": {"next": "end"}}}),
                AfterFailure::Goto(Target::End),
            ),
            (
                json!({"escalation": escalation}),
                AfterFailure::Escalate(serde_json::from_value(escalation).expect("an escalation")),
            ),
        ] {
            assert_eq!(plan(step.clone()).after_failure, after, "{step}");
        }
    }
}
