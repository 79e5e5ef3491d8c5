//! Steps, retries, checks, completion, sub-steps and gateways.

use autonoe_flow::machine::CompletionVerdict;
use autonoe_flow::{FlowAction, FlowEnd, FlowErrorKind, FlowFact};
use serde_json::json;

use super::{checked, part};
use crate::machine_script::{Script, answer_text, breaks, failure, sets};
use crate::support::step;

#[test]
fn steps_follow_each_other_to_the_end_where_the_flow_is_complete() {
    let script = Script::with_steps(json!({"a": step("b"), "b": step("end")})).run();

    let expected = [
        "prompt 1: a",
        "complete?",
        "prompt 2: b",
        "complete?",
        "complete at end?",
        "complete",
    ];
    assert_eq!(script.actions, expected);
}

#[test]
fn a_check_runs_before_the_completion() {
    let script = Script::with_steps(json!({"a": checked("end", json!({}))})).run();

    let expected = [
        "prompt 1: a",
        "check a",
        "complete?",
        "complete at end?",
        "complete",
    ];
    assert_eq!(script.actions, expected);
}

#[test]
fn completion_ends_a_flow_after_any_iteration_and_records_its_reason() {
    let mut script = Script::with_steps(json!({"a": step("b"), "b": step("end")}));
    script.completions = [Ok(true)].into();

    let script = script.run();

    assert_eq!(script.actions, ["prompt 1: a", "complete?", "complete"]);
    assert!(matches!(script.end(), FlowEnd::Complete { reason, .. } if reason == "it is"));
}

#[test]
fn the_end_while_the_flow_is_not_complete_is_an_error() {
    let mut script = Script::with_steps(json!({"a": step("end")}));
    script.completions = [Ok(false), Ok(false)].into();

    assert_eq!(
        script.run().steps(),
        [
            "prompt 1: a",
            "complete at end?",
            "failed: ended_incomplete"
        ]
    );
}

#[test]
fn failed_step_is_retried_up_to_the_limit() {
    let steps = json!({"a": checked("end", json!({"retry": {"maxRetries": 2}}))});

    let passes = Script::with_steps(steps.clone())
        .checks([false, false, true])
        .run();
    assert_eq!(
        passes.steps(),
        [
            "prompt 1: a",
            "check a",
            "prompt 2: a retry 1",
            "check a",
            "prompt 3: a retry 2",
            "check a",
            "complete at end?",
            "complete"
        ]
    );

    let fails = Script::with_steps(steps).checks([false; 3]).run();
    assert_eq!(fails.steps().last(), Some(&"failed: step_failed"));
    assert_eq!(fails.machine.context().iteration(), 3);
}

#[test]
fn error_fallback_and_skip_each_apply_after_the_last_try() {
    for (policy, expected) in [
        (json!({"maxRetries": 0}), vec!["failed: step_failed"]),
        (
            json!({"maxRetries": 0, "onExhausted": "error"}),
            vec!["failed: step_failed"],
        ),
        (
            json!({"maxRetries": 0, "onExhausted": "fallback", "fallbackStep": "c"}),
            vec!["prompt 2: c", "complete at end?", "complete"],
        ),
        (
            json!({"maxRetries": 0, "onExhausted": "skip"}),
            vec!["prompt 2: b", "complete at end?", "complete"],
        ),
    ] {
        let a = checked("b", json!({"retry": policy}));
        let c = policy["fallbackStep"].is_string().then(|| step("end"));
        let mut steps = json!({"a": a, "b": step("end")});
        if let Some(c) = c {
            steps["c"] = c;
        }

        let script = Script::with_steps(steps).checks([false]).run();

        assert_eq!(script.steps()[2..], expected, "{policy}");
    }
}

