//! The file `steps_registry.json`: [`StepsRegistry`], its steps, and [`StepPlan`], the combined
//! transitions and retries of a step.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::check::Check;
use super::data_test::{DataPath, DataTest};
use super::names::{StepId, VariableName};
use super::prompt_ref::PromptRef;
use super::read_by_type;
use super::transition::{
    Backoff, DEFAULT_MAX_RETRIES, OnExhausted, StepEscalation, StepRetryPolicy, Target, Transition,
};

/// Default limit of consecutive visits of a step.
pub const DEFAULT_STEP_LOOP_LIMIT: u32 = 10;

/// Default limit of all visits of a step.
pub const DEFAULT_MAX_VISITS: u32 = 100;

/// The steps of a flow, the content of `steps_registry.json`.
///
/// ```
/// use autonoe_flow::definition::StepsRegistry;
///
/// let registry: StepsRegistry = serde_json::from_str(
///     r#"{
///         "entryStep": "draft",
///         "steps": {"draft": {"prompt": "prompts/draft.md", "transition": {"next": "end"}}}
///     }"#,
/// )?;
///
/// assert_eq!(registry.limits.step_loop, 10);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StepsRegistry {
    /// The location of the schema of this file, for editors.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The version of the steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The step to start with.
    pub entry_step: StepId,
    /// The steps by id.
    pub steps: BTreeMap<StepId, Step>,
    /// Limits for the visits of steps.
    #[serde(default)]
    pub limits: StepLimits,
}

/// Limits for the visits of steps. Exceeding a limit ends the flow with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct StepLimits {
    /// The maximum number of consecutive visits of a step. Retries are not visits.
    pub step_loop: u32,
    /// The maximum number of all visits of a step.
    pub max_visits: u32,
}

impl Default for StepLimits {
    fn default() -> Self {
        Self {
            step_loop: DEFAULT_STEP_LOOP_LIMIT,
            max_visits: DEFAULT_MAX_VISITS,
        }
    }
}

impl StepsRegistry {
    /// Returns the step `id`.
    pub fn step(&self, id: &StepId) -> Option<&Step> {
        self.steps.get(id)
    }

    /// Returns the agent's part of the step `id`, or `None` for a gateway.
    pub(crate) fn work(&self, id: &StepId) -> Option<&WorkStep> {
        self.step(id)?.work()
    }
}

/// A step of a flow; one without a `type` is normal.
///
/// ```
/// use autonoe_flow::definition::Step;
///
/// let step: Step = serde_json::from_str(
///     r#"{"prompt": "prompts/draft.md", "transition": {"next": "end"}}"#,
/// )?;
///
/// assert!(matches!(step, Step::Normal(_)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
#[schemars(transform = a_step_is_normal_by_default)]
pub enum Step {
    /// Sends a prompt to the agent, or runs its sub-steps, or both.
    Normal(WorkStep),
    /// Branches and joins on data, without an agent.
    Gateway(Gateway),
    /// Runs as a part of its parent, and has no next step.
    SubStep(WorkStep),
}

read_by_type!(Step, Some("normal"), {
    "normal" => Normal,
    "gateway" => Gateway,
    "subStep" => SubStep,
});

/// Makes the tag optional for the first variant.
fn a_step_is_normal_by_default(schema: &mut Schema) {
    let variants = schema.get_mut("oneOf").and_then(Value::as_array_mut);
    let normal = variants.and_then(|variants| variants.first_mut());
    if let Some(required) = normal.and_then(|normal| normal.get_mut("required"))
        && let Some(names) = required.as_array_mut()
    {
        names.retain(|name| name != "type");
    }
}

/// A step in which an agent works.
///
/// With a prompt and sub-steps, the prompt runs first. The check, if there is
/// one, comes last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkStep {
    /// The id of the step. It must equal the key of the step in `steps`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<StepId>,
    /// The display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The phase that is reached when the step has passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The prompt for the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<PromptRef>,
    /// Variables for the prompts of this step.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<VariableName, VariableValue>,
    /// The names of the outputs that the agent sets in this step, for later prompts and gateways.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<VariableName>,
    /// The steps of type `subStep` that run in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sub_steps: Vec<StepId>,
    /// Order of the sub-steps: one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequential: Option<Sequential>,
    /// The check of the step. Without one, the step passes when the agent finishes its turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// The next steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition: Option<Transition>,
    /// The number of retries, and the action after the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<StepRetryPolicy>,
    /// The escalation when the step has failed without further retries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalation: Option<StepEscalation>,
}

