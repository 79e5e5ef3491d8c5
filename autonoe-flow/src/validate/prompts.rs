//! Validates that prompts exist and can be used, and that their variables are defined.

use std::collections::{BTreeMap, BTreeSet};

use autonoe_core::project::config_parts::below;
use autonoe_core::project::suggest;

use super::findings::Findings;
use crate::definition::{StepId, StepsRegistry, VariableName, VariableValue};
use crate::finding::FindingKind::{
    NeverUsed, PromptFallback, PromptNotFound, PromptText, UndefinedVariable, UnsetVariable,
};
use crate::load::{PromptFile, PromptUse, prompt_uses};
use crate::prompt::{PromptOrigin, candidates, is_context_variable};
use crate::walk::{escalation_step, escalation_steps, reachable, steps_within, targets};

pub(super) fn check(findings: &mut Findings<'_>) {
    for used in prompt_uses(findings.agent, findings.registry) {
        prompt(findings, &used);
    }
}

fn prompt(findings: &mut Findings<'_>, used: &PromptUse) {
    let candidates = candidates(&used.reference, &findings.agent.prompts);
    let pointer = used.pointer.clone();
    match findings.prompt_file(&used.reference) {
        None => {
            let path = candidates[0].path.display().to_string();
            let message = match candidates.len() {
                1 => format!("the prompt {path} does not exist"),
                _ => format!("the prompt {path} does not exist, and neither does a fallback"),
            };
            let hint = match suggest(&path, findings.definition.files()) {
                Some(similar) => format!("did you mean `{similar}`?"),
                None => "create the file".to_owned(),
            };
            findings.error_in(used.file, PromptNotFound, pointer, message, hint);
        }
        Some((candidate, PromptFile::Broken { problem, hint })) => {
            let message = format!("the prompt {}: {problem}", candidate.path.display());
            findings.error_in(used.file, PromptText, pointer, message, hint.clone());
        }
        Some((candidate, PromptFile::Text { .. })) => {
            if candidate.origin != PromptOrigin::Reference {
                let path = candidates[0].path.display();
                let message = format!(
                    "the prompt {path} does not exist, so {} is used",
                    candidate.path.display()
                );
                let hint = "create it, or refer to the other file";
                findings.warn_in(used.file, PromptFallback, pointer, message, hint);
            }
        }
    }
}

pub(super) fn check_variables(findings: &mut Findings<'_>) {
    let before = Predecessors::new(findings.registry);
    let mut used_by_step: BTreeMap<StepId, Option<BTreeSet<VariableName>>> = BTreeMap::new();
    for used in prompt_uses(findings.agent, findings.registry) {
        let variables = variables_of(findings, &used);
        if let Some(step) = &used.step {
            let all = used_by_step
                .entry(step.clone())
                .or_insert_with(|| Some(BTreeSet::new()));
            // A missing prompt may use any variable.
            match (all.as_mut(), &variables) {
                (Some(all), Some(variables)) => all.extend(variables.iter().cloned()),
                _ => *all = None,
            }
        }
        for name in variables.unwrap_or_default() {
            variable(findings, &used, &name, &before);
        }
    }
    never_used(findings, &used_by_step);
}

/// Returns the variables of the prompt that would be used, or `None` if there is no usable one.
fn variables_of(findings: &Findings<'_>, used: &PromptUse) -> Option<BTreeSet<VariableName>> {
    match findings.prompt_file(&used.reference)?.1 {
        PromptFile::Text { variables, .. } => Some(variables.clone()),
        PromptFile::Broken { .. } => None,
    }
}

fn variable(
    findings: &mut Findings<'_>,
    used: &PromptUse,
    name: &VariableName,
    before: &Predecessors<'_>,
) {
    let work = used.step.as_ref().and_then(|id| findings.registry.work(id));
    let is_check = used.pointer.ends_with("/check/prompt");
    let outputs = used.step.as_ref().map(|id| before.outputs(id, is_check));
    let outputs = outputs.unwrap_or_default();
    if findings.agent.prompts.allow_undefined.contains(name) {
        return;
    }
    let own = work.and_then(|work| work.variables.get(name));
    // A variable of the step replaces one from another source, also if it has no value.
    if let Some(value) = own {
        if !is_check && is_set_in_checks_only(value) {
            let hint = "the flow sets its value in prompts of checks only";
            undefined(findings, used, name, hint.to_owned());
        }
        return;
    }
    if outputs.contains(name) {
        return;
    }
    if let Some(parameter) = findings.agent.parameters.get(name) {
        if !parameter.required && parameter.default.is_none() {
            let message = format!("the variable `{name}` has no value if the parameter is omitted");
            let hint = "make the parameter required, or add a default";
            let pointer = used.pointer.clone();
            findings.warn_in(used.file, UnsetVariable, pointer, message, hint);
        }
        return;
    }
    let is_set_here = match (name.as_str(), &used.step) {
        ("response" | "retry", _) => is_check,
        // It is the failure of the escalated step, for which this step runs.
        ("failure", Some(step)) => before.called.contains(step),
        (name, Some(_)) => is_context_variable(name),
        // The system prompt is filled once, before the first step.
        (name, None) => name == "flow",
    };
    if is_set_here {
        return;
    }
    let hint = if is_context_variable(name.as_str()) {
        "the flow sets it in other prompts only".to_owned()
    } else {
        let own = work.into_iter().flat_map(|work| work.variables.keys());
        let known = own.chain(&outputs).chain(findings.agent.parameters.keys());
        match suggest(name.as_str(), known.map(VariableName::as_str)) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => "set it in `variables` of the step or as a parameter, or allow it in \
                 `prompts.allowUndefined`"
                .to_owned(),
        }
    };
    undefined(findings, used, name, hint);
}

