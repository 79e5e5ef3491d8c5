//! Properties of every flow that validation accepts, for all answers of its agent.

use std::collections::{BTreeMap, BTreeSet};

use autonoe_flow::machine::{CheckVerdict, CompletionVerdict, SessionUsage};
use autonoe_flow::progress::FlowProgress;
use autonoe_flow::{
    FlowAction, FlowEnd, FlowErrorKind, FlowFact, FlowLimits, FlowMachine, ParameterValues,
    ValidatedFlow,
};
use jiff::Timestamp;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::json;

use crate::machine_script::{answer_text, breaks, failure};
use crate::reference_walk::{Complete, Flow};
use crate::registries::{any_flow, completion, registry};
use crate::support::{agent, definition};

/// The limit of visits in these flows.
const MAX_VISITS: u32 = 6;

/// More facts than any flow needs to reach its limits.
const MOST_FACTS: usize = 20_000;

fn validated(flow: &Flow) -> Option<ValidatedFlow> {
    let (kind, config) = completion(&flow.complete);
    let agent = agent(json!({"behavior": {"completionType": kind, "completionConfig": config}}));
    let mut registry = registry(flow);
    registry["limits"]["maxVisits"] = MAX_VISITS.into();
    definition(agent, registry).validated().ok()
}

fn new_machine(flow: &ValidatedFlow) -> FlowMachine {
    FlowMachine::new(flow, &ParameterValues::default())
}

/// Decides whether a flow is complete, independently of the tested code.
pub(crate) fn is_complete(complete: &Complete, progress: &FlowProgress) -> bool {
    match complete {
        Complete::AtEnd => progress.at_end,
        Complete::Iterations(number) => progress.iterations >= u64::from(*number),
        Complete::Checks(number) => progress.checks >= u64::from(*number),
        Complete::Phase(phase) => progress.phases.contains(&format!("p{phase}")),
        Complete::Keyword => progress.keywords_seen.contains("DONE"),
        Complete::Any(all) => all.iter().any(|it| is_complete(it, progress)),
        Complete::All(all) => all.iter().all(|it| is_complete(it, progress)),
    }
}

/// Returns an answer to an action; `choice` selects it.
fn fact(action: &FlowAction, flow: &Flow, machine: &FlowMachine, choice: u8) -> FlowFact {
    let at = Timestamp::UNIX_EPOCH;
    let spent = SessionUsage::default();
    match action {
        FlowAction::Prompt(order) => FlowFact::Prompted {
            at,
            iteration: order.iteration,
            outcome: match choice % 8 {
                0 => breaks(FlowErrorKind::SdkSession),
                1 => breaks(FlowErrorKind::SdkConnection),
                2 => answer_text("OK, DONE"),
                _ => answer_text("OK"),
            },
            spent,
        },
        FlowAction::Check(_) => FlowFact::Checked {
            at,
            verdict: match choice % 8 {
                0 => Err(failure(FlowErrorKind::StepCheck)),
                1..=3 => Ok(CheckVerdict {
                    passed: false,
                    reason: None,
                }),
                _ => Ok(CheckVerdict {
                    passed: true,
                    reason: None,
                }),
            },
            spent,
        },
        FlowAction::CheckCompletion(_) => {
            let complete = is_complete(&flow.complete, machine.progress());
            FlowFact::CompletionChecked {
                at,
                verdict: match choice {
                    0..8 => Err(failure(FlowErrorKind::CompletionCheck)),
                    _ => Ok(CompletionVerdict {
                        complete: complete.then(|| "so".to_owned()),
                        ..CompletionVerdict::default()
                    }),
                },
            }
        }
        FlowAction::Notify(_) => FlowFact::Notified { at, result: Ok(()) },
        FlowAction::Wait { until, .. } => FlowFact::WaitOver { at: *until },
        other => panic!("{other:?}"),
    }
}

/// Drives a flow to its end; `look` sees the machine at each action, with the facts so far.
fn drive(
    flow: &Flow,
    valid: &ValidatedFlow,
    choices: &[u8],
    mut inspect: impl FnMut(&FlowMachine, &FlowAction, &[FlowFact]),
) -> FlowEnd {
    let mut machine = new_machine(valid);
    let mut facts = vec![FlowFact::Started {
        at: Timestamp::UNIX_EPOCH,
        limits: FlowLimits::default(),
    }];
    let mut action = machine.apply(facts[0].clone());
    let mut choices = choices.iter().copied().cycle();
    loop {
        inspect(&machine, &action, &facts);
        if let FlowAction::Finish(end) = action {
            return end;
        }
        assert!(facts.len() < MOST_FACTS, "the flow does not end");
        let next_fact = fact(&action, flow, &machine, choices.next().unwrap_or(255));
        facts.push(next_fact.clone());
        action = machine.apply(next_fact);
    }
}

/// Counts consecutive visits from outside, by the visits of all steps.
#[derive(Default)]
struct Rows {
    before: BTreeMap<String, u32>,
    last: Option<String>,
    row: u32,
}

impl Rows {
    fn seen(&mut self, machine: &FlowMachine, is_called: bool) -> u32 {
        let steps = machine.steps().iter();
        // A name with a dot is a sub-step.
        let now: BTreeMap<String, u32> = steps
            .filter(|(id, _)| !id.as_str().contains('.'))
            .map(|(id, record)| (id.to_string(), record.visits))
            .collect();
        let newly: Vec<(&String, u32)> = now
            .iter()
            .map(|(id, visits)| (id, visits - self.before.get(id).unwrap_or(&0)))
            .filter(|(_, more)| *more > 0)
            .collect();
        match newly.as_slice() {
            [] => {}
            // A step that runs for an escalation resets the count.
            _ if is_called => (self.last, self.row) = (None, 0),
            [(id, more)] if self.last.as_ref() == Some(id) => self.row += more,
            [(id, more)] => (self.last, self.row) = (Some((*id).clone()), *more),
            _ => (self.last, self.row) = (None, 0),
        }
        self.before = now;
        self.row
    }
}

