//! Visits, cost, time, rate limits, cancellation, and facts that do not fit.

use autonoe_core::agent::{BudgetKind, CostTotal};
use autonoe_core::{Budget, CostUsd, OnQuota};
use autonoe_flow::machine::{CheckVerdict, PromptOutcome, SessionUsage};
use autonoe_flow::{FlowAction, FlowEnd, FlowErrorKind, FlowFact, FlowLimits};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::checked;
use crate::machine_script::{Script, answer_text, breaks, failure};
use crate::support::step;

#[test]
fn one_visit_more_in_a_row_than_the_limit_is_an_error_and_retries_are_no_visits() {
    let a = checked("a", json!({"retry": {"maxRetries": 1}}));
    let registry = json!({"entryStep": "a", "steps": {"a": a}, "limits": {"stepLoop": 3}});
    let keyword = json!({"behavior": {"completionType": "keywordSignal", "completionConfig": {"keywords": ["X"]}}});

    let script = Script::new(keyword, registry)
        .checks([false, true, false, true, false, true])
        .run();

    assert_eq!(script.steps().last(), Some(&"failed: step_loop_limit"));
    assert_eq!(script.machine.steps()["a"].visits, 3);
    assert_eq!(script.machine.context().iteration(), 6);
}

// Shows: flows/transitions/loops
#[test]
fn a_loop_over_two_steps_is_allowed_and_its_visits_are_counted_up_to_their_limit() {
    let registry = json!({
        "entryStep": "a",
        "steps": {"a": step("b"), "b": step("a")},
        "limits": {"stepLoop": 1, "maxVisits": 4},
    });
    let keyword = json!({"behavior": {"completionType": "keywordSignal", "completionConfig": {"keywords": ["X"]}}});

    let script = Script::new(keyword, registry).run();

    assert_eq!(script.steps().last(), Some(&"failed: step_loop_limit"));
    assert_eq!(script.machine.context().iteration(), 8);
}

#[test]
fn after_a_rate_limit_the_prompt_is_resent_under_its_number() {
    let reset = Timestamp::from_second(6 * 3600).expect("in range");
    let limited = |resets_at| PromptOutcome::RateLimited { resets_at };
    let limits = FlowLimits {
        on_quota: OnQuota::Wait,
        ..FlowLimits::default()
    };

    let script = Script::with_steps(json!({"a": step("end")}))
        .limits(limits)
        .prompts([limited(Some(reset)), limited(None)])
        .run();

    assert_eq!(
        script.steps(),
        [
            "prompt 1: a",
            "wait for RateLimit until 21600000 ms",
            "prompt 1: a",
            "wait for RateLimitBackoff until 22200000 ms",
            "prompt 1: a",
            "complete at end?",
            "complete"
        ]
    );
    assert_eq!(script.machine.context().iteration(), 1);
}

/// Steps of which the first one has `fields` and hits a rate limit. The others do not.
fn limited(fields: &Value, times: usize) -> Script {
    let mut a = step("b");
    for (name, value) in fields.as_object().expect("fields") {
        a[name] = value.clone();
    }
    let mut steps = json!({"a": a, "b": step("end")});
    let targets = [
        &fields["retry"]["fallbackStep"],
        &fields["escalation"]["escalateTo"],
    ];
    if targets.iter().any(|target| **target == "c") {
        steps["c"] = step("end");
    }
    let limited = || PromptOutcome::RateLimited { resets_at: None };
    Script::with_steps(steps).prompts(std::iter::repeat_with(limited).take(times))
}

/// Escalations to which a spent quota does not lead, because no other step would run, or the flow
/// would end after it.
fn escalations_without_another_step() -> Vec<Value> {
    let mut escalations = vec![json!({"escalateTo": "c", "returnFlow": "abort"})];
    for (method, to) in [("webhook", "https://example.com/"), ("log", "the lead")] {
        for then in ["resume", "restart", "abort"] {
            escalations
                .push(json!({"escalateTo": to, "notificationMethod": method, "returnFlow": then}));
        }
    }
    escalations
}

