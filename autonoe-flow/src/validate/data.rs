//! Validates paths into the data: something must set each value.

use super::findings::Findings;
use crate::definition::{DataPath, Step, VariableName, VariableValue};
use crate::finding::FindingKind::UnknownData;
use crate::prompt::CONTEXT_VARIABLES;
use crate::walk::escalation_steps;
use autonoe_core::project::config_parts::below;
use autonoe_core::project::config_parts::did_you_mean;

pub(super) fn check(findings: &mut Findings<'_>) {
    let called = escalation_steps(findings.registry);
    for (id, step, at) in findings.steps() {
        match step {
            Step::Gateway(gateway) => {
                for (index, branch) in gateway.branches.iter().enumerate() {
                    let pointer = format!("{at}/branches/{index}/when/data");
                    let never = ["failure", "response"];
                    check_path(findings, &branch.when.data, pointer, &never);
                }
            }
            Step::Normal(work) | Step::SubStep(work) => {
                let never: &[&str] = if called.contains(id) {
                    &[]
                } else {
                    &["failure"]
                };
                for (name, value) in &work.variables {
                    if let VariableValue::Data(data) = value {
                        let at = below(&format!("{at}/variables"), name.as_str());
                        check_path(findings, &data.from, format!("{at}/from"), never);
                    }
                }
            }
        }
    }
}

/// Checks a path; `never` are the context values that nothing sets there.
fn check_path(findings: &mut Findings<'_>, path: &DataPath, pointer: String, never: &[&str]) {
    let names: Vec<String> = path.names().collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let unknown = match names.as_slice() {
        ["parameters", name, ..] => {
            let known = findings.agent.parameters.keys().map(VariableName::as_str);
            unless_known("parameter", name, known)
        }
        ["context", name, ..] if never.contains(name) => {
            let message = format!("the value `{name}` of the context is not set here");
            let hint = match *name {
                "response" => "it is set in prompts of checks only",
                _ => "it is set in steps that run for an escalation only",
            };
            Some((message, hint.to_owned()))
        }
        ["context", name, ..] => {
            let known = CONTEXT_VARIABLES.iter().map(|(name, _)| *name);
            unless_known("value of the context", name, known)
        }
        ["steps", id, rest @ ..] => match findings.registry.steps.get(*id) {
            None => unless_known("step", id, findings.ids()),
            Some(step) => unknown_step_data(id, step, rest),
        },
        _ => None,
    };
    if let Some((message, hint)) = unknown {
        findings.error(UnknownData, pointer, message, hint);
    }
}

fn unknown_step_data(id: &str, step: &Step, rest: &[&str]) -> Option<(String, String)> {
    let outputs = step.work().map(|work| work.outputs.as_slice());
    let outputs = outputs.unwrap_or_default().iter();
    match rest {
        ["passed" | "visits"] => None,
        ["outputs", name, ..] => {
            let message = format!("the step `{id}` has no output `{name}`");
            let known = outputs.map(VariableName::as_str);
            let is_known = known.clone().any(|known| known == *name);
            let hint = match known.clone().next() {
                None => "add it to `outputs` of that step".to_owned(),
                Some(_) => did_you_mean(name, known),
            };
            (!is_known).then_some((message, hint))
        }
        _ => Some((
            format!("the step `{id}` has no data at this path"),
            format!("use /steps/{id}/passed, /steps/{id}/visits or /steps/{id}/outputs/NAME"),
        )),
    }
}

fn unless_known<'a>(
    kind: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<(String, String)> {
    let is_known = known.clone().into_iter().any(|known| known == name);
    let message = format!("there is no {kind} `{name}`");
    (!is_known).then(|| (message, did_you_mean(name, known)))
}
