//! Validates that definitions of parameters are consistent.

use std::collections::BTreeMap;

use regex_lite::Regex;

use super::findings::{Findings, In};
use crate::definition::{ParameterDefinition, ParameterType};
use crate::finding::FindingKind::Parameter as Wrong;
use crate::parameters::{flag_of, value_of};
use autonoe_core::project::config_parts::below;

pub(super) fn check(findings: &mut Findings<'_>) {
    let mut flags = BTreeMap::new();
    for (name, parameter) in &findings.agent.parameters {
        let at = below("/parameters", name.as_str());
        for (pointer, message, hint) in problems(parameter) {
            findings.error_in(In::Agent, Wrong, format!("{at}{pointer}"), message, hint);
        }
        let flag = flag_of(name, parameter);
        if let Some(other) = flags.insert(flag.clone(), name) {
            let message =
                format!("the parameters `{other}` and `{name}` have the same flag {flag}");
            let pointer = format!("{at}/cli");
            let hint = "give one of them another flag in `cli`";
            findings.error_in(In::Agent, Wrong, pointer, message, hint);
        }
    }
}

/// Returns the problems of a parameter's definition: pointer, message, hint.
fn problems(parameter: &ParameterDefinition) -> Vec<(String, String, String)> {
    let mut problems = Vec::new();
    let mut wrong = |pointer: &str, message: &str, hint: &str| {
        problems.push((pointer.to_owned(), message.to_owned(), hint.to_owned()));
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
                "use --, lower-case letters, digits and -, like --max-rounds",
            );
        }
    }
    if parameter.required && parameter.default.is_some() {
        let message = "a parameter with a default cannot be required";
        wrong("/required", message, "remove `required` or `default`");
    }
    let kind = parameter.parameter_type;
    if let Some(rules) = &parameter.validation {
        if let (Some(min), Some(max)) = (rules.min, rules.max)
            && min > max
        {
            let message = format!("no value is at least {min} and at most {max}");
            wrong("/validation/min", &message, "swap `min` and `max`");
        }
        if kind == ParameterType::Boolean && (rules.min.is_some() || rules.max.is_some()) {
            let message = "a boolean has no size";
            wrong("/validation", message, "remove `min` and `max`");
        }
        if let Some(pattern) = &rules.pattern {
            let is_of_text = matches!(kind, ParameterType::String | ParameterType::Array);
            if !is_of_text {
                let message = "only texts can have a pattern";
                wrong("/validation/pattern", message, "remove it");
            } else if let Err(error) = Regex::new(pattern) {
                let message = format!("{pattern:?} is not a regular expression: {error}");
                wrong("/validation/pattern", &message, "correct the pattern");
            }
        }
        if rules.one_of.as_ref().is_some_and(Vec::is_empty) {
            let message = "the list of values is empty, so no value is valid";
            wrong(
                "/validation/enum",
                message,
                "add values, or remove the list",
            );
        }
    }
    if let Some(default) = &parameter.default
        && let Err(problem) = value_of(parameter, default)
    {
        let message = format!("the default is invalid: {problem}");
        wrong("/default", &message, "change the default or the rules");
    }
    problems
}
