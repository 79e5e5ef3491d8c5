//! [`ParameterValues`]: typed values of parameters.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use super::args::read_args;
use super::rules::value_of;
use crate::definition::{ParameterDefinition, VariableName};
use crate::error::{FlowError, FlowErrorKind};
use crate::prompt::Variables;
use autonoe_core::project::config_parts::did_you_mean;

/// Validated values of the parameters of a flow.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use autonoe_flow::definition::{ParameterDefinition, VariableName};
/// use autonoe_flow::ParameterValues;
///
/// let parameters: BTreeMap<VariableName, ParameterDefinition> = serde_json::from_str(
///     r#"{
///         "origin": {"type": "string", "required": true},
///         "days": {"type": "integer", "default": 3, "validation": {"max": 9}}
///     }"#,
/// )?;
///
/// let values = ParameterValues::from_args(&parameters, ["--origin", "Tokyo"])?;
/// assert_eq!(values.variables()["origin"], "Tokyo");
///
/// let error = ParameterValues::from_args(&parameters, ["--days=10"]).expect_err("two mistakes");
/// assert_eq!(
///     error.to_string(),
///     "--days: it is 10 and must be at most 9\n--origin: a value is required; expected a text"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ParameterValues(BTreeMap<VariableName, ParameterValue>);

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ParameterValue {
    /// A string.
    String(String),
    /// An integer.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A boolean.
    Boolean(bool),
    /// A list of strings.
    Array(Vec<String>),
}

impl ParameterValue {
    /// Returns the value as JSON.
    pub fn to_json(&self) -> Value {
        match self {
            Self::String(text) => text.as_str().into(),
            Self::Integer(number) => (*number).into(),
            Self::Number(number) => (*number).into(),
            Self::Boolean(truth) => (*truth).into(),
            Self::Array(texts) => texts.clone().into(),
        }
    }
}

impl fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String(text) => f.write_str(text),
            Self::Integer(number) => number.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Boolean(truth) => truth.fmt(f),
            Self::Array(texts) => f.write_str(&texts.join(", ")),
        }
    }
}

/// A problem of a parameter's value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
#[non_exhaustive]
pub struct ParameterError {
    /// The flag, or the name of the parameter.
    pub place: String,
    /// The problem, and how to fix it.
    pub problem: String,
}

/// All problems of the values of parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterErrors(pub Vec<ParameterError>);

impl fmt::Display for ParameterErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            let line_end = if index > 0 { "\n" } else { "" };
            write!(f, "{line_end}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ParameterErrors {}

impl From<ParameterErrors> for FlowError {
    fn from(errors: ParameterErrors) -> Self {
        let message = "the parameters of the flow are invalid";
        Self::new(FlowErrorKind::Parameter, message).because(errors)
    }
}

impl ParameterValues {
    /// Parses the values from a JSON object.
    ///
    /// # Errors
    ///
    /// Lists all problems: values that are missing, unknown, of another type, or invalid by their
    /// rules.
    pub fn from_json(
        parameters: &BTreeMap<VariableName, ParameterDefinition>,
        values: &Value,
    ) -> Result<Self, ParameterErrors> {
        let Value::Object(values) = values else {
            return Err(ParameterErrors(vec![ParameterError {
                place: "the parameters".to_owned(),
                problem: "expected an object with a field for each parameter".to_owned(),
            }]));
        };
        let mut errors = Vec::new();
        for name in values.keys() {
            if !parameters.contains_key(name.as_str()) {
                let known = parameters.keys().map(VariableName::as_str);
                errors.push(ParameterError {
                    place: format!("`{name}`"),
                    problem: format!(
                        "this parameter does not exist; {}",
                        did_you_mean(name, known)
                    ),
                });
            }
        }
        let place = |name: &VariableName, _: &ParameterDefinition| format!("`{name}`");
        Self::complete(parameters, values, errors, place)
    }

    /// Parses the values from command-line arguments: `--days 3`, `--days=3`, `--quick`,
    /// `--no-quick`.
    ///
    /// Repeat a flag to pass a list.
    ///
    /// # Errors
    ///
    /// Lists all problems: flags that are missing, unknown, repeated or without a value, and values
    /// of another type or invalid by their rules.
    pub fn from_args<I>(
        parameters: &BTreeMap<VariableName, ParameterDefinition>,
        args: I,
    ) -> Result<Self, ParameterErrors>
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        let args = args.into_iter().map(Into::into).collect();
        let (values, errors) = read_args(parameters, args);
        Self::complete(parameters, &values, errors, super::flag_of)
    }

    /// Validates `values`, adds the defaults, and collects all problems.
    fn complete(
        parameters: &BTreeMap<VariableName, ParameterDefinition>,
        values: &Map<String, Value>,
        mut errors: Vec<ParameterError>,
        place: impl Fn(&VariableName, &ParameterDefinition) -> String,
    ) -> Result<Self, ParameterErrors> {
        let mut read = BTreeMap::new();
        let reported: Vec<String> = errors.iter().map(|error| error.place.clone()).collect();
        for (name, parameter) in parameters {
            let given = values.get(name.as_str()).or(parameter.default.as_ref());
            let place = place(name, parameter);
            match given.map(|value| value_of(parameter, value)) {
                Some(Ok(value)) => drop(read.insert(name.clone(), value)),
                Some(Err(problem)) => errors.push(ParameterError { place, problem }),
                None if parameter.required && !reported.contains(&place) => {
                    let wanted = super::rules::wanted(parameter.parameter_type);
                    let problem = format!("a value is required; expected {wanted}");
                    errors.push(ParameterError { place, problem });
                }
                None => {}
            }
        }
        if errors.is_empty() {
            Ok(Self(read))
        } else {
            Err(ParameterErrors(errors))
        }
    }

    /// Returns the value of a parameter.
    pub fn get(&self, name: &str) -> Option<&ParameterValue> {
        self.0.get(name)
    }

    /// Returns all values by name.
    pub fn iter(&self) -> impl Iterator<Item = (&VariableName, &ParameterValue)> {
        self.0.iter()
    }

    /// Returns the values as variables of prompts, without the `uv-` prefix.
    pub fn variables(&self) -> Variables {
        let values = self.0.iter();
        values
            .map(|(name, value)| (name.clone(), value.to_string()))
            .collect()
    }
}