#[test]
fn a_rate_limit_fails_the_step_of_a_flow_that_is_not_to_wait_and_its_policy_decides() {
    let stopped = "stopped: sdk_rate_limit";
    let policy = |policy: Value| json!({"retry": policy});
    let mut cases = vec![
        (policy(json!({"maxRetries": 0})), 1, vec![stopped]),
        (
            policy(json!({"maxRetries": 2})),
            3,
            vec![
                "wait for Retry until 1000 ms",
                "prompt 1: a retry 1",
                "wait for Retry until 3000 ms",
                "prompt 1: a retry 2",
                stopped,
            ],
        ),
        (
            policy(json!({"maxRetries": 1})),
            1,
            vec![
                "wait for Retry until 1000 ms",
                "prompt 1: a retry 1",
                "prompt 2: b",
                "complete at end?",
                "complete",
            ],
        ),
        (
            policy(json!({"maxRetries": 0, "onExhausted": "fallback", "fallbackStep": "c"})),
            1,
            vec!["prompt 1: c", "complete at end?", "complete"],
        ),
        (
            policy(json!({"maxRetries": 0, "onExhausted": "skip"})),
            1,
            vec!["prompt 1: b", "complete at end?", "complete"],
        ),
    ];
    for then in ["resume", "restart"] {
        cases.push((
            json!({"escalation": {"escalateTo": "c", "returnFlow": then}}),
            1,
            vec![
                "prompt 1: c",
                "prompt 2: a visit 2",
                "prompt 3: b",
                "complete at end?",
                "complete",
            ],
        ));
    }
    for escalation in escalations_without_another_step() {
        cases.push((json!({"escalation": escalation}), 1, vec![stopped]));
    }
    for (fields, times, expected) in cases {
        let script = limited(&fields, times).run();

        assert_eq!(script.steps()[1..], expected, "{fields}");
    }
}

// Shows: flows/quota/stop
#[test]
fn a_spent_quota_leaves_the_step_where_it_was() {
    let retried = json!({"retry": {"maxRetries": 1}});
    let mut cases = vec![(retried, 2, "prompt 1: a retry 1")];
    for escalation in escalations_without_another_step() {
        cases.push((json!({"escalation": escalation}), 1, "prompt 1: a"));
    }
    for (fields, times, expected) in cases {
        let mut script = limited(&fields, times).run();
        let (at, stopped) = (script.now, script.steps().len() - 1);

        let mut action = script.apply(FlowFact::Resumed { at });
        while !matches!(action, FlowAction::Finish(_)) {
            action = script.step(action);
        }

        assert_eq!(
            script.steps()[stopped..],
            [
                "stopped: sdk_rate_limit",
                expected,
                "prompt 2: b",
                "complete at end?",
                "complete"
            ],
            "{fields}"
        );
        let a = &script.machine.steps()["a"];
        assert_eq!((a.passed, a.visits), (Some(true), 1), "{fields}");
    }
}

#[test]
fn a_rate_limit_of_a_sub_step_follows_the_policies_of_the_steps_around_it() {
    let parts = |policy: Value| {
        let mut a = step("b");
        a["subSteps"] = json!(["p"]);
        a["retry"] = policy;
        json!({"a": a, "p": super::part(json!({})), "b": step("end")})
    };
    let limited = || {
        let limited = PromptOutcome::RateLimited { resets_at: None };
        [answer_text("fine"), limited]
    };

    let skipped = json!({"maxRetries": 0, "onExhausted": "skip"});
    let skips = Script::with_steps(parts(skipped)).prompts(limited()).run();
    let retries = Script::with_steps(parts(json!({"maxRetries": 1})));
    let retries = retries.prompts(limited()).run();
    let mut stops = Script::with_steps(parts(json!({"maxRetries": 0})));
    stops = stops.prompts(limited()).run();
    let at = stops.now;
    let resumed = stops.apply(FlowFact::Resumed { at });

    assert_eq!(skips.steps()[1..3], ["prompt 2: p", "prompt 2: b"]);
    assert_eq!(
        retries.steps()[1..4],
        [
            "prompt 2: p",
            "wait for Retry until 1000 ms",
            "prompt 2: a retry 1"
        ]
    );
    assert_eq!(
        stops.steps()[1..],
        ["prompt 2: p", "stopped: sdk_rate_limit", "prompt 2: p"]
    );
    assert!(matches!(resumed, FlowAction::Prompt(_)), "{resumed:?}");
}

