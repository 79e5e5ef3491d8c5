//! Escalations of failed steps.

use autonoe_flow::{FlowAction, FlowErrorKind};
use serde_json::json;

use super::{PROMPT, checked};
use crate::machine_script::Script;
use crate::support::step;

#[test]
fn an_escalation_to_a_step_runs_it_and_then_resumes_restarts_or_aborts() {
    for (then, expected) in [
        (
            "resume",
            vec![
                "prompt 4: b visit 2",
                "check b",
                "complete at end?",
                "complete",
            ],
        ),
        (
            "restart",
            vec![
                "prompt 4: a visit 2",
                "prompt 5: b visit 2",
                "check b",
                "complete at end?",
                "complete",
            ],
        ),
        ("abort", vec!["failed: escalated"]),
    ] {
        let b = checked(
            "end",
            json!({"escalation": {"escalateTo": "lead", "returnFlow": then}}),
        );
        let lead_step = json!({"prompt": PROMPT});

        let script = Script::with_steps(json!({"a": step("b"), "b": b, "lead": lead_step}))
            .checks([false])
            .run();

        assert_eq!(
            script.steps()[..4],
            ["prompt 1: a", "prompt 2: b", "check b", "prompt 3: lead"]
        );
        assert_eq!(script.steps()[4..], expected, "{then}");
    }
}

// Shows: flows/escalation/called-step
#[test]
fn the_step_of_an_escalation_knows_the_failure_and_its_own_next_is_not_followed() {
    let a = checked("end", json!({"escalation": {"escalateTo": "lead"}}));
    let steps = json!({"a": a, "lead": step("b"), "b": step("end")});
    let mut script = Script::with_steps(steps).checks([false]);
    let mut action = script.begin();
    let mut seen = Vec::new();
    while !matches!(action, FlowAction::Finish(_)) {
        if let FlowAction::Prompt(order) = &action {
            let failure = order.variables.get("failure").cloned();
            seen.push((order.at.step.to_string(), order.at.visit, failure));
        }
        action = script.step(action);
    }

    let reason = "the step `a` failed: the check did not pass".to_owned();
    assert_eq!(
        seen,
        [
            ("a".to_owned(), 1, None),
            ("lead".to_owned(), 1, Some(reason)),
            ("a".to_owned(), 2, None)
        ]
    );
}

// Shows: flows/escalation/called-step
#[test]
fn the_failure_of_the_step_of_an_escalation_ends_the_flow() {
    let a = checked("end", json!({"escalation": {"escalateTo": "lead"}}));
    // A step that runs for an escalation uses neither its fallback nor its escalation.
    let fallback = json!({"retry": {
        "maxRetries": 0, "onExhausted": "fallback", "fallbackStep": "b",
    }});
    let escalation = json!({"escalation": {"escalateTo": "b"}});
    for reaction in [fallback, escalation] {
        let lead_step = checked("end", reaction);
        let steps = json!({"a": a.clone(), "lead": lead_step, "b": step("end")});

        let script = Script::with_steps(steps).checks([false, false]).run();

        assert_eq!(
            script.steps(),
            [
                "prompt 1: a",
                "check a",
                "prompt 2: lead",
                "check lead",
                "failed: step_failed"
            ]
        );
    }
}

#[test]
fn an_external_escalation_is_sent_before_the_flow_resumes_restarts_or_aborts() {
    for (method, to) in [("webhook", "https://example.com/"), ("log", "the lead")] {
        for (then, expected) in [
            (
                "resume",
                vec![
                    "prompt 2: a visit 2",
                    "check a",
                    "complete at end?",
                    "complete",
                ],
            ),
            (
                "restart",
                vec![
                    "prompt 2: a visit 2",
                    "check a",
                    "complete at end?",
                    "complete",
                ],
            ),
            ("abort", vec!["failed: escalated"]),
        ] {
            let escalation =
                json!({"escalateTo": to, "notificationMethod": method, "returnFlow": then});
            let a = checked("end", json!({"escalation": escalation}));

            let script = Script::with_steps(json!({"a": a})).checks([false]).run();

            let notice = format!("notify {to} of a");
            assert_eq!(script.steps()[..3], ["prompt 1: a", "check a", &notice]);
            assert_eq!(script.steps()[3..], expected, "{method} {then}");
        }
    }
}

#[test]
fn a_notification_that_cannot_be_delivered_ends_the_flow() {
    let escalation = json!({"escalateTo": "https://example.com/", "notificationMethod": "webhook"});
    let a = checked("end", json!({"escalation": escalation}));
    let mut script = Script::with_steps(json!({"a": a})).checks([false]);
    script.notifications = [FlowErrorKind::Notification].into();

    assert_eq!(script.run().steps().last(), Some(&"failed: notification"));
}

// Shows: flows/errors/no-fallback
#[test]
fn a_notification_is_retried_as_often_as_the_step() {
    let escalation = json!({"escalateTo": "https://example.com/", "notificationMethod": "webhook"});
    let retry = json!({"maxRetries": 2, "onExhausted": "error"});
    let a = checked("end", json!({"escalation": escalation, "retry": retry}));
    let notice = "notify https://example.com/ of a";
    let (one, two) = (
        "wait for Notification until 1000 ms",
        "wait for Notification until 3000 ms",
    );
    for (kind, failures, expected) in [
        (
            FlowErrorKind::Notification,
            1,
            vec![notice, one, notice, "prompt 4: a visit 2"],
        ),
        (
            FlowErrorKind::Notification,
            3,
            vec![notice, one, notice, two, notice, "failed: notification"],
        ),
        (
            FlowErrorKind::DependencyResolution,
            1,
            vec![notice, "failed: dependency_resolution"],
        ),
    ] {
        let mut script = Script::with_steps(json!({"a": a.clone()})).checks([false; 3]);
        script.notifications = std::iter::repeat_n(kind, failures).collect();

        let script = script.run();

        let steps = script.steps();
        assert_eq!(
            steps[6..6 + expected.len()],
            expected,
            "{kind:?} {failures}"
        );
    }
}

#[test]
fn the_step_of_an_escalation_breaks_a_row_of_visits_and_a_webhook_does_not() {
    let limits = json!({"stepLoop": 1, "maxVisits": 3});
    for (method, to, visits) in [("in_agent", "lead", 3), ("log", "the lead", 1)] {
        let escalation = json!({"escalateTo": to, "notificationMethod": method});
        let mut steps = json!({"a": checked("end", json!({"escalation": escalation}))});
        if method == "in_agent" {
            steps["lead"] = json!({"prompt": PROMPT});
        }
        let registry = json!({"entryStep": "a", "steps": steps, "limits": limits});

        let script = Script::new(json!({}), registry).checks([false; 9]).run();

        assert_eq!(script.machine.steps()["a"].visits, visits, "{method}");
        assert_eq!(script.steps().last(), Some(&"failed: step_loop_limit"));
    }
}
