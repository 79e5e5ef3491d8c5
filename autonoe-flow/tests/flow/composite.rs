//! Composite conditions, compared with a simple reference implementation.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use autonoe_flow::FlowErrorKind;
use autonoe_flow::completion::{
    CompletionDependencies, ExternalStates, StateProbe, build_completion,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::completion::{check_completion, completion, is_complete, needed, one_iteration, reason};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The answer of a condition: whether it holds, or an error.
type ConditionAnswer = Result<bool, ()>;

/// A condition: an external state with its answers in each round, or several conditions.
#[derive(Clone, Debug)]
enum Node {
    State { answers: Vec<ConditionAnswer> },
    Several { all: bool, parts: Vec<Node> },
}

const ROUNDS: usize = 4;

fn condition_answer() -> impl Strategy<Value = ConditionAnswer> {
    prop_oneof![5 => Just(Ok(false)), 5 => Just(Ok(true)), 1 => Just(Err(()))]
}

fn several() -> impl Strategy<Value = Node> {
    let state = prop::collection::vec(condition_answer(), ROUNDS)
        .prop_map(|answers| Node::State { answers });
    let parts = state.prop_recursive(2, 12, 4, |inner| {
        (any::<bool>(), prop::collection::vec(inner, 1..4))
            .prop_map(|(all, parts)| Node::Several { all, parts })
    });
    (any::<bool>(), prop::collection::vec(parts, 1..5))
        .prop_map(|(all, parts)| Node::Several { all, parts })
}

impl Node {
    /// Returns the condition as in a definition, under the name `name`.
    fn config(&self, name: &str) -> Value {
        match self {
            Self::State { .. } => json!({"source": {"type": "named", "name": name}}),
            Self::Several { all, parts } => {
                let mode = ["any", "all"][usize::from(*all)];
                let conditions = parts.iter().enumerate().map(|(index, part)| {
                    let kind = match part {
                        Self::State { .. } => "externalState",
                        Self::Several { .. } => "composite",
                    };
                    let config = part.config(&under(name, index));
                    json!({"name": index.to_string(), "type": kind, "config": config})
                });
                json!({"mode": mode, "conditions": conditions.collect::<Vec<_>>()})
            }
        }
    }

    /// Registers each state under its full name.
    fn register(
        &self,
        name: &str,
        probe_log: &Arc<ProbeLog>,
        mut states: ExternalStates,
    ) -> ExternalStates {
        match self {
            Self::State { answers } => {
                let probe = Scripted {
                    name: name.to_owned(),
                    answers: answers.clone(),
                    probe_log: Arc::clone(probe_log),
                };
                states.with(name, Arc::new(probe))
            }
            Self::Several { parts, .. } => {
                for (index, part) in parts.iter().enumerate() {
                    states = part.register(&under(name, index), probe_log, states);
                }
                states
            }
        }
    }

    /// The reference: checks in order, and records the checked conditions and their states.
    fn evaluate(
        &self,
        name: &str,
        round: usize,
        evaluated: &mut Vec<String>,
        condition_states: &mut ConditionStates,
    ) -> ConditionAnswer {
        condition_states.insert(name.to_owned(), false);
        let holds = match self {
            Self::State { answers } => {
                evaluated.push(name.to_owned());
                answers[round]?
            }
            Self::Several { all: true, parts } => {
                let mut holds = true;
                for (index, part) in parts.iter().enumerate() {
                    holds &=
                        part.evaluate(&under(name, index), round, evaluated, condition_states)?;
                }
                holds
            }
            Self::Several { all: false, parts } => {
                let mut parts = parts.iter().enumerate();
                parts.try_fold(false, |found, (index, part)| {
                    if found {
                        Ok(true)
                    } else {
                        part.evaluate(&under(name, index), round, evaluated, condition_states)
                    }
                })?
            }
        };
        condition_states.insert(name.to_owned(), holds);
        Ok(holds)
    }

    /// The state of every nested condition is `false` before it is checked.
    fn add_unchecked(&self, name: &str, condition_states: &mut ConditionStates) {
        condition_states.insert(name.to_owned(), false);
        if let Self::Several { parts, .. } = self {
            for (index, part) in parts.iter().enumerate() {
                part.add_unchecked(&under(name, index), condition_states);
            }
        }
    }
}

type ConditionStates = BTreeMap<String, bool>;

fn under(name: &str, index: usize) -> String {
    match name {
        "" => index.to_string(),
        name => format!("{name}/{index}"),
    }
}

/// The current round, and the conditions that were checked in it.
#[derive(Default)]
struct ProbeLog {
    round: AtomicUsize,
    evaluated: Mutex<Vec<String>>,
}

struct Scripted {
    name: String,
    answers: Vec<ConditionAnswer>,
    probe_log: Arc<ProbeLog>,
}

#[async_trait::async_trait]
impl StateProbe for Scripted {
    async fn is_reached(&self) -> Result<bool, BoxError> {
        self.probe_log
            .evaluated
            .lock()
            .expect("no panic")
            .push(self.name.clone());
        let round = self.probe_log.round.load(Ordering::SeqCst);
        self.answers[round].map_err(|()| "it cannot tell".into())
    }
}

fn with_states(node: &Node, probe_log: &Arc<ProbeLog>) -> CompletionDependencies {
    needed().with_states(node.register("", probe_log, ExternalStates::default()))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn conditions_are_evaluated_in_order_with_short_circuit_and_each_has_a_state(node in several()) {
        let probe_log = Arc::new(ProbeLog::default());
        let composite = completion("composite", node.config(""));
        let mut handler = build_completion(&composite, &with_states(&node, &probe_log)).expect("all there");
        let mut condition_states = ConditionStates::new();
        node.add_unchecked("", &mut condition_states);

        for round in 0..ROUNDS {
            probe_log.round.store(round, Ordering::SeqCst);
            probe_log.evaluated.lock().expect("no panic").clear();
            let mut expected = Vec::new();
            let answers = node.evaluate("", round, &mut expected, &mut condition_states);

            let found = runtime().block_on(check_completion(handler.as_mut(), &one_iteration()));

            prop_assert_eq!(&*probe_log.evaluated.lock().expect("no panic"), &expected);
            match (answers, found) {
                (Ok(holds), Ok(result)) => {
                    prop_assert_eq!(is_complete(&result), holds);
                    prop_assert_eq!(reason(&result).is_empty(), !holds);
                }
                (Err(()), Err(error)) => {
                    prop_assert_eq!(error.kind(), FlowErrorKind::CompletionCheck);
                }
                (answers, found) => prop_assert!(false, "{:?} and {:?}", answers, found),
            }
            let mut expected = condition_states.clone();
            expected.remove("");
            prop_assert_eq!(&handler.condition_states(), &expected);
        }
    }
}

fn states(answers: &[ConditionAnswer]) -> Vec<Node> {
    let states = answers.iter().map(|&answers| Node::State {
        answers: vec![answers],
    });
    states.collect()
}

/// Checks once. Returns the checked conditions, the result, and the states.
fn once(all: bool, answers: &[ConditionAnswer]) -> (Vec<String>, bool, Vec<bool>) {
    let node = Node::Several {
        all,
        parts: states(answers),
    };
    let probe_log = Arc::new(ProbeLog::default());
    let composite = completion("composite", node.config(""));
    let mut handler =
        build_completion(&composite, &with_states(&node, &probe_log)).expect("all there");
    let result = runtime()
        .block_on(check_completion(handler.as_mut(), &one_iteration()))
        .expect("it can tell");
    let evaluated = probe_log.evaluated.lock().expect("no panic").clone();
    (
        evaluated,
        is_complete(&result),
        handler.condition_states().into_values().collect(),
    )
}

#[test]
fn with_any_the_first_condition_that_holds_ends_the_evaluation() {
    // The condition that is not checked would return an error.
    let (evaluated, holds, states) = once(false, &[Ok(false), Ok(true), Err(())]);

    assert_eq!(evaluated, ["0", "1"]);
    assert!(holds);
    assert_eq!(states, [false, true, false]);
    assert!(!once(false, &[Ok(false), Ok(false)]).1);
}

#[test]
fn with_all_every_condition_must_hold_and_the_state_of_each_is_known() {
    let (evaluated, holds, states) = once(true, &[Ok(true), Ok(false), Ok(true)]);

    assert_eq!(evaluated, ["0", "1", "2"]);
    assert!(!holds);
    assert_eq!(states, [true, false, true]);
    assert!(once(true, &[Ok(true), Ok(true)]).1);
}

#[test]
fn the_reason_of_several_conditions_names_those_that_hold() {
    for (mode, expected) in [
        ("any", "budget: iterations so far: 1"),
        (
            "all",
            "budget: iterations so far: 1; way: the flow reached the end of its steps",
        ),
    ] {
        let config = json!({"mode": mode, "conditions": [
            {"name": "budget", "type": "iterationBudget", "config": {"maxIterations": 1}},
            {"name": "way", "type": "stepMachine"},
        ]});
        let mut handler =
            build_completion(&completion("composite", config), &needed()).expect("built");
        let mut progress = one_iteration();
        progress.at_end = true;

        let result = runtime()
            .block_on(check_completion(handler.as_mut(), &progress))
            .expect("it can tell");

        assert_eq!(reason(&result), expected);
    }
}