// Shows: flows/quota/stop
#[test]
fn a_rate_limit_of_a_judge_stops_the_flow_at_its_check_if_it_is_not_to_wait() {
    let mut cases = vec![json!({"retry": {"maxRetries": 0}})];
    for escalation in escalations_without_another_step() {
        cases.push(json!({"escalation": escalation}));
    }
    for fields in cases {
        let mut steps = json!({"a": checked("end", fields.clone())});
        if fields["escalation"]["escalateTo"] == "c" {
            steps["c"] = step("end");
        }
        let mut script = Script::with_steps(steps);

        let action = check_limited(&mut script);
        let resumed = script.apply(FlowFact::Resumed { at: script.now });

        let FlowAction::Finish(FlowEnd::Stopped { failure }) = action else {
            panic!("{fields}: {action:?}");
        };
        assert_eq!(failure.kind, FlowErrorKind::SdkRateLimit, "{fields}");
        assert!(matches!(resumed, FlowAction::Check(_)), "{resumed:?}");
    }
}

#[test]
fn a_rate_limit_of_a_judge_follows_the_retries_and_the_fallback_of_its_step() {
    for (policy, expected) in [
        (
            json!({"maxRetries": 1}),
            vec!["wait for Retry until 1000 ms", "prompt 2: a retry 1"],
        ),
        (
            json!({"maxRetries": 0, "onExhausted": "fallback", "fallbackStep": "b"}),
            vec!["prompt 2: b", "complete?", "complete at end?", "complete"],
        ),
        (
            json!({"maxRetries": 0, "onExhausted": "skip"}),
            vec!["prompt 2: c", "complete?", "complete at end?", "complete"],
        ),
    ] {
        let a = checked("c", json!({"retry": policy}));
        let mut script = Script::with_steps(json!({"a": a, "b": step("end"), "c": step("end")}));

        let mut action = check_limited(&mut script);
        while !matches!(action, FlowAction::Finish(_)) {
            action = script.step(action);
        }

        let actions: Vec<&str> = script.actions[2..].iter().map(String::as_str).collect();
        assert!(actions.starts_with(&expected), "{policy}: {actions:?}");
    }
}

/// Runs a flow up to its first check, whose judge has no quota left.
fn check_limited(script: &mut Script) -> FlowAction {
    let action = script.begin();
    let _ = script.step(action);
    script.apply(FlowFact::CheckLimited {
        at: script.now,
        resets_at: None,
        spent: SessionUsage::default(),
    })
}

#[test]
fn a_spent_budget_stops_the_flow_before_the_next_prompt_and_a_complete_flow_is_complete() {
    let budget = Budget::default().with_cost(CostUsd::from_cents(5));
    let limits = FlowLimits {
        budget,
        ..FlowLimits::default()
    };
    let two = json!({"a": step("b"), "b": step("end")});

    let mut spends = Script::with_steps(two).limits(limits);
    spends.price = 5;
    let mut completes = Script::with_steps(json!({"a": step("end")})).limits(limits);
    completes.price = 5;
    let mut stopped = Script::with_steps(json!({"a": step("end")})).limits(limits);
    stopped.prompts = [PromptOutcome::BudgetSpent {
        budget: BudgetKind::Cost,
    }]
    .into();

    let mut spends = spends.run();
    assert_eq!(spends.steps(), ["prompt 1: a", "stopped: budget_exceeded"]);
    assert_eq!(
        completes.run().steps(),
        ["prompt 1: a", "complete at end?", "complete"]
    );
    let mut stopped = stopped.run();
    assert_eq!(stopped.steps(), ["prompt 1: a", "stopped: budget_exceeded"]);

    // With the same limits they stop again, with higher ones they continue.
    let at = spends.now;
    let higher = FlowLimits {
        budget: Budget::default().with_cost(CostUsd::from_cents(50)),
        ..FlowLimits::default()
    };
    let _ = spends.apply(FlowFact::Resumed { at });
    for (script, next) in [(&mut spends, "prompt 2: b"), (&mut stopped, "prompt 1: a")] {
        let _ = script.apply(FlowFact::LimitsChanged { limits: higher });
        let _ = script.apply(FlowFact::Resumed { at });

        let actions = script.actions.iter().rev().take(2).map(String::as_str);
        let actions: Vec<&str> = actions.collect();
        assert_eq!(actions, [next, "stopped: budget_exceeded"]);
    }
}

