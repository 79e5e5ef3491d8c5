//! What a step leads to, put together from all that its definition says.

use super::escalation::Escalation;
use super::retry::{Backoff, DEFAULT_MAX_RETRIES, OnExhausted, RetryPolicy};
use super::step::WorkStep;
use super::transition::Target;

/// What a step leads to, put together from its check, its transition and its retry policy.
///
/// ```
/// use autonoe_flow::{AfterFailure, Step, Target};
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
    /// Where to go when it passed; `None` if nothing says so, as in every sub-step.
    pub on_pass: Option<Target>,
    /// How often it is tried again when it failed.
    pub max_retries: u32,
    /// How long to wait before a new try after an error of the backend.
    pub backoff: Backoff,
    /// What comes when it failed and is not tried again.
    pub after_failure: AfterFailure,
}

/// What comes when a step failed and is not tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AfterFailure {
    /// The flow ends with an error.
    Error,
    /// The flow goes there.
    Goto(Target),
    /// The flow goes on as if the step had passed.
    Skip,
    /// Somebody is told, and then it is seen how the flow goes on.
    Escalate(Escalation),
}

impl WorkStep {
    /// Returns what the step leads to.
    ///
    /// Where its definition says a thing in two places, the check goes before
    /// the transition and the retry policy before both. Validation refuses what
    /// contradicts itself.
    pub fn plan(&self) -> StepPlan {
        let policy = self.retry.as_ref();
        StepPlan {
            on_pass: self.said_next().cloned(),
            max_retries: policy.map_or_else(
                || self.said_retries().unwrap_or(0),
                |policy| policy.max_retries,
            ),
            backoff: policy.map(|policy| policy.backoff).unwrap_or_default(),
            after_failure: self.after_failure(policy),
        }
    }

    fn said_next(&self) -> Option<&Target> {
        let of_check = self
            .check
            .as_ref()
            .and_then(|it| it.on_pass().next.as_ref());
        of_check.or_else(|| self.transition.as_ref()?.next.as_ref())
    }

    /// Returns how often the step is tried again, if the check or the transition says so.
    fn said_retries(&self) -> Option<u32> {
        let of_check = self.check.as_ref().map(|it| it.on_fail());
        let of_check = of_check.and_then(|it| retries(it.retry, it.max_retries));
        of_check.or_else(|| {
            let transition = self.transition.as_ref()?;
            retries(transition.retry, transition.max_retries)
        })
    }

    /// Returns where to go when the step failed, if any place names one.
    pub(crate) fn said_fallback(&self) -> Option<Target> {
        let policy = self.retry.as_ref();
        let of_policy = policy.and_then(|it| it.fallback_step.clone());
        let of_check = || {
            let on_fail = self.check.as_ref()?.on_fail();
            let fallback = on_fail.fallback.clone().map(Target::from);
            on_fail.next.clone().or(fallback)
        };
        let of_transition = || self.transition.as_ref()?.fallback.clone().map(Target::from);
        of_policy
            .map(Target::from)
            .or_else(of_check)
            .or_else(of_transition)
    }

    fn after_failure(&self, policy: Option<&RetryPolicy>) -> AfterFailure {
        let fallback = self.said_fallback();
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

/// Returns how many new tries the two fields mean, or `None` if they say nothing.
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

    #[test]
    fn what_comes_after_the_last_try_follows_the_policy() {
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
