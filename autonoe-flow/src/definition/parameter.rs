//! The parameters of a flow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A parameter of a flow.
///
/// ```
/// use autonoe_flow::{Parameter, ParameterType};
///
/// let parameter: Parameter = serde_json::from_str(
///     r#"{"type": "integer", "default": 3, "cli": "--rounds", "validation": {"min": 1, "max": 9}}"#,
/// )?;
///
/// assert_eq!(parameter.parameter_type, ParameterType::Integer);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Parameter {
    /// What kind of value it takes.
    #[serde(rename = "type")]
    pub parameter_type: ParameterType,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it must be given; not together with a default.
    #[serde(default)]
    pub required: bool,
    /// The value if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// The flag of the command line, for example `--rounds`; made of the name, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cli: Option<String>,
    /// What must be true of a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<ParameterRules>,
}

/// The kinds of values that a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ParameterType {
    /// A text.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A truth value.
    Boolean,
    /// A list of texts.
    Array,
}

/// What must be true of the value of a parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParameterRules {
    /// The least number; of a text or a list, the least length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The greatest number; of a text or a list, the greatest length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// A regular expression that a text, or each text of a list, must match somewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The only values that it, or each text of a list, may have.
    #[serde(rename = "enum", default, skip_serializing_if = "Option::is_none")]
    pub one_of: Option<Vec<Value>>,
}
