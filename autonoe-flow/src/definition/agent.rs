//! The file `agent.json` of a flow.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::behavior::Behavior;
use super::names::{FlowName, VariableName};
use super::parameter::Parameter;
use super::prompt_ref::FlowPath;

/// A flow, as the file `agent.json` in its folder holds it.
///
/// ```
/// use autonoe_flow::FlowAgent;
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
    /// Where editors find the schema of this file.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The version of the flow, in the words of its author.
    pub version: String,
    /// The name of the flow, which is that of its folder.
    pub name: FlowName,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// What the flow is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How the agent behaves.
    pub behavior: Behavior,
    /// The parameters by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<VariableName, Parameter>,
    /// Where the steps and the prompts are.
    #[serde(default)]
    pub prompts: PromptPlaces,
}

/// Where the steps and the prompts of a flow are, from its folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PromptPlaces {
    /// The file of the steps.
    pub registry: FlowPath,
    /// Where the scheme of prompts starts.
    pub base: FlowPath,
    /// The folder in which a prompt is looked for last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_dir: Option<FlowPath>,
    /// Whether a variable that nothing sets is an error. If not, it stays in the text, with a warning.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub strict_variables: bool,
    /// Variables that prompts may name although nothing sets them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_undefined: Vec<VariableName>,
}

impl Default for PromptPlaces {
    fn default() -> Self {
        Self {
            registry: FlowPath::known("steps_registry.json"),
            base: FlowPath::known("prompts"),
            fallback_dir: None,
            strict_variables: false,
            allow_undefined: Vec::new(),
        }
    }
}

impl FlowAgent {
    /// Returns the name for people.
    pub fn title(&self) -> &str {
        self.display_name.as_deref().unwrap_or(self.name.as_str())
    }
}
