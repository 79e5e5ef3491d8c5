//! Property tests: any evidence leads to an outcome, and never to an unreported success.

use autonoe_claude::outcome::{
    ApiFailure, Evidence, Exit, HostAction, RetriedCall, TurnResult, decide,
};
use autonoe_claude::wire::{Line, Message};
use autonoe_core::agent::SessionOutcome;
use proptest::prelude::*;
use serde_json::json;

fn result() -> impl Strategy<Value = TurnResult> {
    let subtype = prop::sample::select(vec![
        "success",
        "error_max_turns",
        "error_max_budget_usd",
        "error_during_execution",
        "brand_new",
        "",
    ]);
    let text = prop::sample::select(vec!["", "done", "You've hit your limit · resets 4am (UTC)"]);
    let status = prop::option::of(prop::sample::select(vec![
        200, 400, 401, 404, 429, 500, 529,
    ]));
    let reason = prop::option::of(prop::sample::select(vec!["completed", "aborted_tools"]));
    (
        subtype,
        prop::option::of(any::<bool>()),
        text,
        status,
        reason,
    )
        .prop_map(|(subtype, is_error, text, status, reason)| {
            let text = json!({
                "type": "result", "subtype": subtype, "is_error": is_error, "result": text,
                "api_error_status": status, "terminal_reason": reason,
            });
            let line = Line::from_text(text.to_string()).expect("a line");
            let Message::Result(result) = line.parse() else {
                panic!("{line:?}")
            };
            TurnResult::from(&*result)
        })
}

fn evidence() -> impl Strategy<Value = Evidence> {
    let failure = || {
        prop::option::of(prop::sample::select(vec![
            ApiFailure::Authentication,
            ApiFailure::Server,
            ApiFailure::Other,
        ]))
    };
    let host = prop::sample::select(vec![
        HostAction::Nothing,
        HostAction::Stopped,
        HostAction::GaveUp,
    ]);
    let exit = prop::option::of(prop_oneof![
        (0_i32..3).prop_map(Exit::Code),
        Just(Exit::Signal(9)),
        Just(Exit::Unknown),
    ]);
    (
        prop::option::of(result()),
        failure(),
        failure(),
        host,
        exit,
        any::<bool>(),
        0_usize..3,
    )
        .prop_map(
            |(result, blamed, retrying, host, exit, has_started, live_tasks)| {
                let mut evidence = Evidence::new("2026-11-15T00:30:00Z".parse().expect("a time"));
                evidence.result = result;
                evidence.reported_failure = blamed;
                evidence.retrying = retrying.map(|failure| RetriedCall {
                    failure,
                    status: None,
                });
                evidence.host = host;
                evidence.exit = exit;
                evidence.has_started = has_started;
                evidence.live_tasks = live_tasks;
                evidence
            },
        )
}

proptest! {
    #[test]
    fn only_a_successful_result_is_a_success(evidence in evidence()) {
        let is_success = evidence
            .result
            .as_ref()
            .is_some_and(|result| result.subtype == "success" && !result.is_error);

        let completed = decide(&evidence).is_ok_and(|outcome| outcome == SessionOutcome::Completed);

        prop_assert!(is_success || !completed);
    }

    #[test]
    fn only_sessions_that_the_host_stopped_are_interrupted(evidence in evidence()) {
        if decide(&evidence).is_ok_and(|outcome| outcome == SessionOutcome::Interrupted) {
            prop_assert_eq!(evidence.host, HostAction::Stopped);
        }
    }

    #[test]
    fn an_error_has_a_message(evidence in evidence()) {
        if let Err(error) = decide(&evidence) {
            prop_assert!(!error.to_string().trim().is_empty());
        }
    }
}
