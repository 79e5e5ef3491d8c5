//! Values that an iteration receives from the previous ones.

use autonoe_core::CostUsd;
use autonoe_core::agent::CostTotal;
use autonoe_core::time::AgentSessionId;
use autonoe_flow::machine::{SessionChoice, SessionUsage};
use autonoe_flow::{FlowAction, FlowErrorKind, FlowFact};
use serde_json::json;

use super::{PROMPT, checked, part};
use crate::machine_script::{Script, answer_text, answer_text_in, breaks, failure, sets};
use crate::support::step;

// Shows: flows/retry/error-escalates, flows/sessions/failed
#[test]
fn a_conversation_continues_until_it_fails_or_the_flow_restarts() {
    let mut b = checked(
        "end",
        json!({"escalation": {"escalateTo": "lead", "returnFlow": "restart"}}),
    );
    b["retry"] =
        json!({"maxRetries": 1, "onExhausted": "error", "backoff": {"initialMs": 0, "maxMs": 0}});
    let steps = json!({"a": step("b"), "b": b, "lead": {"prompt": PROMPT}});

    let script = Script::with_steps(steps)
        .prompts([
            answer_text_in("one", "x"),
            breaks(FlowErrorKind::SdkSession),
            answer_text_in("two", "x"),
            answer_text_in("two", "x"),
            answer_text("cannot be continued"),
        ])
        .checks([false])
        .run();

    let prompts: Vec<&str> = script
        .steps()
        .into_iter()
        .filter(|it| it.starts_with("prompt"))
        .collect();
    assert_eq!(
        prompts,
        [
            "prompt 1: a",
            "prompt 2: b in one",
            "prompt 3: b retry 1",
            "prompt 4: lead in two",
            "prompt 5: a visit 2",
            "prompt 6: b visit 2"
        ]
    );
}

#[test]
fn a_lost_conversation_repeats_its_prompt_in_a_new_one_and_its_cost_counts() {
    let mut script = Script::with_steps(json!({"a": step("b"), "b": step("end")}))
        .prompts([answer_text_in("one", "x"), answer_text_in("two", "y")]);
    let mut action = script.begin();
    while !matches!(&action, FlowAction::Prompt(order) if order.iteration == 2) {
        action = script.step(action);
    }
    let lost = FlowFact::ConversationLost {
        at: script.now,
        iteration: 2,
        failure: failure(FlowErrorKind::SdkRefused),
        spent: SessionUsage {
            cost: CostTotal::known(CostUsd::from_cents(3)),
            ..SessionUsage::default()
        },
    };

    let repeated = script.apply(lost.clone());
    // A new conversation cannot be lost.
    let ignored = script.apply(lost);

    let (FlowAction::Prompt(mut sent), FlowAction::Prompt(resent)) = (action, &repeated) else {
        panic!("{repeated:?}");
    };
    sent.session = SessionChoice::Fresh;
    assert_eq!(*resent, sent);
    assert_eq!(ignored, FlowAction::Continue);
    let mut action = repeated;
    while !matches!(action, FlowAction::Finish(_)) {
        action = script.step(action);
    }
    let run = autonoe_core::RunId::new("r");
    let result = script.machine.result(&run, script.now).expect("it ended");
    assert_eq!(result.iterations(), 2);
    assert_eq!(result.spent.cost.known_usd, CostUsd::from_cents(1 + 3 + 1));
    assert_eq!(
        script
            .machine
            .context()
            .session_id()
            .map(AgentSessionId::as_str),
        Some("two")
    );
}

#[test]
fn variables_resolve_from_step_then_outputs_then_parameters_then_flow() {
    let parameters = json!({"parameters": {
        "city": {"type": "string", "required": true},
        "days": {"type": "integer", "default": 3},
        "tags": {"type": "array", "default": ["x", "y"]},
        "origin": {"type": "string"},
    }});
    let mut a = step("b");
    a["outputs"] = json!(["score"]);
    let mut b = step("end");
    b["variables"] = json!({
        "days": 5,
        "loud": true,
        "points": {"from": "/steps/a/outputs/score"},
        "seen": {"from": "/steps/a/visits"},
        "origin": {"from": "/parameters/origin"},
    });
    let registry = json!({"entryStep": "a", "steps": {"a": a, "b": b}});
    let mut script = Script::with_parameters(parameters, registry, json!({"city": "Tokyo"}));
    script.prompts = [sets(json!({"score": {"total": 7}}))].into();
    let mut action = script.begin();
    while !matches!(&action, FlowAction::Prompt(order) if order.iteration == 2) {
        action = script.step(action);
    }
    let FlowAction::Prompt(order) = action else {
        panic!("a prompt")
    };

    assert_eq!(
        serde_json::to_value(&order.variables).expect("JSON"),
        json!({
            "city": "Tokyo", "days": "5", "tags": "x, y", "loud": "true",
            "points": r#"{"total":7}"#, "score": r#"{"total":7}"#, "seen": "1",
            "flow": "review", "step": "b", "iteration": "2", "visit": "1",
            "previous_response": "set",
        })
    );
}

