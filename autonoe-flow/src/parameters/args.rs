//! Parameters as command-line flags.

use std::collections::BTreeMap;

use autonoe_core::project::config_parts::did_you_mean;
use serde_json::{Map, Value};

use super::values::{ParameterError, ParameterErrors, ParameterValues, expected_text};
use crate::definition::{ParameterDefinition, ParameterType, VariableName};

/// Returns the flag of a parameter: the explicit one, or one derived from its name.
pub(crate) fn flag_of(name: &VariableName, parameter: &ParameterDefinition) -> String {
    match &parameter.cli {
        Some(flag) => flag.clone(),
        None => format!("--{}", kebab(name.as_str())),
    }
}

impl ParameterDefinition {
    /// Returns the command-line flag of the parameter `name`.
    ///
    /// ```
    /// use autonoe_flow::definition::ParameterDefinition;
    ///
    /// let parameter: ParameterDefinition = serde_json::from_str(r#"{"type": "integer"}"#)?;
    ///
    /// assert_eq!(parameter.flag(&"maxRounds".parse()?), "--max-rounds");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn flag(&self, name: &VariableName) -> String {
        flag_of(name, self)
    }
}

impl ParameterValues {
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
        Self::complete(parameters, &values, errors, flag_of)
    }
}

/// Formats `maxRounds` and `max_rounds` as `max-rounds`.
fn kebab(name: &str) -> String {
    let mut flag = String::new();
    for c in name.chars() {
        match c {
            '_' => flag.push('-'),
            'A'..='Z' => {
                if !flag.is_empty() && !flag.ends_with('-') {
                    flag.push('-');
                }
                flag.push(c.to_ascii_lowercase());
            }
            c => flag.push(c),
        }
    }
    flag
}

/// Parses command-line arguments into values that are not yet validated.
fn read_args(
    parameters: &BTreeMap<VariableName, ParameterDefinition>,
    args: Vec<String>,
) -> (Map<String, Value>, Vec<ParameterError>) {
    let mut values = Map::new();
    let mut errors = Vec::new();
    let flags: BTreeMap<String, (&VariableName, &ParameterDefinition)> = parameters
        .iter()
        .map(|(name, parameter)| (flag_of(name, parameter), (name, parameter)))
        .collect();
    let mut args = args.into_iter().peekable();
    while let Some(word) = args.next() {
        let (flag, attached) = match word.split_once('=') {
            Some((flag, value)) => (flag.to_owned(), Some(value.to_owned())),
            None => (word.clone(), None),
        };
        let mut wrong = |problem: String| {
            errors.push(ParameterError {
                place: flag.clone(),
                problem,
            });
        };
        let Some((name, parameter, is_negated)) = find(&flags, &flag) else {
            wrong(if flag.starts_with("--") {
                format!(
                    "this flag does not exist; {}",
                    did_you_mean(&flag, flags.keys().map(String::as_str))
                )
            } else {
                "expected a flag that starts with --".to_owned()
            });
            // The next argument is most likely its value.
            args.next_if(|next| flag.starts_with("--") && !next.starts_with("--"));
            continue;
        };
        let kind = parameter.parameter_type;
        let text = match (attached, kind) {
            (Some(_), _) if is_negated => {
                wrong("this flag takes no value".to_owned());
                continue;
            }
            (Some(text), _) => text,
            (None, ParameterType::Boolean) => (!is_negated).to_string(),
            (None, _) => match args.next_if(|next| !next.starts_with("--")) {
                Some(text) => text,
                None => {
                    let expected = expected_text(kind);
                    wrong(format!(
                        "expected {expected} after the flag; write {flag}=VALUE for a value that \
                         starts with --"
                    ));
                    continue;
                }
            },
        };
        let Some(value) = value(kind, &text) else {
            wrong(format!("expected {}, found {text:?}", expected_text(kind)));
            continue;
        };
        match (values.get_mut(name.as_str()), value) {
            (None, value) => drop(values.insert(name.to_string(), value)),
            (Some(Value::Array(texts)), Value::Array(more)) => texts.extend(more),
            (Some(_), _) => wrong("the flag is given more than once".to_owned()),
        }
    }
    (values, errors)
}

/// Finds the parameter of `flag`, and whether a `no-` prefix negates it.
fn find<'a>(
    flags: &BTreeMap<String, (&'a VariableName, &'a ParameterDefinition)>,
    flag: &str,
) -> Option<(&'a VariableName, &'a ParameterDefinition, bool)> {
    if let Some((name, parameter)) = flags.get(flag) {
        return Some((name, parameter, false));
    }
    let positive = format!("--{}", flag.strip_prefix("--no-")?);
    let (name, parameter) = flags.get(&positive)?;
    (parameter.parameter_type == ParameterType::Boolean).then_some((*name, *parameter, true))
}

fn value(kind: ParameterType, text: &str) -> Option<Value> {
    match kind {
        ParameterType::String => Some(text.into()),
        ParameterType::Integer => text.parse::<i64>().ok().map(Value::from),
        ParameterType::Number => {
            let number = text.parse::<f64>().ok()?;
            serde_json::Number::from_f64(number).map(Value::from)
        }
        ParameterType::Boolean => text.parse::<bool>().ok().map(Value::from),
        ParameterType::Array => Some(vec![text].into()),
    }
}