#[test]
fn a_skipped_step_has_not_passed_and_reaches_no_phase() {
    let skipped = checked(
        "end",
        json!({"retry": {"maxRetries": 0, "onExhausted": "skip"}, "phase": "done"}),
    );

    let script = Script::with_steps(json!({"a": skipped}))
        .checks([false])
        .run();

    assert!(script.machine.progress().phases.is_empty());
    let record = &script.machine.steps()["a"];
    assert_eq!(record.passed, Some(false));
}

#[test]
fn a_phase_is_reached_when_its_step_passed_and_the_completion_is_checked_then() {
    let mut a = checked("end", json!({"phase": "done"}));
    a["subSteps"] = json!(["p"]);
    let mut script = Script::with_steps(json!({"a": a, "p": part(json!({"phase": "half"}))}));
    let mut phases = Vec::new();
    let mut action = script.begin();
    while !matches!(action, FlowAction::Finish(_)) {
        if let FlowAction::CheckCompletion(_) = action {
            let reached = script.machine.progress().phases.iter();
            phases.push(reached.map(String::as_str).collect::<Vec<_>>().join("+"));
        }
        action = script.step(action);
    }

    assert_eq!(phases, ["done+half", "done+half"]);
}

#[test]
fn an_error_of_the_agent_is_waited_for_and_one_of_a_check_is_not() {
    let mut steps = json!({"a": step("end")});
    steps["a"]["retry"] = json!({"maxRetries": 3});

    let script = Script::with_steps(steps)
        .prompts([
            breaks(FlowErrorKind::SdkConnection),
            breaks(FlowErrorKind::SdkSession),
            answer_text("fine"),
        ])
        .run();

    assert_eq!(
        script.steps(),
        [
            "prompt 1: a",
            "wait for Retry until 1000 ms",
            "prompt 2: a retry 1",
            "wait for Retry until 3000 ms",
            "prompt 3: a retry 2",
            "complete at end?",
            "complete"
        ]
    );
}

#[test]
fn an_unrecoverable_error_ends_the_flow_at_once() {
    let a = checked("end", json!({"retry": {"maxRetries": 3}}));
    for kind in FlowErrorKind::ALL
        .iter()
        .filter(|kind| !kind.is_recoverable())
    {
        let end = if failure(*kind).is_resumable() {
            "stopped"
        } else {
            "failed"
        };
        let end = format!("{end}: {}", kind.code());
        let script = || Script::with_steps(json!({"a": a}));
        let prompt = script().prompts([breaks(*kind)]);
        let mut check = script();
        check.checks = [Err(*kind)].into();
        let mut completion = script();
        completion.completions = [Err(*kind)].into();

        for (script, before) in [
            (prompt, vec!["prompt 1: a"]),
            (check, vec!["prompt 1: a", "check a"]),
            (completion, vec!["prompt 1: a", "check a", "complete?"]),
        ] {
            let script = script.run();

            let (last, actions) = script.actions.split_last().expect("it ended");
            assert_eq!(actions, before, "{kind:?}");
            assert_eq!(*last, end);
        }
    }
}

#[test]
fn a_check_without_a_verdict_fails_the_step() {
    let mut script =
        Script::with_steps(json!({"a": checked("end", json!({"retry": {"maxRetries": 1}}))}));
    script.checks = [Err(FlowErrorKind::StepCheck), Err(FlowErrorKind::StepCheck)].into();

    let script = script.run();

    assert_eq!(
        script.steps(),
        [
            "prompt 1: a",
            "check a",
            "prompt 2: a retry 1",
            "check a",
            "failed: step_failed"
        ]
    );
    // Only checks with a verdict are counted.
    assert_eq!(script.machine.progress().checks, 0);
}

