//! Parameters as flags of a command line.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::rules::wanted;
use super::values::ParameterError;
use crate::definition::{Parameter, ParameterType, VariableName};
use crate::suggest::did_you_mean;

/// Returns the flag of a parameter: the one that it names, else one made of its name.
pub(crate) fn flag_of(name: &VariableName, parameter: &Parameter) -> String {
    match &parameter.cli {
        Some(flag) => flag.clone(),
        None => format!("--{}", kebab(name.as_str())),
    }
}

impl Parameter {
    /// Returns the flag by which the parameter `name` is given on a command line.
    ///
    /// ```
    /// use autonoe_flow::Parameter;
    ///
    /// let parameter: Parameter = serde_json::from_str(r#"{"type": "integer"}"#)?;
    ///
    /// assert_eq!(parameter.flag(&"maxRounds".parse()?), "--max-rounds");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn flag(&self, name: &VariableName) -> String {
        flag_of(name, self)
    }
}

/// Writes `maxRounds` and `max_rounds` as `max-rounds`.
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

/// Reads the words of a command line into values that are still to be held against the rules.
pub(super) fn read_args(
    parameters: &BTreeMap<VariableName, Parameter>,
    args: Vec<String>,
) -> (Map<String, Value>, Vec<ParameterError>) {
    let mut values = Map::new();
    let mut errors = Vec::new();
    let flags: BTreeMap<String, (&VariableName, &Parameter)> = parameters
        .iter()
        .map(|(name, parameter)| (flag_of(name, parameter), (name, parameter)))
        .collect();
    let mut words = args.into_iter().peekable();
    while let Some(word) = words.next() {
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
        let Some((name, parameter, is_denied)) = find(&flags, &flag) else {
            wrong(match flag.starts_with("--") {
                true => format!(
                    "there is no such flag; {}",
                    did_you_mean(&flag, flags.keys().map(String::as_str))
                ),
                false => "expected a flag, which begins with --".to_owned(),
            });
            // What follows is most likely its value.
            words.next_if(|next| flag.starts_with("--") && !next.starts_with("--"));
            continue;
        };
        let kind = parameter.parameter_type;
        let text = match (attached, kind) {
            (Some(_), _) if is_denied => {
                wrong("it takes no value".to_owned());
                continue;
            }
            (Some(text), _) => text,
            (None, ParameterType::Boolean) => (!is_denied).to_string(),
            (None, _) => match words.next_if(|next| !next.starts_with("--")) {
                Some(text) => text,
                None => {
                    let wanted = wanted(kind);
                    wrong(format!(
                        "expected {wanted} behind it; write {flag}=VALUE for a value that begins with --"
                    ));
                    continue;
                }
            },
        };
        let Some(value) = value(kind, &text) else {
            wrong(format!("expected {}, found {text:?}", wanted(kind)));
            continue;
        };
        match (values.get_mut(name.as_str()), value) {
            (None, value) => drop(values.insert(name.to_string(), value)),
            (Some(Value::Array(texts)), Value::Array(more)) => texts.extend(more),
            (Some(_), _) => wrong("it is given twice".to_owned()),
        }
    }
    (values, errors)
}

/// Finds the parameter of `flag`, and whether it is denied by a `no-`.
fn find<'a>(
    flags: &BTreeMap<String, (&'a VariableName, &'a Parameter)>,
    flag: &str,
) -> Option<(&'a VariableName, &'a Parameter, bool)> {
    if let Some((name, parameter)) = flags.get(flag) {
        return Some((name, parameter, false));
    }
    let denied = format!("--{}", flag.strip_prefix("--no-")?);
    let (name, parameter) = flags.get(&denied)?;
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