#[test]
fn before_the_first_answer_the_answer_before_is_blank() {
    let mut script = Script::with_steps(json!({"a": step("end")}));

    let FlowAction::Prompt(order) = script.begin() else {
        panic!("a flow begins with a prompt")
    };

    assert_eq!(order.variables["previous_response"], "");
}

#[test]
fn a_check_receives_all_answers_of_its_try() {
    let mut a = checked("end", json!({}));
    a["subSteps"] = json!(["p"]);
    let mut script = Script::with_steps(json!({"a": a, "p": part(json!({}))}))
        .prompts([answer_text("of the parent"), answer_text("of the part")]);
    let mut action = script.begin();
    while !matches!(&action, FlowAction::Check(_)) {
        action = script.step(action);
    }
    let FlowAction::Check(order) = action else {
        panic!("a check")
    };

    assert_eq!(order.text, "of the parent\n\nof the part");
    assert_eq!(order.variables["response"], order.text);
    assert_eq!(order.iteration, 2);
}

// Shows: flows/retry/sub-steps
#[test]
fn a_sub_step_gets_new_values_in_a_retry_of_its_parent() {
    let mut a = checked("end", json!({"retry": {"maxRetries": 1}}));
    a["subSteps"] = json!(["p"]);
    let mut script = Script::with_steps(json!({"a": a, "p": part(json!({}))}))
        .prompts(["one", "two", "three", "four"].map(answer_text))
        .checks([false]);
    let mut seen = Vec::new();
    let mut action = script.begin();
    while !matches!(action, FlowAction::Finish(_)) {
        if let FlowAction::Prompt(order) = &action {
            let value = |name: &str| order.variables[name].clone();
            seen.push([
                value("step"),
                value("iteration"),
                value("previous_response"),
            ]);
        }
        action = script.step(action);
    }

    assert_eq!(
        seen,
        [
            ["a", "1", ""],
            ["p", "2", "one"],
            // The step itself keeps its values.
            ["a", "1", ""],
            ["p", "4", "three"]
        ]
    );
}

#[test]
fn an_answer_is_carried_to_the_next_iteration_and_a_failed_one_is_not() {
    let mut b = step("end");
    b["retry"] = json!({"maxRetries": 1});
    let mut script = Script::with_steps(json!({"a": step("b"), "b": b})).prompts([
        answer_text("first"),
        breaks(FlowErrorKind::SdkSession),
        answer_text("second"),
    ]);
    let carried = |script: &Script| script.machine.context().carry().previous_response.clone();
    let mut seen = Vec::new();
    let mut action = script.begin();
    while !matches!(action, FlowAction::Finish(_)) {
        if let FlowAction::Prompt(_) = action {
            seen.push(carried(&script));
        }
        action = script.step(action);
    }

    let first = || Some("first".to_owned());
    assert_eq!(seen, [None, first(), first()]);
    assert_eq!(carried(&script).as_deref(), Some("second"));
    let context = script.machine.context();
    let failed: Vec<bool> = context
        .summaries()
        .iter()
        .map(|it| it.failure.is_some())
        .collect();
    assert_eq!(failed, [false, true, false]);
    assert_eq!(context.summaries().len() as u64, context.iteration());
}

#[test]
fn numbers_have_one_format_in_every_variable() {
    let parameters = json!({"parameters": {"rate": {"type": "number"}}});
    let mut a = step("end");
    a["variables"] = json!({"own": 4.0, "read": {"from": "/parameters/rate"}, "half": 0.5});
    let registry = json!({"entryStep": "a", "steps": {"a": a}});

    let mut script = Script::with_parameters(parameters, registry, json!({"rate": 4.0}));
    let FlowAction::Prompt(order) = script.begin() else {
        panic!("it begins with a prompt");
    };

    let spelled = ["rate", "own", "read", "half"].map(|name| order.variables[name].as_str());
    assert_eq!(spelled, ["4", "4", "4", "0.5"]);
}
