//! Validation compared with the reference walk, over random flows.

use autonoe_flow::validate;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::reference_walk::{Complete, Dest, Fail, Flow, Notification, Part, Return, Step};
use crate::support::{agent, definition};

fn id(step: usize) -> String {
    format!("s{step}")
}

fn dest(dest: Dest) -> String {
    match dest {
        Dest::Step(step) => id(step),
        Dest::End => "end".to_owned(),
    }
}

/// Converts the model into a file of steps.
pub(crate) fn registry(flow: &Flow) -> Value {
    let mut steps = Map::new();
    for (number, step) in flow.steps.iter().enumerate() {
        let written = match step {
            Step::Gateway { branches, default } => {
                let when = json!({"data": "/context/iteration", "atLeast": 1});
                let branches: Vec<Value> = branches
                    .iter()
                    .map(|next| json!({"when": when, "next": dest(*next)}))
                    .collect();
                json!({"type": "gateway", "branches": branches, "default": dest(*default)})
            }
            Step::Work { parts, .. } => {
                for (index, part) in parts.iter().enumerate() {
                    steps.insert(format!("s{number}.{index}"), sub_step(part));
                }
                work(number, step)
            }
        };
        steps.insert(id(number), written);
    }
    json!({"entryStep": "s0", "steps": steps, "limits": {"stepLoop": flow.step_loop}})
}

fn sub_step(part: &Part) -> Value {
    let mut step = json!({
        "type": "subStep",
        "prompt": "prompts/a.md",
        "retry": {
            "maxRetries": part.retries,
            "onExhausted": if part.is_skipped { "skip" } else { "error" },
        },
    });
    if part.has_check {
        step["check"] = json!({"type": "keyword", "keywords": ["OK"]});
    }
    if let Some(phase) = part.phase {
        step["phase"] = format!("p{phase}").into();
    }
    step
}

fn work(number: usize, step: &Step) -> Value {
    let Step::Work {
        has_prompt,
        has_check,
        retries,
        pass,
        fail,
        phase,
        parts,
    } = step
    else {
        return Value::Null;
    };
    let mut written = json!({"retry": {"maxRetries": retries}});
    if *has_prompt {
        written["prompt"] = "prompts/a.md".into();
    }
    if !parts.is_empty() {
        let parts = (0..parts.len()).map(|index| format!("s{number}.{index}"));
        written["subSteps"] = parts.collect::<Vec<_>>().into();
    }
    if *has_check {
        written["check"] = json!({"type": "keyword", "keywords": ["OK"]});
        if let Some(pass) = pass {
            written["check"]["onPass"] = json!({"next": dest(*pass)});
        }
    } else if let Some(pass) = pass {
        written["transition"] = json!({"next": dest(*pass)});
    }
    if let Some(phase) = phase {
        written["phase"] = format!("p{phase}").into();
    }
    match fail {
        Fail::Error => {}
        Fail::Skip => written["retry"]["onExhausted"] = "skip".into(),
        Fail::Goto(Dest::End) => written["check"]["onFail"] = json!({"next": "end"}),
        Fail::Goto(Dest::Step(step)) => {
            written["retry"]["onExhausted"] = "fallback".into();
            written["retry"]["fallbackStep"] = id(*step).into();
        }
        Fail::Escalate { to, then } => {
            let (to, method) = match to {
                Notification::Step(step) => (id(*step), "in_agent"),
                Notification::Webhook => ("https://example.com/".to_owned(), "webhook"),
            };
            let then = match then {
                Return::Resume => "resume",
                Return::Abort => "abort",
                Return::Restart => "restart",
            };
            written["escalation"] =
                json!({"escalateTo": to, "notificationMethod": method, "returnFlow": then});
        }
    }
    written
}

pub(crate) fn completion(complete: &Complete) -> (&'static str, Value) {
    let parts = |parts: &[Complete], mode: &str| {
        let conditions: Vec<Value> = parts
            .iter()
            .enumerate()
            .map(|(index, part)| {
                let (kind, config) = completion(part);
                json!({"name": format!("c{index}"), "type": kind, "config": config})
            })
            .collect();
        json!({"mode": mode, "conditions": conditions})
    };
    match complete {
        Complete::AtEnd => ("stepMachine", json!({})),
        Complete::Iterations(number) => ("iterationBudget", json!({"maxIterations": number})),
        Complete::Checks(number) => ("checkBudget", json!({"maxChecks": number})),
        Complete::Phase(phase) => (
            "phaseCompletion",
            json!({"terminalPhases": [format!("p{phase}")]}),
        ),
        Complete::Keyword => ("keywordSignal", json!({"keywords": ["DONE"]})),
        Complete::Any(all) => ("composite", parts(all, "any")),
        Complete::All(all) => ("composite", parts(all, "all")),
    }
}

