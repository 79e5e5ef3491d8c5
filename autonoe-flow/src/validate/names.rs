//! Validates names of the flow, its steps and its variables.

use super::findings::{Findings, In};
use crate::definition::Target;
use crate::finding::FindingKind::{Duplicate, Limit, Name};
use crate::prompt::is_context_variable;
use autonoe_core::project::config_parts::below;

pub(super) fn check(findings: &mut Findings<'_>) {
    let (agent, registry) = (findings.agent, findings.registry);
    if agent.version.trim().is_empty() {
        let hint = "write a version, for example \"1.0.0\"";
        findings.error_in(In::Agent, Name, "/version", "the version is blank", hint);
    }
    let folder = findings.definition.folder_name();
    if let Some(folder) = folder.filter(|folder| *folder != agent.name.as_str()) {
        let message = format!("the flow `{}` is in the folder `{folder}`", agent.name);
        let hint = "flows are found by the name of their folder; give both the same name";
        findings.warn_in(In::Agent, Name, "/name", message, hint);
    }
    for name in agent.parameters.keys() {
        let pointer = below("/parameters", name.as_str());
        reserved(findings, In::Agent, pointer, name.as_str());
    }
    for (id, step, at) in findings.steps() {
        if id.as_str() == Target::END {
            let message = "`end` means the end of the flow and cannot be the id of a step";
            findings.error(Name, at.clone(), message, "give the step another id");
        }
        if let Some(own) = step.id().filter(|own| *own != id) {
            let message = format!("the step has the key `{id}` and the id `{own}`");
            let (kind, hint) = if registry.steps.contains_key(own) {
                (Duplicate, format!("another step is `{own}`; remove `id`"))
            } else {
                (Name, "remove `id`, or make both the same".to_owned())
            };
            findings.error(kind, format!("{at}/id"), message, hint);
        }
        let Some(work) = step.work() else {
            continue;
        };
        for name in work.variables.keys() {
            let pointer = below(&format!("{at}/variables"), name.as_str());
            reserved(findings, In::Registry, pointer, name.as_str());
        }
        for (index, name) in work.outputs.iter().enumerate() {
            let pointer = format!("{at}/outputs/{index}");
            if work.outputs[..index].contains(name) {
                let message = format!("the output `{name}` is listed twice");
                findings.error(Duplicate, pointer, message, "remove one of them");
            } else {
                reserved(findings, In::Registry, pointer, name.as_str());
            }
        }
    }
    let limits = registry.limits;
    for (name, limit) in [
        ("stepLoop", limits.step_loop),
        ("maxVisits", limits.max_visits),
    ] {
        if limit == 0 {
            let message = "with a limit of 0 no step could be visited";
            findings.error(Limit, format!("/limits/{name}"), message, "write 1 or more");
        }
    }
}

/// Reports a name that no prompt can use as meant.
fn reserved(findings: &mut Findings<'_>, file: In, pointer: String, name: &str) {
    if let Some(rest) = name.strip_prefix("uv-") {
        let message = format!("a prompt would refer to the variable `{name}` as `{{uv-{name}}}`");
        let hint = format!("write it without `uv-`: `{rest}`");
        findings.error_in(file, Name, pointer, message, hint);
    } else if is_context_variable(name) {
        let message = format!("the flow itself sets the variable `{name}` in every prompt");
        findings.error_in(file, Name, pointer, message, "choose another name");
    }
}
