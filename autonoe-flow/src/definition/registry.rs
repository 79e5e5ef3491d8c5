//! The file `steps_registry.json`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::names::StepId;
use super::step::Step;

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
}