#[test]
fn the_time_since_a_stop_does_not_count() {
    let minute = std::time::Duration::from_secs(60);
    let budget = Budget::default().with_time(minute);
    let mut script = Script::with_steps(json!({"a": step("end")})).limits(FlowLimits {
        budget,
        ..FlowLimits::default()
    });
    let second = |second| Timestamp::from_second(second).expect("in range");
    let _ = script.begin();
    let _ = script.apply(FlowFact::Cancelled { at: second(20) });
    let interrupted = PromptOutcome::Cancelled;
    let stopped = script.apply(FlowFact::Prompted {
        at: second(20),
        iteration: 1,
        outcome: interrupted,
        spent: SessionUsage::default(),
    });

    let resumed = script.apply(FlowFact::Resumed { at: second(5_000) });

    assert!(matches!(
        stopped,
        FlowAction::Finish(FlowEnd::Stopped { .. })
    ));
    let FlowAction::Prompt(order) = resumed else {
        panic!("{resumed:?}");
    };
    assert_eq!(
        order.budget.time,
        Some(minute - std::time::Duration::from_secs(20))
    );
    assert_eq!(script.machine.deadline(), Some(second(5_040)));
}

#[test]
fn a_stopped_flow_continues_only_when_it_is_resumed() {
    let mut script = limited(&json!({}), 1).run();
    let at = script.now;
    let stopped = script.machine.clone();

    for fact in [
        FlowFact::WaitOver { at },
        FlowFact::Cancelled { at },
        FlowFact::Lost { spent: None },
        FlowFact::Failed {
            at,
            failure: failure(FlowErrorKind::Record),
        },
        FlowFact::Prompted {
            at,
            iteration: 1,
            outcome: answer_text("late"),
            spent: SessionUsage::default(),
        },
    ] {
        assert_eq!(script.apply(fact.clone()), stopped.action(), "{fact:?}");
        assert_eq!(script.machine, stopped);
    }
    let resumed = script.apply(FlowFact::Resumed { at });
    assert!(matches!(resumed, FlowAction::Prompt(_)), "{resumed:?}");
    assert_eq!(script.apply(FlowFact::Resumed { at }), FlowAction::Continue);
}

#[test]
fn a_wait_longer_than_the_time_budget_is_not_started() {
    let budget = Budget::default().with_time(std::time::Duration::from_millis(1_000));
    let mut a = step("end");
    a["retry"] = json!({"maxRetries": 3});

    let script = Script::with_steps(json!({"a": a}))
        .limits(FlowLimits {
            budget,
            ..FlowLimits::default()
        })
        .prompts([breaks(FlowErrorKind::SdkConnection)])
        .run();

    assert_eq!(script.actions, ["prompt 1: a", "stopped: budget_exceeded"]);
}

#[test]
fn an_unknown_cost_cannot_satisfy_a_money_budget() {
    let budget = Budget::default().with_cost(CostUsd::from_cents(500));
    let mut script = Script::with_steps(json!({"a": step("end")})).limits(FlowLimits {
        budget,
        ..FlowLimits::default()
    });
    let at = script.now;
    let _ = script.begin();
    let mut spent = SessionUsage::default();
    spent.cost.add(None);

    let action = script.apply(FlowFact::Prompted {
        at,
        iteration: 1,
        outcome: answer_text("fine"),
        spent,
    });

    assert!(
        matches!(action, FlowAction::Finish(FlowEnd::Stopped { failure }) if failure.kind == FlowErrorKind::BudgetExceeded)
    );
}

