//! Ways through the flow: whether it can be complete, and finish from wherever it comes.

use std::collections::{BTreeMap, BTreeSet};

use super::completion::CONFIG;
use super::findings::{Findings, In};
use crate::definition::{Completion, CompositeMode, Step, StepId, Target};
use crate::finding::FindingKind::{
    CycleWithoutExit, GatewayCycle, ImpossibleCompletion, Limit, NeverUsed,
};
use crate::walk::{Formula, Verdict, edges, explore, most_that_happens};

pub(super) fn check(found: &mut Findings<'_>) {
    gateway_cycles(found);
    let completion = &found.agent.behavior.completion;
    let mut impossible = Vec::new();
    let is_possible = can_hold(found, completion, CONFIG, &mut impossible);
    for (pointer, message, hint) in impossible {
        match is_possible {
            true => found.warn_in(In::Agent, NeverUsed, pointer, message, hint),
            false => found.error_in(In::Agent, ImpossibleCompletion, pointer, message, hint),
        }
    }
    if !is_possible {
        return;
    }
    match explore(found.registry, &Formula::of(completion)) {
        Verdict::Finishes => {}
        Verdict::Stuck { steps, .. } => stuck(found, &steps),
        Verdict::TooLarge => {
            let message = "there are too many ways through the flow to look at all of them";
            let hint = "whether it can always be complete was not looked at; lower the counts of the condition to have it looked at";
            found.warn_in(In::Agent, Limit, CONFIG, message, hint);
        }
    }
}

/// Tells whether `completion` can hold in some walk, and lists the conditions that cannot.
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
            // That there are none is told elsewhere.
            _ if holds.is_empty() => true,
            CompositeMode::Any => holds.contains(&true),
            CompositeMode::All => !holds.contains(&false),
        };
    }
    let (most_iterations, most_checks) = most_that_happens(found.registry);
    let explored = explore(found.registry, &Formula::of(completion));
    let is_out_of_reach = matches!(
        explored,
        Verdict::Stuck {
            from_the_start: true,
            ..
        }
    );
    let (is_impossible, message, hint) = match completion {
        Completion::IterationBudget(budget) => {
            let number = u64::from(budget.max_iterations);
            (
                is_out_of_reach || number > most_iterations,
                format!("no way through the flow has as many iterations as {number}"),
                "lower the number, or lead the steps round in a circle",
            )
        }
        Completion::CheckBudget(budget) => {
            let number = u64::from(budget.max_checks);
            (
                is_out_of_reach || number > most_checks,
                format!("no way through the flow has as many checks of steps as {number}"),
                "lower the number, or give more steps a check",
            )
        }
        Completion::PhaseCompletion(phases) => (
            // That there are none is told elsewhere.
            is_out_of_reach && !phases.terminal_phases.is_empty(),
            format!(
                "no step of the phase `{}` can be reached",
                phases.terminal_phases.join("` or `")
            ),
            "write the `phase` of the last steps as it stands here",
        ),
        // A circle without an exit is told as such.
        _ => (false, String::new(), ""),
    };
    if is_impossible {
        impossible.push((at.to_owned(), message, hint.to_owned()));
    }
    !is_impossible
}

fn stuck(found: &mut Findings<'_>, steps: &BTreeSet<StepId>) {
    let after = all_that_follows(found);
    let leads_to_end = |id: &StepId| after[id].contains(&Target::End);
    let mut told = BTreeSet::new();
    for id in steps.iter().filter(|id| !leads_to_end(id)) {
        let is_in_circle = after[id].contains(&id.clone().into());
        // The circle that is left last: from which everything leads back.
        let leads_back = after[id].iter().filter_map(Target::step).all(|next| {
            let after_next = after.get(next);
            after_next.is_none_or(|after| after.contains(&id.clone().into()))
        });
        if !is_in_circle || !leads_back || told.contains(id) {
            continue;
        }
        let circle: Vec<&StepId> = after[id].iter().filter_map(Target::step).collect();
        told.extend(circle.iter().map(|id| (*id).clone()));
        let (message, hint) = match circle.as_slice() {
            [only] => (
                format!("the step `{only}` leads only to itself, and never to the end"),
                "lead it to \"end\" as well, or to another step",
            ),
            several => (
                format!(
                    "the steps {} lead to each other, and never to the end",
                    listed(several)
                ),
                "lead one of them to \"end\" as well, or to a step outside of the circle",
            ),
        };
        let pointer = crate::definition::nested::below("/steps", id.as_str());
        found.error(CycleWithoutExit, pointer, message, hint);
    }
    if told.is_empty() {
        let steps: Vec<&StepId> = steps.iter().collect();
        let message = format!(
            "from {} the flow comes to its end before it can be complete",
            listed(&steps)
        );
        let hint = "lead these steps back, or choose a condition that can hold by then";
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
    match steps.len() > MOST {
        true => format!("{} and others", names.join(", ")),
        false => names.join(", "),
    }
}

/// Returns all that can follow each step, sooner or later.
fn all_that_follows(found: &Findings<'_>) -> BTreeMap<StepId, BTreeSet<Target>> {
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

/// Warns of gateways that lead to each other: the data are the same the second time.
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
                "the gateway `{id}` can lead back to itself through gateways alone, with the same data"
            );
            let hint = "put a step between them that changes the data";
            let pointer = crate::definition::nested::below("/steps", id.as_str());
            found.warn(GatewayCycle, pointer, message, hint);
        }
    }
}
