//! Transitions of steps: [`Transition`], [`OnPass`], [`OnFail`] and [`Target`].

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::names::{InvalidName, StepId};

/// The next step after a pass, and the action after a failure.
///
/// ```
/// use autonoe_flow::definition::Transition;
///
/// let transition: Transition =
///     serde_json::from_str(r#"{"next": "review", "retry": true, "fallback": "repair"}"#)?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Transition {
    /// The next step after a pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Target>,
    /// The next step after a failure without further retries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<StepId>,
    /// Whether a failed step is retried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<bool>,
    /// The maximum number of retries; 3 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
}

impl Transition {
    /// Creates a transition to `next` after a pass.
    pub fn to(next: Target) -> Self {
        Self {
            next: Some(next),
            ..Self::default()
        }
    }
}

/// The action when the check of a step passed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OnPass {
    /// The next step.
    pub next: Option<Target>,
}

/// The action when the check of a step did not pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OnFail {
    /// The next step when there are no further retries; excludes `fallback`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Target>,
    /// The next step when there are no further retries; excludes `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<StepId>,
    /// Whether the step is retried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<bool>,
    /// The maximum number of retries; 3 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
}

/// The next position of a flow: a step, or the end.
///
/// In a file it is the ID of a step, or the word `end`.
///
/// ```
/// use autonoe_flow::definition::Target;
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
    /// The name of the end of a flow. No step may have it as its ID.
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
