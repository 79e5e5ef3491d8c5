//! Validates the completion condition, and that the flow can reach it and finish from every state.

use std::collections::{BTreeMap, BTreeSet};

use autonoe_core::project::config_parts::below;

use super::findings::{Findings, In};
use crate::completion::Unreachable;
use crate::definition::quoted;
use crate::definition::{Completion, CompositeMode, StepId, Target};
use crate::finding::FindingKind::{
    Completion as WrongCompletion, CycleWithoutExit, GatewayCycle, ImpossibleCompletion, Limit,
    NeverUsed,
};
use crate::walk::{Formula, Verdict, explore, max_iterations_and_checks, reachable, targets};

/// JSON pointer of a flow's completion condition.
const CONFIG: &str = "/behavior/completionConfig";

pub(super) fn check(findings: &mut Findings<'_>) {
    let completion = &findings.agent.behavior.completion;
    for mistake in completion.kind().mistakes() {
        let it = mistake.below(CONFIG);
        findings.error_in(In::Agent, WrongCompletion, it.pointer, it.message, it.hint);
    }
    gateway_cycles(findings);
    let mut impossible = Vec::new();
    let is_possible = can_hold(findings, completion, CONFIG, &mut impossible);
    for (pointer, message, hint) in impossible {
        if is_possible {
            findings.warn_in(In::Agent, NeverUsed, pointer, message, hint);
        } else {
            findings.error_in(In::Agent, ImpossibleCompletion, pointer, message, hint);
        }
    }
    if !is_possible {
        return;
    }
    match explore(findings.registry, &completion.kind().formula()) {
        Verdict::Finishes => {}
        Verdict::CannotFinish { steps, .. } => stuck(findings, &steps),
        Verdict::TooLarge => {
            let message = "the flow has too many paths to check them all";
            let hint = "it is unknown whether every path can complete the flow; use smaller counts \
                        in the condition to get it checked";
            findings.warn_in(In::Agent, Limit, CONFIG, message, hint);
        }
    }
}

/// Returns whether `completion` can hold on some path, and lists the conditions that cannot.
fn can_hold(
    findings: &Findings<'_>,
    completion: &Completion,
    at: &str,
    impossible: &mut Vec<(String, String, String)>,
) -> bool {
    if let Completion::Composite(composite) = completion {
        let mut holds = Vec::new();
        for (index, condition) in composite.conditions.iter().enumerate() {
            let at = format!("{at}/conditions/{index}/config");
            holds.push(can_hold(findings, &condition.completion, &at, impossible));
        }
        return match composite.mode {
            // The validation of completion conditions reports an empty list.
            _ if holds.is_empty() => true,
            CompositeMode::Any => holds.contains(&true),
            CompositeMode::All => !holds.contains(&false),
        };
    }
    let Some(Unreachable { message, hint }) = completion.kind().unreachable() else {
        return true;
    };
    let formula = completion.kind().formula();
    let (most_iterations, most_checks) = max_iterations_and_checks(findings.registry);
    let is_out_of_reach = match &formula {
        Formula::Iterations(number) if *number > most_iterations => true,
        Formula::Checks(number) if *number > most_checks => true,
        formula => matches!(
            explore(findings.registry, formula),
            Verdict::CannotFinish {
                from_the_start: true,
                ..
            }
        ),
    };
    if is_out_of_reach {
        impossible.push((at.to_owned(), message, hint.to_owned()));
    }
    !is_out_of_reach
}

fn stuck(findings: &mut Findings<'_>, steps: &BTreeSet<StepId>) {
    let after = reachable_targets(findings);
    let reaches_end = |id: &StepId| after[id].contains(&Target::End);
    let mut reported = BTreeSet::new();
    for id in steps.iter().filter(|id| !reaches_end(id)) {
        let is_in_circle = after[id].contains(&id.clone().into());
        // Report only terminal cycles, from which every path leads back.
        let returns = after[id].iter().filter_map(Target::step).all(|next| {
            let after_next = after.get(next);
            after_next.is_none_or(|after| after.contains(&id.clone().into()))
        });
        if !is_in_circle || !returns || reported.contains(id) {
            continue;
        }
        let circle: Vec<&StepId> = after[id].iter().filter_map(Target::step).collect();
        reported.extend(circle.iter().map(|id| (*id).clone()));
        let (message, hint) = match circle.as_slice() {
            [only] => (
                format!("the step `{only}` leads only to itself, and never to the end"),
                "add a transition to \"end\" or to another step",
            ),
            several => (
                format!(
                    "the steps {} lead to each other, and never to the end",
                    listed(several)
                ),
                "add a transition from one of them to \"end\" or to a step outside the loop",
            ),
        };
        let pointer = below("/steps", id.as_str());
        findings.error(CycleWithoutExit, pointer, message, hint);
    }
    if reported.is_empty() {
        let steps: Vec<&StepId> = steps.iter().collect();
        let message = format!(
            "from {} the flow reaches its end before it can be complete",
            listed(&steps)
        );
        let hint = "add a transition back, or choose a condition that can hold by then";
        findings.error_in(In::Agent, ImpossibleCompletion, CONFIG, message, hint);
    }
}

/// Lists the first of `steps`.
fn listed(steps: &[&StepId]) -> String {
    const MOST: usize = 6;
    let names = quoted(steps.iter().take(MOST));
    if steps.len() > MOST {
        format!("{names} and others")
    } else {
        names
    }
}

/// Returns all direct and indirect successors of each step.
fn reachable_targets(findings: &Findings<'_>) -> BTreeMap<StepId, BTreeSet<Target>> {
    let next: BTreeMap<&StepId, Vec<Target>> = findings
        .steps()
        .map(|(id, step, _)| (id, targets(id, step, findings.registry).collect()))
        .collect();
    let after = |target: &Target| {
        let further = target.step().and_then(|id| next.get(id));
        further.cloned().unwrap_or_default()
    };
    next.iter()
        .map(|(id, first)| ((*id).clone(), reachable(first.clone(), after)))
        .collect()
}

/// Warns about gateways that lead to each other: the data is the same the second time.
fn gateway_cycles(findings: &mut Findings<'_>) {
    let registry = findings.registry;
    let next_gateways = |id: &StepId| {
        let step = registry.step(id).filter(|step| step.work().is_none());
        let next = step.map(|step| targets(id, step, registry));
        let next = next.into_iter().flatten();
        Vec::from_iter(next.filter_map(|target| target.step().cloned()))
    };
    for (id, step, pointer) in findings.steps() {
        let is_gateway = step.work().is_none();
        if is_gateway && reachable(next_gateways(id), next_gateways).contains(id) {
            let message = format!(
                "the gateway `{id}` can lead back to itself through gateways alone, with the \
                 same data"
            );
            let hint = "put a step that changes the data between them";
            findings.warn(GatewayCycle, pointer, message, hint);
        }
    }
}
