//! The file `agent.json` of a flow.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::behavior::Behavior;
use super::names::{FlowName, VariableName};
use super::parameter::ParameterDefinition;
use super::prompt_ref::FlowPath;

/// A flow, the content of `agent.json` in its folder.
///
/// ```
/// use autonoe_flow::definition::FlowAgent;
///
/// let agent: FlowAgent = serde_json::from_str(
///     r#"{
///         "version": "1.0.0",
///         "name": "review",
///         "behavior": {"completionType": "stepMachine"}
///     }"#,
/// )?;
///
/// assert_eq!(agent.title(), "review");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FlowAgent {
    /// The location of the schema of this file, for editors.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The version of the flow, in a format that its author chooses.
    pub version: String,
    /// The name of the flow. Its folder has the same name.
    pub name: FlowName,
    /// The display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// A description of the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The behavior of the agent.
    pub behavior: Behavior,
    /// The parameters by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<VariableName, ParameterDefinition>,
    /// The locations of the steps and the prompts.
    #[serde(default)]
    pub prompts: PromptPaths,
}

/// The locations of the steps and the prompts of a flow, relative to its folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PromptPaths {
    /// The file of the steps.
    pub registry: FlowPath,
    /// The root folder of prompts that are referenced by `c1`, `c2` and `c3`.
    pub base: FlowPath,
    /// The fallback folder, which is searched last for a prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_dir: Option<FlowPath>,
    /// Whether a variable without a value is an error. Otherwise it stays in the text as it is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub strict_variables: bool,
    /// Variables that prompts may use although nothing sets them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_undefined: Vec<VariableName>,
}

impl Default for PromptPaths {
    fn default() -> Self {
        Self {
            registry: FlowPath::from_static("steps_registry.json"),
            base: FlowPath::from_static("prompts"),
            fallback_dir: None,
            strict_variables: false,
            allow_undefined: Vec::new(),
        }
    }
}

impl FlowAgent {
    /// Returns the display name, or the name of the flow if it has none.
    pub fn title(&self) -> &str {
        self.display_name.as_deref().unwrap_or(self.name.as_str())
    }
}
