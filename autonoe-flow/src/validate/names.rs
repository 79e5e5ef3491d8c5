//! Names: of the flow, of its steps, of its variables.

use super::findings::{Findings, In};
use crate::definition::Target;
use crate::definition::nested::below;
use crate::finding::FindingKind::{Duplicate, Limit, Name};
use crate::prompt::is_context_variable;

pub(super) fn check(found: &mut Findings<'_>) {
    let (agent, registry) = (found.agent, found.registry);
    if agent.version.trim().is_empty() {
        let hint = "write a version, for example \"1.0.0\"";
        found.error_in(In::Agent, Name, "/version", "the version is blank", hint);
    }
    let folder = found.definition.folder_name();
    if let Some(folder) = folder.filter(|folder| *folder != agent.name.as_str()) {
        let message = format!("the flow `{}` stands in the folder `{folder}`", agent.name);
        let hint = "a flow is found by the name of its folder; give both the same name";
        found.warn_in(In::Agent, Name, "/name", message, hint);
    }
    for name in agent.parameters.keys() {
        let pointer = below("/parameters", name.as_str());
        reserved(found, In::Agent, pointer, name.as_str());
    }
    for (id, step, at) in found.steps() {
        if id.as_str() == Target::END {
            let message = "`end` is the end of the flow and cannot be a step";
            found.error(Name, at.clone(), message, "give the step another id");
        }
        if let Some(own) = step.id().filter(|own| *own != id) {
            let message = format!("the step stands under `{id}` and calls itself `{own}`");
            let (kind, hint) = match registry.steps.contains_key(own) {
                true => (
                    Duplicate,
                    format!("another step is `{own}`; leave `id` out"),
                ),
                false => (Name, "leave `id` out, or make both the same".to_owned()),
            };
            found.error(kind, format!("{at}/id"), message, hint);
        }
        let Some(work) = step.work() else {
            continue;
        };
        for name in work.variables.keys() {
            let pointer = below(&format!("{at}/variables"), name.as_str());
            reserved(found, In::Registry, pointer, name.as_str());
        }
        for (index, name) in work.outputs.iter().enumerate() {
            let pointer = format!("{at}/outputs/{index}");
            if work.outputs[..index].contains(name) {
                let message = format!("the output `{name}` stands twice");
                found.error(Duplicate, pointer, message, "keep one of them");
            } else {
                reserved(found, In::Registry, pointer, name.as_str());
            }
        }
    }
    let limits = registry.limits;
    for (name, limit) in [
        ("stepLoop", limits.step_loop),
        ("maxVisits", limits.max_visits),
    ] {
        if limit == 0 {
            let message = "no step could be visited once";
            found.error(Limit, format!("/limits/{name}"), message, "write 1 or more");
        }
    }
}

fn reserved(found: &mut Findings<'_>, file: In, pointer: String, name: &str) {
    if is_context_variable(name) {
        let message = format!("every prompt has a variable `{name}` that the flow sets itself");
        found.error_in(file, Name, pointer, message, "choose another name");
    }
}