#[test]
fn cancelled_flow_resumes_where_it_stopped() {
    let (stop, stopped) = ("stop", "stopped: interrupted");
    for (facts, expected) in [
        (0, vec!["prompt 1: a", stop, stopped, "prompt 1: a"]),
        // The verdict arrived nevertheless, and is kept.
        (
            1,
            vec!["prompt 1: a", "check a", stop, stopped, "complete?"],
        ),
        (
            2,
            vec!["prompt 1: a", "check a", "complete?", stopped, "complete?"],
        ),
    ] {
        let mut script = Script::with_steps(json!({"a": checked("end", json!({}))}));
        let at = script.now;
        let mut action = script.begin();
        for _ in 0..facts {
            action = script.step(action);
        }

        if let FlowAction::Stop = script.apply(FlowFact::Cancelled { at }) {
            let fact = match action {
                FlowAction::Prompt(_) => FlowFact::Prompted {
                    at,
                    iteration: 1,
                    outcome: PromptOutcome::Cancelled,
                    spent: SessionUsage::default(),
                },
                _ => FlowFact::Checked {
                    at,
                    verdict: Ok(CheckVerdict {
                        passed: true,
                        reason: None,
                    }),
                    spent: SessionUsage::default(),
                },
            };
            let _ = script.apply(fact);
        }
        let _ = script.apply(FlowFact::Resumed { at });

        assert_eq!(script.actions, expected);
    }
}

#[test]
fn a_failure_after_a_cancellation_does_not_fail_the_step() {
    let spent = SessionUsage::default();
    for checks in [false, true] {
        let mut script = Script::with_steps(json!({"a": checked("end", json!({}))}));
        let at = script.now;
        let mut action = script.begin();
        if checks {
            action = script.step(action);
        }
        let _ = script.apply(FlowFact::Cancelled { at });
        let fact = if checks {
            FlowFact::Checked {
                at,
                verdict: Err(failure(FlowErrorKind::StepCheck)),
                spent,
            }
        } else {
            FlowFact::Prompted {
                at,
                iteration: 1,
                outcome: breaks(FlowErrorKind::SdkSession),
                spent,
            }
        };
        let _ = script.apply(fact);

        let resumed = script.apply(FlowFact::Resumed { at });

        assert_eq!(resumed, action);
        assert_eq!(
            script.actions[script.actions.len() - 2],
            "stopped: interrupted"
        );
    }
}

#[test]
fn facts_that_do_not_fit_change_nothing() {
    let mut script = Script::with_steps(json!({"a": step("end")}));
    let at = script.now;
    let spent = SessionUsage::default();
    let _ = script.begin();
    let before = script.machine.clone();

    for fact in [
        FlowFact::Started {
            at,
            limits: FlowLimits::default(),
        },
        FlowFact::Prompted {
            at,
            iteration: 2,
            outcome: answer_text("x"),
            spent,
        },
        FlowFact::Checked {
            at,
            verdict: Err(failure(FlowErrorKind::StepCheck)),
            spent,
        },
        FlowFact::WaitOver { at },
        FlowFact::Notified { at, result: Ok(()) },
    ] {
        assert_eq!(script.apply(fact.clone()), FlowAction::Continue, "{fact:?}");
        assert_eq!(script.machine, before);
    }
}

#[test]
fn a_prompt_lost_with_its_process_is_resent_under_its_number() {
    let mut script = Script::with_steps(json!({"a": step("end")}));
    let at = script.now;
    let sent = script.begin();

    let resent = script.apply(FlowFact::Lost { spent: None });

    assert_eq!(sent, resent);
    let result = |script: &Script| script.machine.result(&autonoe_core::RunId::new("r"), at);
    assert_eq!(result(&script), None);
    let mut action = resent;
    while !matches!(action, FlowAction::Finish(_)) {
        action = script.step(action);
    }
    let result = result(&script).expect("it ended");
    assert_eq!(
        (result.iterations(), result.spent.cost.unknown_parts),
        (1, 1)
    );
}

