//! Where a step leads.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::names::{InvalidName, StepId};

/// Where a step leads when it passed, and what is done when it failed.
///
/// ```
/// use autonoe_flow::Transition;
///
/// let transition: Transition =
///     serde_json::from_str(r#"{"next": "review", "retry": true, "fallback": "repair"}"#)?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Transition {
    /// Where to go when the step passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Target>,
    /// The step to go to when it failed and is not tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<StepId>,
    /// Whether a step that failed is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<bool>,
    /// How often it is tried again; 3 if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
}

impl Transition {
    /// Leads to `next` when the step passed.
    pub fn to(next: Target) -> Self {
        Self {
            next: Some(next),
            ..Self::default()
        }
    }
}

/// Where a step leads when its check passed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OnPass {
    /// Where to go.
    pub next: Option<Target>,
}

/// What is done when the check of a step did not pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OnFail {
    /// Where to go when the step is not tried again; not together with `fallback`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Target>,
    /// The step to go to when the step is not tried again; not together with `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<StepId>,
    /// Whether the step is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<bool>,
    /// How often it is tried again; 3 if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
}

/// Where a flow goes next: to a step, or to its end.
///
/// In a file it is the id of a step, or the word `end`.
///
/// ```
/// use autonoe_flow::Target;
///
/// assert_eq!(serde_json::from_str::<Target>(r#""end""#)?, Target::End);
/// assert_eq!(serde_json::from_str::<Target>(r#""draft""#)?.to_string(), "draft");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Target {
    /// A step.
    Step(StepId),
    /// The end of the flow.
    End,
}

impl Target {
    /// The word for the end of a flow, which no step may have as its id.
    pub const END: &'static str = "end";

    /// Returns the step, or `None` for the end.
    pub fn step(&self) -> Option<&StepId> {
        match self {
            Self::Step(id) => Some(id),
            Self::End => None,
        }
    }
}

impl TryFrom<String> for Target {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<Self, InvalidName> {
        match text.as_str() {
            Self::END => Ok(Self::End),
            id => id.parse().map(Self::Step),
        }
    }
}

impl From<Target> for String {
    fn from(target: Target) -> Self {
        target.to_string()
    }
}

impl From<StepId> for Target {
    fn from(id: StepId) -> Self {
        Self::Step(id)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Step(id) => id.as_str(),
            Self::End => Self::END,
        })
    }
}

impl JsonSchema for Target {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Target".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = StepId::json_schema(generator);
        schema.insert(
            "description".to_owned(),
            "The id of a step, or `end` for the end of the flow.".into(),
        );
        schema
    }
}
