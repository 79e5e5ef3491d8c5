//! The `behavior` of a flow's agent: system prompt, tools, permissions and completion.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::nested::written_value;
use super::prompt_ref::FlowPath;
use super::{Completion, CompletionType};
use crate::completion::{CompletionParts, completion_schema};

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