// Shows: flows/keywords/no-verdict
#[test]
fn the_completion_waits_for_a_verdict_while_the_flow_has_another_path() {
    for (policy, expected) in [
        (
            json!({"maxRetries": 1}),
            vec![
                "prompt 2: a retry 1",
                "check a",
                "complete?",
                "prompt 3: b",
                "complete?",
            ],
        ),
        (
            json!({"maxRetries": 0, "onExhausted": "skip"}),
            vec!["prompt 2: b", "complete?"],
        ),
        (
            json!({"maxRetries": 0, "onExhausted": "fallback", "fallbackStep": "c"}),
            vec!["prompt 2: c", "complete?"],
        ),
        (
            json!({"maxRetries": 0}),
            vec!["complete?", "failed: step_failed"],
        ),
    ] {
        let mut steps = json!({"a": checked("b", json!({"retry": policy})), "b": step("end")});
        if policy["fallbackStep"].is_string() {
            steps["c"] = step("end");
        }
        let mut script = Script::with_steps(steps);
        script.checks = [Err(FlowErrorKind::StepCheck)].into();

        let script = script.run();

        let (before, after) = script.actions.split_at(2);
        assert_eq!(before, ["prompt 1: a", "check a"]);
        assert_eq!(after[..expected.len()], expected, "{policy}");
    }
}

// Shows: flows/errors/no-fallback
#[test]
fn a_failed_completion_check_is_retried_as_often_as_the_step() {
    let mut a = step("end");
    // A completion check does not use the fallback of the step.
    a["retry"] = json!({"maxRetries": 1, "onExhausted": "fallback", "fallbackStep": "b"});
    let mut script = Script::with_steps(json!({"a": a, "b": step("end")}));
    script.completions = [Err(FlowErrorKind::CompletionCheck); 2].into();

    let expected = [
        "prompt 1: a",
        "complete?",
        "wait for Completion until 1000 ms",
        "complete?",
        "failed: completion_check",
    ];
    assert_eq!(script.run().actions, expected);
}

#[test]
fn a_flow_that_is_complete_has_not_failed_even_if_its_last_try_did() {
    let mut script = Script::with_steps(json!({"a": checked("end", json!({}))})).checks([false]);
    script.completions = [Ok(true)].into();

    assert_eq!(
        script.run().actions.last().map(String::as_str),
        Some("complete")
    );
}

#[test]
fn sub_steps_are_run_in_order_after_the_prompt_and_before_the_check() {
    let mut a = checked("end", json!({}));
    a["subSteps"] = json!(["p", "q"]);

    let script =
        Script::with_steps(json!({"a": a, "p": part(json!({})), "q": part(json!({}))})).run();

    assert_eq!(
        script.actions,
        [
            "prompt 1: a",
            "prompt 2: p",
            "prompt 3: q",
            "check a",
            "complete?",
            "complete at end?",
            "complete"
        ]
    );
}

#[test]
fn the_completion_is_evaluated_when_no_enclosing_step_has_a_pending_check() {
    let check = json!({"type": "keyword", "keywords": ["OK"]});
    let sub_steps = |of_a: bool, of_p: bool| {
        let mut a = step("end");
        a["subSteps"] = json!(["p", "q"]);
        let mut p = part(json!({"subSteps": ["r"]}));
        for (work, is_checked) in [(&mut a, of_a), (&mut p, of_p)] {
            if is_checked {
                work["check"] = check.clone();
            }
        }
        json!({"a": a, "p": p, "q": part(json!({})), "r": part(json!({}))})
    };
    let (a, p, r, q) = ("prompt 1: a", "prompt 2: p", "prompt 3: r", "prompt 4: q");
    for (of_a, of_p, expected) in [
        (false, false, vec![a, "?", p, "?", r, "?", q, "?"]),
        (false, true, vec![a, "?", p, r, "check p", "?", q, "?"]),
        (true, false, vec![a, p, r, q, "check a", "?"]),
        (true, true, vec![a, p, r, "check p", q, "check a", "?"]),
    ] {
        let script = Script::with_steps(sub_steps(of_a, of_p)).run();

        let mut actions = script.actions.iter().map(|actions| match actions.as_str() {
            "complete?" => "?",
            actions => actions,
        });
        let before_the_end: Vec<&str> = actions.by_ref().take(expected.len()).collect();
        assert_eq!(before_the_end, expected, "{of_a} {of_p}");
        let rest: Vec<&str> = actions.collect();
        assert_eq!(rest, ["complete at end?", "complete"], "{of_a} {of_p}");
    }
}

