//! Validates the completion condition, and that the flow can reach it and finish from every state.

use std::collections::{BTreeMap, BTreeSet};

use super::findings::{Findings, In};
use crate::completion::{Mistake, Unreachable};
use crate::definition::{Completion, CompositeMode, Step, StepId, Target};
use crate::finding::FindingKind::{
    Completion as WrongCompletion, CycleWithoutExit, GatewayCycle, ImpossibleCompletion, Limit,
    NeverUsed,
};
use crate::walk::{Formula, Verdict, edges, explore, max_iterations_and_checks};

/// JSON pointer of a flow's completion condition.
const CONFIG: &str = "/behavior/completionConfig";

pub(super) fn check(found: &mut Findings<'_>) {
    let completion = &found.agent.behavior.completion;
    for mistake in completion.kind().mistakes() {
        let Mistake {
            pointer,
            message,
            hint,
        } = mistake.below(CONFIG);
        found.error_in(In::Agent, WrongCompletion, pointer, message, hint);
    }
    gateway_cycles(found);
    let mut impossible = Vec::new();
    let is_possible = can_hold(found, completion, CONFIG, &mut impossible);
    for (pointer, message, hint) in impossible {
        if is_possible {
            found.warn_in(In::Agent, NeverUsed, pointer, message, hint);
        } else {
            found.error_in(In::Agent, ImpossibleCompletion, pointer, message, hint);
        }
    }
    if !is_possible {
        return;
    }
    match explore(found.registry, &completion.kind().formula()) {
        Verdict::Finishes => {}
        Verdict::CannotFinish { steps, .. } => stuck(found, &steps),
        Verdict::TooLarge => {
            let message = "the flow has too many paths to check them all";
            let hint = "it is unknown whether every path can complete the flow; use smaller counts \
                        in the condition to get it checked";
            found.warn_in(In::Agent, Limit, CONFIG, message, hint);
        }
    }
}

/// Returns whether `completion` can hold on some path, and lists the conditions that cannot.
fn can_hold(
    found: &Findings<'_>,
    completion: &Completion,
    at: &str,
    impossible: &mut Vec<(String, String, String)>,
) -> bool {
    if let Completion::Composite(composite) = completion {
        let mut holds = Vec::new();
        for (index, condition) in composite.conditions.iter().enumerate() {
            let at = format!("{at}/conditions/{index}/config");
            holds.push(can_hold(found, &condition.completion, &at, impossible));
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
    let (most_iterations, most_checks) = max_iterations_and_checks(found.registry);
    let is_out_of_reach = match &formula {
        Formula::Iterations(number) if *number > most_iterations => true,
        Formula::Checks(number) if *number > most_checks => true,
        formula => matches!(
            explore(found.registry, formula),
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

fn stuck(found: &mut Findings<'_>, steps: &BTreeSet<StepId>) {
    let after = reachable_targets(found);
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
        let pointer = autonoe_core::project::config_parts::below("/steps", id.as_str());
        found.error(CycleWithoutExit, pointer, message, hint);
    }
    if reported.is_empty() {
        let steps: Vec<&StepId> = steps.iter().collect();
        let message = format!(
            "from {} the flow reaches its end before it can be complete",
            listed(&steps)
        );
        let hint = "add a transition back, or choose a condition that can hold by then";
        found.error_in(In::Agent, ImpossibleCompletion, CONFIG, message, hint);
    }
}

fn listed(steps: &[&StepId]) -> String {
    const MOST: usize = 6;
    let names: Vec<String> = steps
        .iter()
        .take(MOST)
        .map(|id| format!("`{id}`"))
        .collect();
    if steps.len() > MOST {
        format!("{} and others", names.join(", "))
    } else {
        names.join(", ")
    }
}

/// Returns all direct and indirect successors of each step.
fn reachable_targets(found: &Findings<'_>) -> BTreeMap<StepId, BTreeSet<Target>> {
    let next: BTreeMap<&StepId, Vec<Target>> = found
        .steps()
        .map(|(id, step, _)| {
            let edges = edges(id, step, found.registry).into_iter();
            (id, edges.map(|edge| edge.to).collect())
        })
        .collect();
    next.iter()
        .map(|(id, first)| {
            let mut all = BTreeSet::new();
            let mut open = first.clone();
            while let Some(target) = open.pop() {
                if all.insert(target.clone()) {
                    let further = target.step().and_then(|id| next.get(id));
                    open.extend(further.into_iter().flatten().cloned());
                }
            }
            ((*id).clone(), all)
        })
        .collect()
}

/// Warns about gateways that lead to each other: the data is the same the second time.
fn gateway_cycles(found: &mut Findings<'_>) {
    let gateways: BTreeMap<&StepId, &Step> = found
        .steps()
        .filter(|(_, step, _)| step.work().is_none())
        .map(|(id, step, _)| (id, step))
        .collect();
    for (id, step) in &gateways {
        let mut seen = BTreeSet::new();
        let mut open: Vec<Target> = edges(id, step, found.registry)
            .into_iter()
            .map(|edge| edge.to)
            .collect();
        while let Some(target) = open.pop() {
            let next = target.step().and_then(|id| gateways.get_key_value(id));
            if let Some((next, step)) = next.filter(|(next, _)| seen.insert(**next)) {
                open.extend(
                    edges(next, step, found.registry)
                        .into_iter()
                        .map(|edge| edge.to),
                );
            }
        }
        if seen.contains(id) {
            let message = format!(
                "the gateway `{id}` can lead back to itself through gateways alone, with the \
                 same data"
            );
            let hint = "put a step that changes the data between them";
            let pointer = autonoe_core::project::config_parts::below("/steps", id.as_str());
            found.warn(GatewayCycle, pointer, message, hint);
        }
    }
}
