//! [`ParameterValues`]: values of parameters, parsed and validated by their definitions.

use std::collections::BTreeMap;
use std::fmt;

use autonoe_core::project::config_parts::did_you_mean;
use regex_lite::Regex;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::definition::{ParameterDefinition, ParameterRules, ParameterType, VariableName};
use crate::error::{FlowError, FlowErrorKind};
use crate::prompt::Variables;

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
        json!(self)
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
        Self::new(FlowErrorKind::Parameter, message).with_cause(errors)
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

    /// Validates `values`, adds the defaults, and collects all problems.
    pub(super) fn complete(
        parameters: &BTreeMap<VariableName, ParameterDefinition>,
        values: &Map<String, Value>,
        mut errors: Vec<ParameterError>,
        place: impl Fn(&VariableName, &ParameterDefinition) -> String,
    ) -> Result<Self, ParameterErrors> {
        let mut read = BTreeMap::new();
        let reported: Vec<String> = errors.iter().map(|error| error.place.clone()).collect();
        for (name, parameter) in parameters {
            let value = values.get(name.as_str()).or(parameter.default.as_ref());
            let place = place(name, parameter);
            match value.map(|value| value_of(parameter, value)) {
                Some(Ok(value)) => drop(read.insert(name.clone(), value)),
                Some(Err(problem)) => errors.push(ParameterError { place, problem }),
                None if parameter.required && !reported.contains(&place) => {
                    let expected = expected_text(parameter.parameter_type);
                    let problem = format!("a value is required; expected {expected}");
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

/// Parses and validates `value`, or returns the problem.
pub(crate) fn value_of(
    parameter: &ParameterDefinition,
    value: &Value,
) -> Result<ParameterValue, String> {
    let read = read(parameter.parameter_type, value).ok_or_else(|| {
        let expected = expected_text(parameter.parameter_type);
        format!("expected {expected}, found {}", shortened(value))
    })?;
    match parameter.validation.as_ref() {
        Some(rules) => validate(rules, &read).map(|()| read),
        None => Ok(read),
    }
}

fn read(kind: ParameterType, value: &Value) -> Option<ParameterValue> {
    match kind {
        ParameterType::String => Some(ParameterValue::String(value.as_str()?.to_owned())),
        ParameterType::Integer => value.as_i64().map(ParameterValue::Integer),
        ParameterType::Number => value.as_f64().map(ParameterValue::Number),
        ParameterType::Boolean => value.as_bool().map(ParameterValue::Boolean),
        ParameterType::Array => {
            let items = value.as_array()?.iter();
            let texts: Option<Vec<String>> =
                items.map(|item| item.as_str().map(str::to_owned)).collect();
            texts.map(ParameterValue::Array)
        }
    }
}

/// Names the expected kind of value.
pub(super) fn expected_text(kind: ParameterType) -> &'static str {
    match kind {
        ParameterType::String => "a text",
        ParameterType::Integer => "a whole number",
        ParameterType::Number => "a number",
        ParameterType::Boolean => "true or false",
        ParameterType::Array => "a list of texts",
    }
}

fn shortened(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

fn validate(rules: &ParameterRules, value: &ParameterValue) -> Result<(), String> {
    validate_size(rules, value)?;
    let texts: Vec<&str> = match value {
        ParameterValue::String(text) => vec![text],
        ParameterValue::Array(texts) => texts.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    if let Some(pattern) = &rules.pattern {
        let regex = Regex::new(pattern)
            .map_err(|error| format!("{pattern:?} is not a regular expression: {error}"))?;
        if let Some(text) = texts.iter().find(|text| !regex.is_match(text)) {
            return Err(format!("{text:?} does not match {pattern}"));
        }
    }
    if let Some(allowed) = &rules.one_of {
        let values: Vec<Value> = match value {
            ParameterValue::Array(texts) => texts.iter().map(|text| text.as_str().into()).collect(),
            other => vec![other.to_json()],
        };
        let is_allowed = |value: &Value| {
            let number = value.as_f64();
            allowed
                .iter()
                .any(|it| it == value || (number.is_some() && it.as_f64() == number))
        };
        if let Some(other) = values.iter().find(|value| !is_allowed(value)) {
            let names: Vec<String> = allowed.iter().map(ToString::to_string).collect();
            return Err(format!(
                "{} is not one of {}",
                shortened(other),
                names.join(", ")
            ));
        }
    }
    Ok(())
}

fn validate_size(rules: &ParameterRules, value: &ParameterValue) -> Result<(), String> {
    // Lengths are small enough to be exact.
    let (size, unit) = match value {
        ParameterValue::Integer(number) => (*number as f64, "it is"),
        ParameterValue::Number(number) => (*number, "it is"),
        ParameterValue::String(text) => (text.chars().count() as f64, "its length is"),
        ParameterValue::Array(texts) => (texts.len() as f64, "its length is"),
        ParameterValue::Boolean(_) => return Ok(()),
    };
    match (rules.min, rules.max) {
        (Some(min), _) if size < min => Err(format!("{unit} {size} and must be at least {min}")),
        (_, Some(max)) if size > max => Err(format!("{unit} {size} and must be at most {max}")),
        _ => Ok(()),
    }
}