fn any_dest(steps: usize) -> impl Strategy<Value = Dest> {
    prop_oneof![
        8 => (0..steps).prop_map(Dest::Step),
        3 => Just(Dest::End),
    ]
}

/// Mostly an existing step; now and then a missing one.
fn any_dest_or_unknown(steps: usize) -> impl Strategy<Value = Dest> {
    prop_oneof![
        60 => any_dest(steps),
        1 => Just(Dest::Step(steps)),
    ]
}

fn any_fail(steps: usize) -> impl Strategy<Value = Fail> {
    let then = prop_oneof![
        Just(Return::Resume),
        Just(Return::Abort),
        Just(Return::Restart)
    ];
    let to = prop_oneof![
        2 => (0..steps).prop_map(Notification::Step),
        1 => Just(Notification::Webhook),
    ];
    prop_oneof![
        4 => Just(Fail::Error),
        3 => any_dest_or_unknown(steps).prop_map(Fail::Goto),
        2 => Just(Fail::Skip),
        2 => (to, then).prop_map(|(to, then)| Fail::Escalate { to, then }),
    ]
}

fn any_part() -> impl Strategy<Value = Part> {
    let phase = prop::option::weighted(0.3, 0..2_u8);
    (any::<bool>(), 0..2_u32, any::<bool>(), phase).prop_map(
        |(has_check, retries, is_skipped, phase)| Part {
            has_check,
            retries,
            is_skipped,
            phase,
        },
    )
}

fn any_step(steps: usize) -> impl Strategy<Value = Step> {
    let work = (
        prop::bool::weighted(0.8),
        any::<bool>(),
        0..3_u32,
        prop::option::weighted(0.97, any_dest_or_unknown(steps)),
        any_fail(steps),
        prop::option::weighted(0.3, 0..2_u8),
        prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(any_part(), 1..3)],
    )
        .prop_map(|(prompt, has_check, retries, pass, fail, phase, parts)| {
            // Only a check can lead a failure to the end.
            let fail = match fail {
                Fail::Goto(Dest::End) if !has_check => Fail::Error,
                fail => fail,
            };
            Step::Work {
                has_prompt: prompt || parts.is_empty(),
                has_check,
                retries,
                pass,
                fail,
                phase,
                parts,
            }
        });
    let gateway = (
        prop::collection::vec(any_dest(steps), 0..3),
        any_dest_or_unknown(steps),
    )
        .prop_map(|(branches, default)| Step::Gateway { branches, default });
    prop_oneof![4 => work, 1 => gateway]
}

fn any_complete() -> impl Strategy<Value = Complete> {
    let leaf = prop_oneof![
        4 => Just(Complete::AtEnd),
        2 => (1..9_u32).prop_map(Complete::Iterations),
        1 => (1..6_u32).prop_map(Complete::Checks),
        2 => (0..2_u8).prop_map(Complete::Phase),
        1 => Just(Complete::Keyword),
    ];
    leaf.prop_recursive(2, 4, 3, |inner| {
        let parts = prop::collection::vec(inner, 1..4);
        prop_oneof![
            parts.clone().prop_map(Complete::Any),
            parts.prop_map(Complete::All),
        ]
    })
}

pub(crate) fn any_flow() -> impl Strategy<Value = Flow> {
    (1..5_usize).prop_flat_map(|steps| {
        (
            prop::collection::vec(any_step(steps), steps),
            any_complete(),
            prop_oneof![1..4_u32, Just(10)],
        )
            .prop_map(|(steps, complete, step_loop)| Flow {
                steps,
                complete,
                step_loop,
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn validation_accepts_exactly_the_flows_in_which_every_walk_can_finish(flow in any_flow()) {
        let (kind, config) = completion(&flow.complete);
        let agent = agent(json!({"behavior": {"completionType": kind, "completionConfig": config}}));

        let report = validate(&definition(agent, registry(&flow)));

        prop_assert_eq!(
            report.is_valid(),
            flow.lets_every_walk_finish(),
            "{}\n{:#}",
            report,
            registry(&flow)
        );
    }
}

/// Both valid and invalid flows occur, so that the property above covers both answers.
#[test]
fn random_flows_are_sometimes_valid_and_sometimes_not() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let valid = (0..400)
        .filter(|_| {
            let tree = any_flow().new_tree(&mut runner).expect("a flow");
            tree.current().lets_every_walk_finish()
        })
        .count();

    assert!((60..340).contains(&valid), "{valid} of 400");
}