// Shows: flows/keywords/no-verdict
#[test]
fn the_completion_is_evaluated_when_a_sub_step_fails_its_parent_before_the_check() {
    let mut a = checked("end", json!({}));
    a["subSteps"] = json!(["p"]);
    let p = part(json!({"check": {"type": "keyword", "keywords": ["OK"]}}));
    let mut script = Script::with_steps(json!({"a": a, "p": p})).checks([false]);
    script.completions = [Ok(true)].into();

    assert_eq!(
        script.run().actions,
        [
            "prompt 1: a",
            "prompt 2: p",
            "check p",
            "complete?",
            "complete"
        ]
    );
}

#[test]
fn a_failing_sub_step_fails_its_parent_and_a_retry_runs_the_whole_parent() {
    let mut a = step("end");
    a["subSteps"] = json!(["p"]);
    a["retry"] = json!({"maxRetries": 1});
    let p = part(json!({
        "check": {"type": "keyword", "keywords": ["OK"]},
        "retry": {"maxRetries": 1, "onExhausted": "error"},
    }));

    let script = Script::with_steps(json!({"a": a, "p": p}))
        .checks([false, false, false, true])
        .run();

    assert_eq!(
        script.steps(),
        [
            "prompt 1: a",
            "prompt 2: p",
            "check p",
            "prompt 3: p retry 1",
            "check p",
            "prompt 4: a retry 1",
            "prompt 5: p",
            "check p",
            "prompt 6: p retry 1",
            "check p",
            "complete at end?",
            "complete"
        ]
    );
    assert_eq!(script.machine.steps()["p"].visits, 1);
}

// Shows: flows/sub-steps/sequential
#[test]
fn a_sub_step_that_is_skipped_does_not_fail_its_parent() {
    let a = json!({"subSteps": ["p"], "transition": {"next": "end"}});
    let p = part(json!({
        "check": {"type": "keyword", "keywords": ["OK"]},
        "retry": {"maxRetries": 0, "onExhausted": "skip"},
    }));

    let script = Script::with_steps(json!({"a": a, "p": p}))
        .checks([false])
        .run();

    assert_eq!(
        script.steps(),
        ["prompt 1: p", "check p", "complete at end?", "complete"]
    );
}

#[test]
fn a_gateway_branches_on_data_and_joins() {
    let mut a = step("g");
    a["outputs"] = json!(["verdict"]);
    let gateway = json!({
        "type": "gateway",
        "branches": [{
            "when": {"data": "/steps/a/outputs/verdict", "equals": "revise"},
            "next": "b",
        }],
        "default": "end",
    });
    let steps = json!({"a": a, "g": gateway, "b": step("a")});

    let script = Script::with_steps(steps)
        .prompts([
            sets(json!({"verdict": "revise"})),
            answer_text("better"),
            sets(json!({"verdict": "fine"})),
        ])
        .run();

    assert_eq!(
        script.steps(),
        [
            "prompt 1: a",
            "prompt 2: b",
            "prompt 3: a visit 2",
            "complete at end?",
            "complete"
        ]
    );
    assert_eq!(script.machine.steps()["g"].visits, 2);
}

#[test]
fn nothing_is_complete_before_the_agent_has_answered_once() {
    let mut a = checked(
        "end",
        json!({"retry": {"maxRetries": 2, "onExhausted": "skip"}}),
    );
    let broken = || [(); 3].map(|()| breaks(FlowErrorKind::SdkSession));
    let mut skipped = Script::with_steps(json!({"a": a})).prompts(broken());
    skipped.completions = [Ok(true); 9].into();
    a["retry"] = json!({"maxRetries": 2});
    let mut failed = Script::with_steps(json!({"a": a})).prompts(broken());
    failed.completions = [Ok(true); 9].into();

    let (skipped, failed) = (skipped.run(), failed.run());

    assert_eq!(skipped.machine.context().iteration(), 3);
    for (script, expected) in [
        (skipped, "failed: ended_incomplete"),
        (failed, "failed: step_failed"),
    ] {
        assert!(
            !script
                .actions
                .iter()
                .any(|action| action.starts_with("complete"))
        );
        assert_eq!(script.steps().last(), Some(&expected));
    }
}

