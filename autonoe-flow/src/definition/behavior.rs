//! How the agent of a flow behaves.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::completion::{Completion, CompletionParts, CompletionType, completion_schema};
use super::nested::written_value;
use super::prompt_ref::FlowPath;

/// How the agent of a flow behaves: what it is told first, what it may use, when it is done.
///
/// ```
/// use autonoe_flow::{Behavior, Completion};
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
    /// The file of the system prompt; the backend has its own, if nothing is said.
    pub system_prompt_path: Option<FlowPath>,
    /// When the flow is complete; `completionType` and `completionConfig` in the file.
    pub completion: Completion,
    /// What the agent may use without being asked: names of tools, or permission rules.
    pub allowed_tools: Vec<String>,
    /// What the agent may do beside that.
    pub permission_mode: PermissionMode,
}

/// What an agent may do beside what is allowed by name.
///
/// Guards and hooks judge every call in each of the modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// Nothing.
    #[default]
    Default,
    /// Change files inside the project.
    AcceptEdits,
    /// Nothing that changes anything, even if it is allowed by name.
    Plan,
}

/// The behavior as it stands in a file.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Behavior")]
struct WrittenBehavior {
    /// The file of the system prompt, from the folder of the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    system_prompt_path: Option<FlowPath>,
    /// When the flow is complete.
    completion_type: CompletionType,
    /// What belongs to the type.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "written_value"
    )]
    completion_config: Option<Value>,
    /// What the agent may use: names of tools, or permission rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    allowed_tools: Vec<String>,
    /// What the agent may do beside that.
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
        let parts = CompletionParts::of(&self.completion);
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