fn choices() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 1..60)
}

/// Flows that validation accepts, with their model.
fn accepted() -> impl Strategy<Value = Flow> {
    any_flow().prop_filter("validation accepts it", |flow| validated(flow).is_some())
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, ..ProptestConfig::with_cases(160) })]

    #[test]
    fn an_accepted_flow_always_ends_and_never_at_a_step_that_is_not_there(
        flow in accepted(), choices in choices(),
    ) {
        let valid = validated(&flow).expect("it is accepted");

        let end = drive(&flow, &valid, &choices, |_, _, _| {});

        if let FlowEnd::Failed { failure } = end {
            prop_assert_ne!(failure.kind, FlowErrorKind::UnknownStep, "{:?}", failure);
        }
    }

    #[test]
    fn visits_and_retries_never_exceed_their_limits(flow in accepted(), choices in choices()) {
        let valid = validated(&flow).expect("it is accepted");
        let registry = valid.definition().registry();
        let mut rows = Rows::default();

        drive(&flow, &valid, &choices, |machine, action, _| {
            for (id, record) in machine.steps() {
                assert!(record.visits <= MAX_VISITS, "{id}: {}", record.visits);
            }
            let (at, variables) = match action {
                FlowAction::Prompt(order) => (&order.at, &order.variables),
                FlowAction::Check(order) => (&order.at, &order.variables),
                _ => return,
            };
            let step = registry.step(&at.step).and_then(|step| step.work()).expect("work");
            assert!(at.retry <= step.plan().max_retries, "{at:?}");
            let row = rows.seen(machine, variables.contains_key("failure"));
            assert!(row <= flow.step_loop, "{row} visits in a row");
        });
    }

    #[test]
    fn there_are_always_as_many_summaries_as_iterations(flow in accepted(), choices in choices()) {
        let valid = validated(&flow).expect("it is accepted");

        drive(&flow, &valid, &choices, |machine, action, _| {
            let context = machine.context();
            assert_eq!(context.summaries().len() as u64, context.iteration());
            assert_eq!(machine.progress().iterations, context.iteration());
            let numbers: Vec<u64> = context.summaries().iter().map(|it| it.iteration).collect();
            assert_eq!(numbers, (1..=context.iteration()).collect::<Vec<_>>());
            match action {
                FlowAction::Prompt(order) => assert_eq!(order.iteration, context.iteration() + 1),
                FlowAction::CheckCompletion(order) => assert!(order.iteration > 0),
                _ => {}
            }
        });
    }

    #[test]
    fn a_flow_ends_as_complete_exactly_when_a_question_finds_it_complete(
        flow in accepted(), choices in choices(),
    ) {
        let valid = validated(&flow).expect("it is accepted");

        let end = drive(&flow, &valid, &choices, |machine, action, facts| {
            let verdict = match facts.last() {
                Some(FlowFact::CompletionChecked { verdict: Ok(verdict), .. }) => Some(verdict),
                _ => None,
            };
            let reason = verdict.and_then(|verdict| verdict.complete.clone());
            let complete = match action {
                FlowAction::Finish(FlowEnd::Complete { reason, .. }) => Some(reason.clone()),
                _ => None,
            };
            assert_eq!(complete, reason, "{:?}", facts.last());
            assert!(complete.is_none() || is_complete(&flow.complete, machine.progress()));
        });

        // No driver stops a flow here.
        prop_assert!(!end.is_resumable(), "{:?}", end);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn a_flow_that_is_serialized_and_replayed_at_any_point_continues_the_same(
        flow in accepted(), choices in choices(), stop in 0..40_usize,
    ) {
        let valid = validated(&flow).expect("it is accepted");

        drive(&flow, &valid, &choices, |machine, action, facts| {
            if facts.len() % 40 != stop {
                return;
            }
            let written = serde_json::to_string(machine).expect("JSON");
            let read: FlowMachine = serde_json::from_str(&written).expect("a machine");
            assert_eq!(&read, machine);
            assert_eq!(&read.action(), action);

            let mut replayed = new_machine(&valid);
            for fact in facts {
                let line = serde_json::to_string(fact).expect("JSON");
                let fact: FlowFact = serde_json::from_str(&line).expect("a fact");
                let _ = replayed.apply(fact);
            }
            assert_eq!(&replayed, machine);
        });
    }
}

/// Random walks end in every way, so that the properties above cover all ends.
#[test]
fn random_walks_end_in_many_ways() {
    use proptest::strategy::ValueTree;

    let mut runner = TestRunner::deterministic();
    let mut ends = BTreeSet::new();
    for _ in 0..1_500 {
        let tree = (any_flow(), choices())
            .new_tree(&mut runner)
            .expect("a flow");
        let (flow, choices) = tree.current();
        let Some(valid) = validated(&flow) else {
            continue;
        };
        let end = drive(&flow, &valid, &choices, |_, _, _| {});
        ends.insert(
            end.failure()
                .map_or("complete", |failure| failure.kind.code()),
        );
    }

    for expected in [
        "complete",
        "step_failed",
        "step_loop_limit",
        "ended_incomplete",
        "escalated",
    ] {
        assert!(ends.contains(expected), "{expected} is not in {ends:?}");
    }
}