#[test]
fn sub_steps_of_sub_steps_are_visited_once_however_often_those_around_them_are_tried() {
    let mut a = checked("end", json!({"retry": {"maxRetries": 2}}));
    a["subSteps"] = json!(["p"]);
    let p = part(json!({"subSteps": ["q"]}));
    let q = part(json!({"subSteps": ["r", "r"]}));
    let steps = json!({"a": a, "p": p, "q": q, "r": part(json!({}))});

    let script = Script::with_steps(steps).checks([false, false, true]).run();

    assert_eq!(script.steps().last(), Some(&"complete"));
    assert_eq!(script.machine.context().iteration(), 3 * 5);
    let visits = |step: &str| script.machine.steps()[step].visits;
    assert_eq!(["a", "p", "q", "r"].map(visits), [1, 1, 1, 2]);
}

#[test]
fn an_incomplete_end_names_the_conditions_that_do_not_hold() {
    let mut script = Script::with_steps(json!({"a": step("end")}));
    let at = script.now;
    let action = script.begin();
    let action = script.step(action);
    let _ = script.step(action);
    let states = [("tested", true), ("released", false), ("told", false)];
    let states = states.map(|(name, holds)| (name.to_owned(), holds));

    let _ = script.apply(FlowFact::CompletionChecked {
        at,
        verdict: Ok(CompletionVerdict {
            complete: None,
            states: states.into(),
        }),
    });

    assert_eq!(
        script
            .end()
            .failure()
            .map(|failure| failure.message.as_str()),
        Some(
            "the flow reached the end of its steps, but the flow is not complete; these \
             conditions do not hold: `released`, `told`"
        )
    );
}

#[test]
fn the_completion_waits_while_an_agent_fails_before_a_retried_check() {
    let a = checked("end", json!({"retry": {"maxRetries": 2}}));
    let mut script = Script::with_steps(json!({"a": a}))
        .prompts([answer_text("DONE"), breaks(FlowErrorKind::SdkSession)]);
    script.checks = [Err(FlowErrorKind::StepCheck)].into();

    assert_eq!(
        script.run().actions[1..],
        [
            "check a",
            "prompt 2: a retry 1",
            "wait for Retry until 2000 ms",
            "prompt 3: a retry 2",
            "check a",
            "complete?",
            "complete at end?",
            "complete"
        ]
    );
}

#[test]
fn a_completion_check_or_a_notification_that_stops_the_flow_is_repeated_when_it_resumes() {
    let limited = FlowErrorKind::SdkRateLimit;
    let escalation = json!({"escalateTo": "https://example.com/", "notificationMethod": "webhook"});
    let escalated = checked("end", json!({"escalation": escalation}));
    for (a, completions, notifications) in [
        (step("end"), vec![Err(limited)], vec![]),
        (step("end"), vec![Ok(false), Err(limited)], vec![]),
        (escalated, vec![], vec![limited]),
    ] {
        let mut script = Script::with_steps(json!({"a": a})).checks([false]);
        script.completions = completions.into();
        script.notifications = notifications.into();
        let mut script = script.run();
        let at = script.now;

        let mut action = script.apply(FlowFact::Resumed { at });

        let stopped = script.actions.len() - 2;
        assert_eq!(script.actions[stopped], "stopped: sdk_rate_limit");
        assert_eq!(script.actions[stopped - 1], script.actions[stopped + 1]);
        while !matches!(action, FlowAction::Finish(_)) {
            action = script.step(action);
        }
        assert_eq!(script.actions.last().map(String::as_str), Some("complete"));
    }
}
