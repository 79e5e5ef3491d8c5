//! Parameters: whether their definitions contradict themselves.

use std::collections::BTreeMap;

use regex_lite::Regex;

use super::findings::{Findings, In};
use crate::definition::nested::below;
use crate::definition::{Parameter, ParameterType};
use crate::finding::FindingKind::Parameter as Wrong;
use crate::parameters::{flag_of, value_of};

pub(super) fn check(found: &mut Findings<'_>) {
    let mut flags = BTreeMap::new();
    for (name, parameter) in &found.agent.parameters {
        let at = below("/parameters", name.as_str());
        for (pointer, message, hint) in problems(parameter) {
            found.error_in(In::Agent, Wrong, format!("{at}{pointer}"), message, hint);
        }
        let flag = flag_of(name, parameter);
        if let Some(other) = flags.insert(flag.clone(), name) {
            let message = format!("the parameters `{other}` and `{name}` have the flag {flag}");
            let pointer = format!("{at}/cli");
            let hint = "give one of them another in `cli`";
            found.error_in(In::Agent, Wrong, pointer, message, hint);
        }
    }
}

/// Returns what is wrong with the definition of a parameter: pointer, message, hint.
fn problems(parameter: &Parameter) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    let mut wrong = |pointer: &str, message: &str, hint: &str| {
        found.push((pointer.to_owned(), message.to_owned(), hint.to_owned()));
    };
    if let Some(flag) = &parameter.cli {
        let name = flag.strip_prefix("--").unwrap_or_default();
        let is_fine = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        if !is_fine {
            let message = format!("{flag:?} is not a flag");
            wrong(
                "/cli",
                &message,
                "use --, small letters, digits and -, like --max-rounds",
            );
        }
    }
    if parameter.required && parameter.default.is_some() {
        let message = "a parameter with a default need not be given";
        wrong("/required", message, "leave `required` or `default` out");
    }
    let kind = parameter.parameter_type;
    if let Some(rules) = &parameter.validation {
        if let (Some(min), Some(max)) = (rules.min, rules.max)
            && min > max
        {
            let message = format!("nothing is at least {min} and at most {max}");
            wrong("/validation/min", &message, "swap `min` and `max`");
        }
        if kind == ParameterType::Boolean && (rules.min.is_some() || rules.max.is_some()) {
            let message = "true and false have no size";
            wrong("/validation", message, "leave `min` and `max` out");
        }
        if let Some(pattern) = &rules.pattern {
            let is_of_text = matches!(kind, ParameterType::String | ParameterType::Array);
            if !is_of_text {
                let message = "only a text can match a pattern";
                wrong("/validation/pattern", message, "leave it out");
            } else if let Err(error) = Regex::new(pattern) {
                let message = format!("{pattern:?} is not a regular expression: {error}");
                wrong("/validation/pattern", &message, "mend it");
            }
        }
        if rules.one_of.as_ref().is_some_and(Vec::is_empty) {
            let message = "no value at all would do";
            wrong(
                "/validation/enum",
                message,
                "name the values, or leave it out",
            );
        }
    }
    if let Some(default) = &parameter.default
        && let Err(problem) = value_of(parameter, default)
    {
        let message = format!("the default breaks its own rules: {problem}");
        wrong("/default", &message, "change the default or the rules");
    }
    found
}
