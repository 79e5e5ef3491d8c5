//! The promise of validation, checked against the machine: an accepted flow can finish from every
//! state.

use std::collections::{HashSet, VecDeque};

use autonoe_flow::machine::{CheckVerdict, CompletionVerdict, SessionUsage};
use autonoe_flow::{
    FlowAction, FlowEnd, FlowErrorKind, FlowFact, FlowLimits, FlowMachine, ParameterValues,
};
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::machine_properties::is_complete;
use crate::machine_script::{answer_text, breaks, failure};
use crate::reference_walk::{Flow, Step};
use crate::registries::{any_flow, completion, registry};
use crate::support::{agent, definition};

/// More states than the flows of this test have.
const MOST: usize = 60_000;

fn started_machine(flow: &Flow) -> Option<FlowMachine> {
    let (kind, config) = completion(&flow.complete);
    let agent = agent(json!({"behavior": {"completionType": kind, "completionConfig": config}}));
    let mut registry = registry(flow);
    // Validation does not consider the limit of all visits.
    registry["limits"]["maxVisits"] = 1_000_000.into();
    let valid = definition(agent, registry).validated().ok()?;
    let mut machine = FlowMachine::new(&valid, &ParameterValues::default());
    let _ = machine.apply(FlowFact::Started {
        at: Timestamp::UNIX_EPOCH,
        limits: FlowLimits::default(),
    });
    Some(machine)
}

/// All possible answers to the action in progress.
fn answers(flow: &Flow, machine: &FlowMachine) -> Vec<FlowFact> {
    let at = Timestamp::UNIX_EPOCH;
    let spent = SessionUsage::default();
    match machine.action() {
        FlowAction::Prompt(order) => {
            let outcomes = [
                answer_text("OK"),
                answer_text("OK, DONE"),
                breaks(FlowErrorKind::SdkSession),
            ];
            let iteration = order.iteration;
            let fact = |outcome| FlowFact::Prompted {
                at,
                iteration,
                outcome,
                spent,
            };
            outcomes.into_iter().map(fact).collect()
        }
        FlowAction::Check(_) => {
            let found = |passed| {
                Ok(CheckVerdict {
                    passed,
                    reason: None,
                })
            };
            let fact = |verdict| FlowFact::Checked { at, verdict, spent };
            let nothing = Err(failure(FlowErrorKind::StepCheck));
            [found(true), found(false), nothing].map(fact).into()
        }
        FlowAction::CheckCompletion(_) => {
            let complete = is_complete(&flow.complete, machine.progress());
            let verdict = Ok(CompletionVerdict {
                complete: complete.then(|| "so".to_owned()),
                ..CompletionVerdict::default()
            });
            vec![FlowFact::CompletionChecked { at, verdict }]
        }
        FlowAction::Notify(_) => vec![FlowFact::Notified { at, result: Ok(()) }],
        FlowAction::Wait { until, .. } => vec![FlowFact::WaitOver { at: until }],
        _ => Vec::new(),
    }
}

/// The part of the state that determines how a flow can continue.
fn situation(machine: &FlowMachine) -> String {
    let mut state = serde_json::to_value(machine).expect("JSON");
    for count in ["iterations", "checks"] {
        // Flows need no larger counts.
        let number = state["progress"][count].as_u64().expect("a number").min(9);
        state["progress"][count] = number.into();
    }
    strip(&mut state);
    // A flow cannot be complete before the first answer.
    let answer = &machine.context().carry().previous_response;
    state["isAnswered"] = answer.is_some().into();
    state.to_string()
}

fn strip(value: &mut Value) {
    const IRRELEVANT: [&str; 14] = [
        "registry",
        "context",
        "steps",
        "spent",
        "now",
        "startedAt",
        "until",
        "text",
        "variables",
        "visit",
        "message",
        "cause",
        "iteration",
        "lastStep",
    ];
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !IRRELEVANT.contains(&name.as_str()));
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// Returns whether some sequence of answers leads to completion; `None` if there are too many to
/// try.
fn can_finish(flow: &Flow, from: &FlowMachine) -> Option<bool> {
    let mut seen = HashSet::from([situation(from)]);
    let mut open = VecDeque::from([from.clone()]);
    while let Some(machine) = open.pop_front() {
        for fact in answers(flow, &machine) {
            let mut next = machine.clone();
            match next.apply(fact) {
                FlowAction::Finish(FlowEnd::Complete { .. }) => return Some(true),
                FlowAction::Finish(_) => {}
                _ if seen.insert(situation(&next)) => open.push_back(next),
                _ => {}
            }
        }
        if seen.len() > MOST {
            return None;
        }
    }
    Some(false)
}

/// Returns whether the machine is at the first prompt of a visit, which validation considers.
fn is_at_a_visit(machine: &FlowMachine) -> bool {
    match machine.action() {
        FlowAction::Prompt(order) => {
            let is_part = order.at.step.as_str().contains('.');
            order.at.retry == 0 && !is_part && !order.variables.contains_key("failure")
        }
        _ => false,
    }
}

/// Gateways with branches decide by data, which nothing sets in these flows.
fn has_no_branches(flow: &Flow) -> bool {
    let mut steps = flow.steps.iter();
    !steps.any(|step| matches!(step, Step::Gateway { branches, .. } if !branches.is_empty()))
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn an_accepted_flow_can_finish_from_every_state(
        flow in any_flow().prop_filter("accepted", |flow| has_no_branches(flow) && started_machine(flow).is_some()),
        choices in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut machine = started_machine(&flow).expect("it is accepted");
        let mut visits = Vec::new();
        for choice in choices {
            if is_at_a_visit(&machine) {
                visits.push(machine.clone());
            }
            let mut facts = answers(&flow, &machine);
            if facts.is_empty() {
                break;
            }
            let fact = facts.swap_remove(usize::from(choice) % facts.len());
            let _ = machine.apply(fact);
        }

        for visit in visits.first().into_iter().chain(visits.last()) {
            prop_assert_ne!(can_finish(&flow, visit), Some(false), "{:#}", registry(&flow));
        }
    }
}
