//! The steps of a flow.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::check::Check;
use super::data_test::DataPath;
use super::data_test::DataTest;
use super::escalation::Escalation;
use super::names::{StepId, VariableName};
use super::nested::read_by_type;
use super::prompt_ref::PromptRef;
use super::retry::RetryPolicy;
use super::transition::Target;
use super::transition::Transition;

/// A step of a flow; one without a `type` is normal.
///
/// ```
/// use autonoe_flow::Step;
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
    /// Is run as a part of its parent, and leads nowhere itself.
    SubStep(WorkStep),
}

read_by_type!(Step, Some("normal"), {
    "normal" => Normal,
    "gateway" => Gateway,
    "subStep" => SubStep,
});

/// Lets the first variant go without its tag.
fn a_step_is_normal_by_default(schema: &mut Schema) {
    let variants = schema.get_mut("oneOf").and_then(Value::as_array_mut);
    let normal = variants.and_then(|variants| variants.first_mut());
    if let Some(required) = normal.and_then(|normal| normal.get_mut("required"))
        && let Some(names) = required.as_array_mut()
    {
        names.retain(|name| name != "type");
    }
}

/// The types of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum StepType {
    /// Sends a prompt to the agent.
    Normal,
    /// Branches and joins on data.
    Gateway,
    /// Is run as a part of its parent.
    SubStep,
}

/// A step in which an agent works.
///
/// With a prompt and sub-steps, the prompt comes first. The check, if there is
/// one, comes last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkStep {
    /// The id once more; it must be the name under which the step stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<StepId>,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The phase of the work that is reached when the step passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// What the agent is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<PromptRef>,
    /// Variables for the prompts of this step.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<VariableName, VariableValue>,
    /// The names of what the agent sets in this step, for later prompts and for gateways.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<VariableName>,
    /// The steps of type `subStep` that are run in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sub_steps: Vec<StepId>,
    /// How the sub-steps are run: one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequential: Option<Sequential>,
    /// How the step is judged; without it, a step whose agent came to its end has passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// Where the step leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition: Option<Transition>,
    /// How often the step is tried again, and what comes then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryPolicy>,
    /// Who is told when the step failed for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalation: Option<Escalation>,
}

/// The value of a variable of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum VariableValue {
    /// A text.
    Text(String),
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(serde_json::Number),
    /// What stands in the data of the flow when the step is visited.
    Data(FromData),
}

/// A value that stands in the data of a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FromData {
    /// Where it stands, as a JSON pointer such as `/steps/review/outputs/verdict`.
    pub from: DataPath,
}

/// Branches on data. The first branch whose test holds is taken, else the default.
///
/// A gateway with a default and no branches is a place where ways join.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Gateway {
    /// The id once more; it must be the name under which the step stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<StepId>,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The branches, in the order in which they are tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<Branch>,
    /// Where to go if no branch is taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Target>,
}

/// A branch of a gateway.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Branch {
    /// When the branch is taken.
    pub when: DataTest,
    /// Where it leads.
    pub next: Target,
}

impl Step {
    /// Returns the type of the step.
    pub fn step_type(&self) -> StepType {
        match self {
            Self::Normal(_) => StepType::Normal,
            Self::Gateway(_) => StepType::Gateway,
            Self::SubStep(_) => StepType::SubStep,
        }
    }

    /// Returns the id that the step itself names.
    pub fn id(&self) -> Option<&StepId> {
        match self {
            Self::Normal(step) | Self::SubStep(step) => step.id.as_ref(),
            Self::Gateway(gateway) => gateway.id.as_ref(),
        }
    }

    /// Returns the name for people.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Normal(step) | Self::SubStep(step) => step.name.as_deref(),
            Self::Gateway(gateway) => gateway.name.as_deref(),
        }
    }

    /// Returns what an agent does in it, or `None` for a gateway.
    pub fn work(&self) -> Option<&WorkStep> {
        match self {
            Self::Normal(step) | Self::SubStep(step) => Some(step),
            Self::Gateway(_) => None,
        }
    }
}

impl Gateway {
    /// Returns where the data lead, or `None` if no branch is taken and there is no default.
    pub fn choose(&self, data: &Value) -> Option<&Target> {
        let taken = self.branches.iter().find(|branch| branch.when.holds(data));
        taken.map(|branch| &branch.next).or(self.default.as_ref())
    }
}

/// That sub-steps are run one after the other; in a file, `true`.
///
/// There is no other way: who wants several agents at once starts several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "bool", into = "bool")]
pub struct Sequential;

impl TryFrom<bool> for Sequential {
    type Error = &'static str;

    fn try_from(is_sequential: bool) -> Result<Self, &'static str> {
        match is_sequential {
            true => Ok(Self),
            false => Err(
                "sub-steps are run one after the other; write true, or start several agents for work at the same time",
            ),
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
