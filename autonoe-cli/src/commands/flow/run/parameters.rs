//! Parses the parameters of a flow on the command line.

use autonoe_flow::ParameterValues;
use autonoe_flow::definition::{FlowAgent, ParameterType};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::error::CliError;

/// The value of a parameter and its source.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GivenParameter")]
pub(super) struct ParameterSetting {
    /// The flag that sets it.
    pub(super) flag: String,
    /// The value, if there is one.
    pub(super) value: Option<Value>,
    /// Its source.
    pub(super) source: Source,
}

/// The source of the value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ParameterSource")]
pub(super) enum Source {
    /// The command line.
    Flag,
    /// The definition of the flow.
    Default,
    /// The parameter has no value.
    None,
}

/// Parses the words after the options of the command.
pub(super) fn parse_values(
    agent: &FlowAgent,
    arguments: &[String],
) -> Result<ParameterValues, CliError> {
    let read = ParameterValues::from_args(&agent.parameters, arguments);
    read.map_err(|errors| {
        let message = format!("the parameters of {} are invalid\n{errors}", agent.name);
        CliError::usage(message).with_hint(hint(agent, arguments))
    })
}

/// Returns a hint that lists the parameters of the flow.
fn hint(agent: &FlowAgent, arguments: &[String]) -> String {
    let listed = agent.parameters.iter().map(|(name, parameter)| {
        let value_name = match (parameter.parameter_type, parameter.required) {
            (ParameterType::Boolean, _) => String::new(),
            (kind, true) => format!(" {} (required)", placeholder(kind)),
            (kind, false) => format!(" {}", placeholder(kind)),
        };
        format!("{}{value_name}", parameter.flag(name))
    });
    let listed: Vec<_> = listed.collect();
    let there_are = if listed.is_empty() {
        "the flow takes no parameters".to_owned()
    } else {
        format!("the flow takes {}", listed.join(", "))
    };
    if arguments.is_empty() {
        there_are
    } else {
        format!("{there_are}; write options of the command before the parameters of the flow")
    }
}

fn placeholder(kind: ParameterType) -> &'static str {
    match kind {
        ParameterType::String => "TEXT",
        ParameterType::Integer | ParameterType::Number => "NUMBER",
        ParameterType::Boolean => "",
        ParameterType::Array => "TEXT (can be repeated)",
    }
}

/// Returns every parameter with its value and source.
pub(super) fn parameter_settings(
    agent: &FlowAgent,
    arguments: &[String],
    values: &ParameterValues,
) -> Vec<ParameterSetting> {
    let is_passed = |flag: &str| {
        let denied = format!("--no-{}", flag.trim_start_matches("--"));
        let names = arguments.iter().map(|argument| argument.split('=').next());
        names.flatten().any(|name| name == flag || name == denied)
    };
    let parameters = agent.parameters.iter().map(|(name, parameter)| {
        let flag = parameter.flag(name);
        let value = values.get(name.as_str()).map(|value| value.to_json());
        let source = match (&value, is_passed(&flag)) {
            (None, _) => Source::None,
            (Some(_), true) => Source::Flag,
            (Some(_), false) => Source::Default,
        };
        ParameterSetting {
            flag,
            value,
            source,
        }
    });
    parameters.collect()
}
