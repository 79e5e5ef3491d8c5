//! The parameters of a flow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