/// Returns whether a variable of a step has a value only after the answer of its attempt.
fn is_set_in_checks_only(value: &VariableValue) -> bool {
    let VariableValue::Data(data) = value else {
        return false;
    };
    let names: Vec<String> = data.from.names().collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    matches!(names.as_slice(), ["context", "response" | "retry", ..])
}

/// Reports a variable that nothing sets: an error in strict mode, a warning otherwise.
fn undefined(findings: &mut Findings<'_>, used: &PromptUse, name: &VariableName, hint: String) {
    let message = format!("nothing sets the variable `{name}` of the prompt");
    let (file, pointer) = (used.file, used.pointer.clone());
    if findings.agent.prompts.strict_variables {
        findings.error_in(file, UndefinedVariable, pointer, message, hint);
    } else {
        findings.warn_in(file, UndefinedVariable, pointer, message, hint);
    }
}

fn never_used(
    findings: &mut Findings<'_>,
    used: &BTreeMap<StepId, Option<BTreeSet<VariableName>>>,
) {
    for (id, work, at) in findings.work() {
        let Some(Some(used)) = used.get(id) else {
            continue;
        };
        for name in work.variables.keys().filter(|name| !used.contains(*name)) {
            let pointer = below(&format!("{at}/variables"), name.as_str());
            let message = format!("no prompt of the step uses the variable `{name}`");
            let hint = format!("write {{uv-{name}}} in the prompt, or remove it");
            findings.warn(NeverUsed, pointer, message, hint);
        }
    }
}

/// The steps that may run before each step.
struct Predecessors<'a> {
    registry: &'a StepsRegistry,
    parents: BTreeMap<&'a StepId, Vec<&'a StepId>>,
    /// The steps that run for an escalation.
    called: BTreeSet<StepId>,
    /// All direct and indirect predecessors of each step.
    transitive: BTreeMap<StepId, BTreeSet<StepId>>,
}

impl<'a> Predecessors<'a> {
    fn new(registry: &'a StepsRegistry) -> Self {
        let mut parents: BTreeMap<&StepId, Vec<&StepId>> = BTreeMap::new();
        let mut direct: BTreeMap<StepId, Vec<StepId>> = BTreeMap::new();
        for (id, step) in &registry.steps {
            for sub in step.work().into_iter().flat_map(|work| &work.sub_steps) {
                parents.entry(sub).or_default().push(id);
            }
            let next = targets(id, step, registry).filter_map(|target| target.step().cloned());
            let runs = escalation_step(step);
            // An escalation step runs before the step that follows the escalation.
            for next in next.chain(runs.clone()) {
                let before = direct.entry(next).or_default();
                before.push(id.clone());
                before.extend(runs.clone());
            }
        }
        let before = |id: &StepId| direct.get(id).cloned().unwrap_or_default();
        let ids = registry.steps.keys();
        let transitive = ids
            .map(|id| (id.clone(), reachable(before(id), before)))
            .collect();
        Self {
            registry,
            parents,
            called: escalation_steps(registry),
            transitive,
        }
    }

    /// Returns the outputs that may be set before the step, or before its check.
    fn outputs(&self, id: &StepId, is_check: bool) -> BTreeSet<VariableName> {
        let mut outputs = BTreeSet::new();
        if is_check {
            self.add_all(id, &mut outputs);
        }
        self.add_before(id, &mut outputs, &mut BTreeSet::new());
        outputs
    }

    fn add_before(
        &self,
        id: &StepId,
        outputs: &mut BTreeSet<VariableName>,
        visited: &mut BTreeSet<StepId>,
    ) {
        if !visited.insert(id.clone()) {
            return;
        }
        for before in self.transitive.get(id).into_iter().flatten() {
            self.add_all(before, outputs);
        }
        for parent in self.parents.get(id).into_iter().flatten() {
            let Some(work) = self.registry.work(parent) else {
                continue;
            };
            outputs.extend(work.outputs.iter().cloned());
            for earlier in work.sub_steps.iter().take_while(|sub| *sub != id) {
                self.add_all(earlier, outputs);
            }
            self.add_before(parent, outputs, visited);
        }
    }

    /// Adds the outputs of a step and of its sub-steps.
    fn add_all(&self, id: &StepId, outputs: &mut BTreeSet<VariableName>) {
        let Some(work) = self.registry.work(id) else {
            return;
        };
        let within = steps_within(work, self.registry);
        let inner = within.iter().filter_map(|sub| self.registry.work(sub));
        for work in inner.chain([work]) {
            outputs.extend(work.outputs.iter().cloned());
        }
    }
}
