//! The parameters of a flow on the command line.

use autonoe_flow::{FlowAgent, ParameterType, ParameterValues};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::error::CliError;

/// The value of a parameter, with where it comes from.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GivenParameter")]
pub(super) struct Given {
    /// The flag by which it is given.
    pub(super) flag: String,
    /// The value, unless there is none.
    pub(super) value: Option<Value>,
    /// Where it comes from.
    pub(super) source: Source,
}

/// Where the value of a parameter comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ParameterSource")]
pub(super) enum Source {
    /// The command line.
    Flag,
    /// The definition of the flow.
    Default,
    /// Nowhere: it has none.
    None,
}

/// Reads the words behind the options of the command.
pub(super) fn values(agent: &FlowAgent, words: &[String]) -> Result<ParameterValues, CliError> {
    let read = ParameterValues::from_args(&agent.parameters, words);
    read.map_err(|errors| {
        let message = format!(
            "the parameters of {} are not as they must be\n{errors}",
            agent.name
        );
        CliError::usage(message).with_hint(hint(agent, words))
    })
}

/// Says which parameters there are.
fn hint(agent: &FlowAgent, words: &[String]) -> String {
    let listed = agent.parameters.iter().map(|(name, parameter)| {
        let wanted = match (parameter.parameter_type, parameter.required) {
            (ParameterType::Boolean, _) => String::new(),
            (kind, true) => format!(" {} (required)", placeholder(kind)),
            (kind, false) => format!(" {}", placeholder(kind)),
        };
        format!("{}{wanted}", parameter.flag(name))
    });
    let listed: Vec<_> = listed.collect();
    let there_are = match listed.is_empty() {
        true => "it takes none".to_owned(),
        false => format!("it takes {}", listed.join(", ")),
    };
    match words.is_empty() {
        true => there_are,
        false => format!("{there_are}; options of the command stand before those of the flow"),
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

/// Returns every parameter with its value and where that comes from.
pub(super) fn given(agent: &FlowAgent, words: &[String], values: &ParameterValues) -> Vec<Given> {
    let is_given = |flag: &str| {
        let denied = format!("--no-{}", flag.trim_start_matches("--"));
        let names = words.iter().map(|word| word.split('=').next());
        names.flatten().any(|name| name == flag || name == denied)
    };
    let parameters = agent.parameters.iter().map(|(name, parameter)| {
        let flag = parameter.flag(name);
        let value = values.get(name.as_str()).map(|value| value.to_json());
        let source = match (&value, is_given(&flag)) {
            (None, _) => Source::None,
            (Some(_), true) => Source::Flag,
            (Some(_), false) => Source::Default,
        };
        Given {
            flag,
            value,
            source,
        }
    });
    parameters.collect()
}
