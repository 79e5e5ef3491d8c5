//! Parses and validates the value of a parameter.

use regex_lite::Regex;
use serde_json::Value;

use super::values::ParameterValue;
use crate::definition::{ParameterDefinition, ParameterRules, ParameterType};

/// Parses and validates `value`, or returns the problem.
pub(crate) fn value_of(
    parameter: &ParameterDefinition,
    value: &Value,
) -> Result<ParameterValue, String> {
    let read = read(parameter.parameter_type, value).ok_or_else(|| {
        let wanted = wanted(parameter.parameter_type);
        format!("expected {wanted}, found {}", shortened(value))
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
pub(super) fn wanted(kind: ParameterType) -> &'static str {
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
    let (size, what) = match value {
        ParameterValue::Integer(number) => (*number as f64, "it is"),
        ParameterValue::Number(number) => (*number, "it is"),
        ParameterValue::String(text) => (text.chars().count() as f64, "its length is"),
        ParameterValue::Array(texts) => (texts.len() as f64, "its length is"),
        ParameterValue::Boolean(_) => return Ok(()),
    };
    match (rules.min, rules.max) {
        (Some(min), _) if size < min => Err(format!("{what} {size} and must be at least {min}")),
        (_, Some(max)) if size > max => Err(format!("{what} {size} and must be at most {max}")),
        _ => Ok(()),
    }
}
