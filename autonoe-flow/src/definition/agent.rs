//! The file `agent.json` of a flow: [`FlowAgent`], its [`Behavior`] and its parameters.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::names::{FlowName, VariableName};
use super::prompt_ref::FlowPath;
use super::written_value;
use super::{Completion, CompletionType};
use crate::completion::{CompletionParts, completion_schema};

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

/// Behavior of a flow's agent: its system prompt, its tools, and its completion condition.
///
/// ```
/// use autonoe_flow::definition::{Behavior, Completion};
///
/// let behavior: Behavior = serde_json::from_str(
///     r#"{"systemPromptPath": "prompts/system.md", "completionType": "stepMachine"}"#,
/// )?;
///
/// assert!(matches!(behavior.completion, Completion::StepMachine(_)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Deserialize)]
#[serde(try_from = "WrittenBehavior")]
pub struct Behavior {
    /// The file of the system prompt. If `None`, the backend uses its own.
    pub system_prompt_path: Option<FlowPath>,
    /// The completion condition; `completionType` and `completionConfig` in the file.
    pub completion: Completion,
    /// The tools that the agent may use without a permission request: names of tools, or permission
    /// rules.
    pub allowed_tools: Vec<String>,
    /// Further permissions of the agent.
    pub permission_mode: PermissionMode,
}

/// Permissions of an agent in addition to its allowed tools.
///
/// Every call must pass the gate, in each of the modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// No further permissions.
    #[default]
    Default,
    /// May change files inside the project.
    AcceptEdits,
    /// May not change anything, even with an allowed tool.
    Plan,
}

/// The behavior as it is written in a file.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Behavior")]
struct WrittenBehavior {
    /// The file of the system prompt, relative to the folder of the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    system_prompt_path: Option<FlowPath>,
    /// The type of the completion condition.
    completion_type: CompletionType,
    /// The settings of the completion condition.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "written_value"
    )]
    completion_config: Option<Value>,
    /// The tools that the agent may use: names of tools, or permission rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    allowed_tools: Vec<String>,
    /// Further permissions of the agent.
    #[serde(default)]
    permission_mode: PermissionMode,
}

impl TryFrom<WrittenBehavior> for Behavior {
    type Error = String;

    fn try_from(written: WrittenBehavior) -> Result<Self, String> {
        let parts = CompletionParts {
            name: written.completion_type,
            config: written.completion_config,
        };
        Ok(Self {
            system_prompt_path: written.system_prompt_path,
            completion: parts.read("completionConfig")?,
            allowed_tools: written.allowed_tools,
            permission_mode: written.permission_mode,
        })
    }
}

impl Serialize for Behavior {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let parts = CompletionParts::from_completion(&self.completion);
        WrittenBehavior {
            system_prompt_path: self.system_prompt_path.clone(),
            completion_type: parts.name,
            completion_config: parts.config,
            allowed_tools: self.allowed_tools.clone(),
            permission_mode: self.permission_mode,
        }
        .serialize(to)
    }
}

impl JsonSchema for Behavior {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Behavior".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = WrittenBehavior::json_schema(generator);
        completion_schema(&mut schema, generator, "completionType", "completionConfig");
        schema
    }
}

/// A parameter of a flow.
///
/// ```
/// use autonoe_flow::definition::{ParameterDefinition, ParameterType};
///
/// let parameter: ParameterDefinition = serde_json::from_str(
///     r#"{"type": "integer", "default": 3, "cli": "--rounds", "validation": {"min": 1, "max": 9}}"#,
/// )?;
///
/// assert_eq!(parameter.parameter_type, ParameterType::Integer);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParameterDefinition {
    /// The type of its value.
    #[serde(rename = "type")]
    pub parameter_type: ParameterType,
    /// A description of the parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether a value is required. A required parameter has no default.
    #[serde(default)]
    pub required: bool,
    /// The value if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// The command-line flag, for example `--rounds`. By default it is derived from the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cli: Option<String>,
    /// The rules for its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<ParameterRules>,
}

/// The types of parameter values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ParameterType {
    /// A text.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A boolean.
    Boolean,
    /// A list of texts.
    Array,
}

/// Rules for the value of a parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParameterRules {
    /// The minimum number; for a text or a list, the minimum length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The maximum number; for a text or a list, the maximum length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// A regular expression that the text, or each text of the list, must match somewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The allowed values of the parameter, or of each text of the list.
    #[serde(rename = "enum", default, skip_serializing_if = "Option::is_none")]
    pub one_of: Option<Vec<Value>>,
}
