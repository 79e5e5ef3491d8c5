//! Definition of a composite completion condition: any or all of several parts.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::definition::nested::written_value;

use super::{Completion, CompletionParts, CompletionType, completion_schema};

/// Several conditions, of which one or all must hold.
///
/// The conditions are checked in their order. With `any`, conditions after the first one that
/// holds are not checked.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Composite {
    /// Whether one or all of the conditions must hold.
    pub mode: CompositeMode,
    /// The conditions.
    pub conditions: Vec<CompletionCondition>,
}

impl Composite {
    /// Returns whether `matches` returns true for one of the conditions.
    pub(super) fn any(&self, matches: impl Fn(&Completion) -> bool) -> bool {
        let mut conditions = self.conditions.iter();
        conditions.any(|condition| matches(&condition.completion))
    }
}

/// Number of conditions that must hold: any or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CompositeMode {
    /// One is enough.
    Any,
    /// All of them.
    All,
}

/// One of several conditions.
///
/// ```
/// use autonoe_flow::definition::CompletionCondition;
///
/// let condition: CompletionCondition = serde_json::from_str(
///     r#"{"name": "budget", "type": "iterationBudget", "config": {"maxIterations": 5}}"#,
/// )?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Deserialize)]
#[serde(try_from = "WrittenCondition")]
pub struct CompletionCondition {
    /// The name under which its state is reported.
    pub name: String,
    /// The condition.
    pub completion: Completion,
}

/// A condition as it is written in a file.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "CompletionCondition")]
struct WrittenCondition {
    /// The name under which its state is reported. By default it is the type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The type of the condition.
    #[serde(rename = "type")]
    completion_type: CompletionType,
    /// The settings of the condition.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "written_value"
    )]
    config: Option<Value>,
}

impl TryFrom<WrittenCondition> for CompletionCondition {
    type Error = String;

    fn try_from(written: WrittenCondition) -> Result<Self, String> {
        let name = written.completion_type;
        let config = written.config;
        Ok(Self {
            name: written.name.unwrap_or_else(|| name.name().to_owned()),
            completion: CompletionParts { name, config }.read("config")?,
        })
    }
}

impl Serialize for CompletionCondition {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let parts = CompletionParts::from_completion(&self.completion);
        WrittenCondition {
            name: Some(self.name.clone()),
            completion_type: parts.name,
            config: parts.config,
        }
        .serialize(to)
    }
}

impl JsonSchema for CompletionCondition {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CompletionCondition".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = WrittenCondition::json_schema(generator);
        completion_schema(&mut schema, generator, "type", "config");
        schema
    }
}
