//! Where a step leads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::names::StepId;
use super::target::Target;

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