#[test]
fn facts_are_written_as_their_journal_reads_them() {
    let at = Timestamp::UNIX_EPOCH;
    let prompted = FlowFact::Prompted {
        at,
        iteration: 1,
        outcome: answer_text("fine"),
        spent: SessionUsage::default(),
    };

    let written = serde_json::to_value(&prompted).expect("JSON");

    assert_eq!(
        written,
        json!({
            "fact": "prompted",
            "at": "1970-01-01T00:00:00Z",
            "iteration": 1,
            "outcome": {"outcome": "answered", "text": "fine"},
            "spent": serde_json::to_value(SessionUsage::default()).expect("JSON"),
        })
    );
    assert_eq!(
        serde_json::from_value::<FlowFact>(written).expect("a fact"),
        prompted
    );
}

#[test]
fn a_flow_resumes_with_other_limits_and_its_expenses_still_count() {
    let budget = |cents| FlowLimits {
        budget: Budget::default().with_cost(CostUsd::from_cents(cents)),
        ..FlowLimits::default()
    };
    let mut script =
        Script::with_steps(json!({"a": step("b"), "b": step("end")})).limits(budget(100));
    script.price = 30;
    let action = script.begin();
    let next = script.step(action);

    let _ = script.apply(FlowFact::LimitsChanged { limits: budget(30) });
    let action = script.step(next);

    assert!(
        matches!(&action, FlowAction::Finish(FlowEnd::Stopped { failure }) if failure.budget == Some(BudgetKind::Cost)),
        "{action:?}"
    );
}

#[test]
fn a_retry_after_longer_than_the_backoff_is_respected() {
    let mut a = step("end");
    a["retry"] = json!({"maxRetries": 1});
    let mut overloaded = failure(FlowErrorKind::SdkConnection);
    overloaded.retry_after_ms = Some(90_000);

    let script = Script::with_steps(json!({"a": a}))
        .prompts([PromptOutcome::Failed {
            failure: overloaded,
        }])
        .run();

    assert_eq!(script.steps()[1], "wait for Retry until 90000 ms");
}

#[test]
fn a_rate_limited_check_is_repeated_without_the_step() {
    let limits = FlowLimits {
        on_quota: OnQuota::Wait,
        ..FlowLimits::default()
    };
    let mut script = Script::with_steps(json!({"a": checked("end", json!({}))})).limits(limits);

    let action = check_limited(&mut script);
    let action = script.step(action);

    assert!(matches!(action, FlowAction::Check(_)), "{action:?}");
    assert_eq!(script.machine.progress().checks, 0);
}

#[test]
fn only_a_lost_session_has_an_unknown_cost() {
    let judged = json!({"type": "prompt", "prompt": "prompts/a.md", "onPass": {"next": "end"}});
    let keyword_check = json!({"type": "keyword", "keywords": ["OK"], "onPass": {"next": "end"}});
    let known = SessionUsage {
        cost: CostTotal::known(CostUsd::from_cents(7)),
        ..SessionUsage::default()
    };
    for (check, spent, expected) in [
        (&judged, None, (1, 1)),
        (&judged, Some(known), (8, 0)),
        (&keyword_check, None, (1, 0)),
    ] {
        let a = json!({"prompt": "prompts/a.md", "check": check});
        let mut script = Script::with_steps(json!({"a": a}));
        let action = script.begin();
        let check = script.step(action);

        let mut action = script.apply(FlowFact::Lost { spent });

        assert_eq!(action, check);
        while !matches!(action, FlowAction::Finish(_)) {
            action = script.step(action);
        }
        let run = autonoe_core::RunId::new("r");
        let cost = script.machine.result(&run, script.now).expect("it ended");
        let cost = cost.spent.cost;
        assert_eq!(
            (cost.known_usd, cost.unknown_parts),
            (CostUsd::from_cents(expected.0), expected.1)
        );
    }
}

#[test]
fn a_lost_session_of_an_older_journal_has_an_unknown_cost() {
    let read: FlowFact = serde_json::from_value(json!({"fact": "lost"})).expect("a fact");

    assert_eq!(read, FlowFact::Lost { spent: None });
}