/// The value of a variable of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a text, a number, true, false, or an object with `from`"
)]
pub enum VariableValue {
    /// A text.
    Text(String),
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(serde_json::Number),
    /// A value from the data of the flow, read when the step is visited.
    Data(FromData),
}

/// A value from the data of a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FromData {
    /// The location of the value, as a JSON pointer such as `/steps/review/outputs/verdict`.
    pub from: DataPath,
}

/// Branches on data. The flow takes the first branch whose condition holds, else the default.
///
/// A gateway with a default and no branches joins several paths.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Gateway {
    /// The id of the step. It must equal the key of the step in `steps`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<StepId>,
    /// The display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The branches, in the order in which they are tested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<GatewayBranch>,
    /// The next step if no branch matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Target>,
}

/// A branch of a gateway.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GatewayBranch {
    /// The condition of the branch.
    pub when: DataTest,
    /// The next step.
    pub next: Target,
}

impl Step {
    /// Returns the ID that the step itself contains.
    pub fn id(&self) -> Option<&StepId> {
        match self {
            Self::Normal(step) | Self::SubStep(step) => step.id.as_ref(),
            Self::Gateway(gateway) => gateway.id.as_ref(),
        }
    }

    /// Returns the display name.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Normal(step) | Self::SubStep(step) => step.name.as_deref(),
            Self::Gateway(gateway) => gateway.name.as_deref(),
        }
    }

    /// Returns the agent's part of the step, or `None` for a gateway.
    pub fn work(&self) -> Option<&WorkStep> {
        match self {
            Self::Normal(step) | Self::SubStep(step) => Some(step),
            Self::Gateway(_) => None,
        }
    }
}

impl Gateway {
    /// Returns the target for `data`, or `None` if no branch matches and there is no default.
    pub fn choose(&self, data: &Value) -> Option<&Target> {
        let branch = self.branches.iter().find(|branch| branch.when.holds(data));
        branch.map(|branch| &branch.next).or(self.default.as_ref())
    }
}

/// Marks sub-steps as sequential; `true` in a file.
///
/// It is the only mode. Run several agents for parallel work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "bool", into = "bool")]
pub struct Sequential;

impl TryFrom<bool> for Sequential {
    type Error = &'static str;

    fn try_from(is_sequential: bool) -> Result<Self, &'static str> {
        if is_sequential {
            Ok(Self)
        } else {
            Err(
                "sub-steps run one after the other; write true, or run several agents to work in \
                 parallel",
            )
        }
    }
}

impl From<Sequential> for bool {
    fn from(_: Sequential) -> Self {
        true
    }
}

impl JsonSchema for Sequential {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Sequential".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"const": true})
    }
}

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
        let on_fail = self.check.as_ref().map(Check::on_fail);
        let from_check = on_fail.and_then(|it| retries(it.retry, it.max_retries));
        from_check.or_else(|| {
            let transition = self.transition.as_ref()?;
            retries(transition.retry, transition.max_retries)
        })
    }

    /// Returns the targets after a failure with their JSON pointers, by precedence.
    pub(crate) fn failure_targets(&self) -> impl Iterator<Item = (&'static str, Target)> {
        let step = |id: &StepId| Target::Step(id.clone());
        let on_fail = self.check.as_ref().map(Check::on_fail);
        let policy = self.retry.as_ref();
        let transition = self.transition.as_ref();
        let targets = [
            (
                "retry/fallbackStep",
                policy.and_then(|it| it.fallback_step.as_ref()).map(step),
            ),
            ("check/onFail/next", on_fail.and_then(|it| it.next.clone())),
            (
                "check/onFail/fallback",
                on_fail.and_then(|it| it.fallback.as_ref()).map(step),
            ),
            (
                "transition/fallback",
                transition.and_then(|it| it.fallback.as_ref()).map(step),
            ),
        ];
        let named = targets.into_iter();
        named.filter_map(|(pointer, target)| Some((pointer, target?)))
    }

    /// Returns the target after a failure, if the definition names one.
    pub(crate) fn fallback_target(&self) -> Option<Target> {
        self.failure_targets().next().map(|(_, target)| target)
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
