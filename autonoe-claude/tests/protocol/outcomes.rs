//! Table of evidence and outcomes.

use autonoe_claude::outcome::{
    ApiFailure, Evidence, Exit, HostAction, RejectedQuota, RetriedCall, TurnResult, decide,
};
use autonoe_claude::wire::{Line, Message, RateLimitEvent, ResultMessage};
use autonoe_core::AgentError;
use autonoe_core::agent::{AgentErrorKind, SessionOutcome};
use jiff::Timestamp;

fn at(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

fn evidence() -> Evidence {
    let mut evidence = Evidence::new(at("2026-11-15T00:30:00Z"));
    evidence.has_started = true;
    evidence
}

fn result(fields: &str) -> TurnResult {
    let line = Line::from_text(format!("{{\"type\":\"result\",{fields}}}")).expect("a line");
    let Message::Result(result) = line.parse() else {
        panic!("{line:?}")
    };
    let result: &ResultMessage<'_> = &result;
    result.into()
}

fn rejected(fields: &str) -> Option<RejectedQuota> {
    let text = format!(
        "{{\"type\":\"rate_limit_event\",\"rate_limit_info\":{{\"status\":\"rejected\"{fields}}}}}"
    );
    let line = Line::from_text(text).expect("a line");
    let Message::RateLimit(event) = line.parse() else {
        panic!("{line:?}")
    };
    let event: RateLimitEvent<'_> = event;
    RejectedQuota::from_event(&event)
}

fn with_result(fields: &str) -> Evidence {
    let mut evidence = evidence();
    evidence.result = Some(result(fields));
    evidence
}

/// Returns the decision, with the kind and the message of an error.
fn decided(evidence: &Evidence) -> Result<SessionOutcome, (AgentErrorKind, String)> {
    decide(evidence).map_err(|error: AgentError| (error.kind(), error.to_string()))
}

fn failed(message: &str) -> SessionOutcome {
    SessionOutcome::ExecutionError {
        messages: vec![message.to_owned()],
    }
}

const SUCCESS: &str = r#""subtype":"success","is_error":false,"result":"done""#;
const ABORTED: &str = r#""subtype":"error_during_execution","is_error":true,"num_turns":2,"terminal_reason":"aborted_tools","errors":["[ede_diagnostic]"]"#;
const QUOTA: &str = r#""subtype":"success","is_error":true,"api_error_status":429,"result":"You've hit your session limit · resets 4am (UTC)""#;
const QUOTA_TEXT: &str = "You've hit your session limit · resets 4am (UTC)";

#[test]
fn results_determine_the_outcome_of_a_turn() {
    for (fields, expected) in [
        (SUCCESS, SessionOutcome::Completed),
        (r#""subtype":"success""#, SessionOutcome::Completed),
        (
            r#""subtype":"success","is_error":false,"result":"","terminal_reason":"hook_stopped""#,
            SessionOutcome::Completed,
        ),
        (
            r#""subtype":"error_max_turns","is_error":true,"errors":["Reached maximum number of turns (2)"]"#,
            SessionOutcome::MaxTurns,
        ),
        (r#""subtype":"error_max_turns""#, SessionOutcome::MaxTurns),
        (
            r#""subtype":"error_max_budget_usd","is_error":true,"errors":["Reached maximum budget ($0.5)"]"#,
            SessionOutcome::BudgetExceeded,
        ),
        (ABORTED, failed("[ede_diagnostic]")),
        (
            r#""subtype":"error_max_structured_output_retries","is_error":true"#,
            failed("error_max_structured_output_retries (no reason given)"),
        ),
        (
            r#""subtype":"brand_new","is_error":false"#,
            failed("brand_new (no reason given)"),
        ),
        (r#""is_error":false"#, failed(" (no reason given)")),
        (
            r#""subtype":"success","is_error":true,"result":"Prompt is too long","api_error_status":400,"terminal_reason":"prompt_too_long""#,
            failed("Prompt is too long (HTTP 400)"),
        ),
    ] {
        assert_eq!(decided(&with_result(fields)), Ok(expected), "{fields}");
    }
}

#[test]
fn a_result_without_an_error_flag_is_judged_by_its_subtype() {
    assert!(!result(r#""subtype":"success""#).is_error);
    assert!(result(r#""subtype":"error_max_turns""#).is_error);
    assert!(result(r#""result":"done""#).is_error);
}

#[test]
fn failures_of_the_service_are_classified_by_name_then_by_status() {
    let failing = |status: &str| {
        with_result(&format!(
            r#""subtype":"success","is_error":true,"result":"why","api_error_status":{status}"#
        ))
    };
    let error = |kind, message: &str| Err((kind, message.to_owned()));
    for (reported, status, expected) in [
        (
            Some(ApiFailure::Authentication),
            "null",
            error(AgentErrorKind::Authentication, "why"),
        ),
        (
            None,
            "401",
            error(AgentErrorKind::Authentication, "why (HTTP 401)"),
        ),
        (
            None,
            "403",
            error(AgentErrorKind::Authentication, "why (HTTP 403)"),
        ),
        (
            Some(ApiFailure::Billing),
            "400",
            error(AgentErrorKind::Billing, "why (HTTP 400)"),
        ),
        (
            Some(ApiFailure::ModelNotFound),
            "404",
            error(AgentErrorKind::Configuration, "why (HTTP 404)"),
        ),
        (
            Some(ApiFailure::Server),
            "null",
            error(AgentErrorKind::Overloaded, "why"),
        ),
        (
            Some(ApiFailure::Other),
            "529",
            error(AgentErrorKind::Overloaded, "why (HTTP 529)"),
        ),
        (
            None,
            "500",
            error(AgentErrorKind::Overloaded, "why (HTTP 500)"),
        ),
        (
            Some(ApiFailure::RateLimit),
            "429",
            error(AgentErrorKind::Overloaded, "why (HTTP 429)"),
        ),
        (None, "400", Ok(failed("why (HTTP 400)"))),
        (None, "null", Ok(failed("why"))),
    ] {
        let mut evidence = failing(status);
        evidence.reported_failure = reported;

        assert_eq!(decided(&evidence), expected, "{reported:?} {status}");
    }
}

#[test]
fn a_quota_is_recognized_by_its_event_first() {
    let mut evidence = with_result(QUOTA);
    evidence.rejected = rejected(r#","rateLimitType":"five_hour","resetsAt":1794716700"#);

    assert_eq!(
        decided(&evidence),
        Ok(SessionOutcome::QuotaExceeded {
            message: QUOTA_TEXT.into(),
            resets_at: Some(at("2026-11-15T04:25:00Z")),
        })
    );
}

// Shows: spec/3.4/quota-texts-their-times
#[test]
fn a_quota_without_an_event_is_recognised_by_the_text_of_the_result() {
    assert_eq!(
        decided(&with_result(QUOTA)),
        Ok(SessionOutcome::QuotaExceeded {
            message: QUOTA_TEXT.into(),
            resets_at: Some(at("2026-11-15T04:00:00Z")),
        })
    );

    // As in the specification: without a status, and with exit code 1.
    let text = "You've hit your limit · resets 6pm (UTC)";
    let fields = format!(r#""subtype":"success","is_error":true,"result":"{text}""#);
    let mut evidence = with_result(&fields);
    evidence.exit = Some(Exit::Code(1));
    assert_eq!(
        decided(&evidence),
        Ok(SessionOutcome::QuotaExceeded {
            message: text.into(),
            resets_at: Some(at("2026-11-15T18:00:00Z")),
        })
    );
}

#[test]
fn a_quota_without_a_time_is_still_a_quota() {
    let mut evidence = with_result(
        r#""subtype":"success","is_error":true,"api_error_status":429,"result":"You've hit your session limit""#,
    );
    evidence.rejected = rejected(r#","rateLimitType":"five_hour""#);

    assert_eq!(
        decided(&evidence),
        Ok(SessionOutcome::QuotaExceeded {
            message: "You've hit your session limit".into(),
            resets_at: None,
        })
    );
}

#[test]
fn a_quota_with_an_unknown_text_is_recognized_by_its_name() {
    let evidence = with_result(
        r#""subtype":"success","is_error":true,"api_error_status":429,"api_error":"usage_limit_reached","result":"Tomorrow, please""#,
    );

    let decided = decided(&evidence);
    assert!(
        matches!(decided, Ok(SessionOutcome::QuotaExceeded { .. })),
        "{decided:?}"
    );
}

#[test]
fn too_many_calls_without_a_claim_are_no_quota() {
    let mut evidence = with_result(
        r#""subtype":"success","is_error":true,"api_error_status":429,"result":"API Error: Server is temporarily limiting requests (not your usage limit)""#,
    );
    evidence.rejected = rejected(r#","resetsAt":1794712453"#);
    evidence.reported_failure = Some(ApiFailure::RateLimit);

    let decided = decided(&evidence);
    assert!(
        matches!(decided, Err((AgentErrorKind::Overloaded, _))),
        "{decided:?}"
    );
}

#[test]
fn text_of_an_agent_about_a_limit_is_not_a_quota() {
    let mut evidence = with_result(
        r#""subtype":"success","is_error":false,"result":"You've hit your session limit · resets 4am (UTC)""#,
    );
    assert_eq!(decided(&evidence), Ok(SessionOutcome::Completed));

    // A turn that completed nevertheless, for example on extra usage.
    evidence.rejected = rejected(r#","rateLimitType":"five_hour","resetsAt":1794716700"#);
    assert_eq!(decided(&evidence), Ok(SessionOutcome::Completed));
}

#[test]
fn a_program_that_dies_of_its_quota_ran_into_its_quota() {
    let mut evidence = evidence();
    evidence.rejected = rejected(r#","rateLimitType":"seven_day","resetsAt":1794988800"#);
    evidence.exit = Some(Exit::Code(1));

    assert_eq!(
        decided(&evidence),
        Ok(SessionOutcome::QuotaExceeded {
            message: "the quota of the subscription is spent".into(),
            resets_at: Some(at("2026-11-18T08:00:00Z")),
        })
    );
}

#[test]
fn a_stopped_session_is_interrupted_unless_it_had_another_outcome() {
    for (fields, expected) in [
        (Some(ABORTED), SessionOutcome::Interrupted),
        (None, SessionOutcome::Interrupted),
        (Some(SUCCESS), SessionOutcome::Completed),
        (
            Some(r#""subtype":"error_max_turns","is_error":true"#),
            SessionOutcome::MaxTurns,
        ),
    ] {
        let mut evidence = evidence();
        evidence.result = fields.map(result);
        evidence.host = HostAction::Stopped;
        evidence.exit = Some(Exit::Code(143));

        assert_eq!(decided(&evidence), Ok(expected), "{fields:?}");
    }
}

#[test]
fn a_call_that_the_host_gave_up_on_is_reported_with_its_status() {
    for (retrying, code, message) in [
        (
            Some((ApiFailure::Authentication, Some(401))),
            "authentication",
            "the model service refused the credentials (HTTP 401)",
        ),
        (
            Some((ApiFailure::Billing, Some(402))),
            "billing",
            "the model service refused the account's payment (HTTP 402)",
        ),
        (
            Some((ApiFailure::Server, Some(529))),
            "overloaded",
            "the model service is overloaded or failing (HTTP 529)",
        ),
        (
            Some((ApiFailure::Other, None)),
            "overloaded",
            "the model service did not answer a request",
        ),
        (
            None,
            "overloaded",
            "Claude Code got no answer from the model service and kept retrying",
        ),
    ] {
        for fields in [Some(ABORTED), None] {
            let mut evidence = evidence();
            evidence.result = fields.map(result);
            evidence.host = HostAction::GaveUp;
            evidence.retrying = retrying.map(|(failure, status)| RetriedCall { failure, status });

            let error = decide(&evidence).expect_err("no end");
            assert_eq!((error.code(), &*error.to_string()), (code, message));
        }
    }
}

#[test]
fn a_retry_is_classified_by_its_name_then_by_its_status() {
    for (fields, failure, status) in [
        (
            r#""error":"authentication_failed","error_status":401"#,
            ApiFailure::Authentication,
            Some(401),
        ),
        (
            r#""error":"unknown","error_status":401"#,
            ApiFailure::Authentication,
            Some(401),
        ),
        (r#""error_status":529"#, ApiFailure::Server, Some(529)),
        (r#""error":"unknown""#, ApiFailure::Other, None),
        (r#""error_status":null"#, ApiFailure::Other, None),
    ] {
        let text = format!(r#"{{"type":"system","subtype":"api_retry",{fields}}}"#);
        let line = Line::from_text(text).expect("a line");
        let Message::ApiRetry(retry) = line.parse() else {
            panic!("{line:?}")
        };

        assert_eq!(
            RetriedCall::from(&retry),
            RetriedCall { failure, status },
            "{fields}"
        );
    }
}

#[test]
fn a_failed_call_is_reported_with_its_status() {
    for (text, status, message) in [
        ("Invalid API key", "401", "Invalid API key (HTTP 401)"),
        (
            "Failed to authenticate. API Error: 403 forbidden",
            "403",
            "Failed to authenticate. API Error: 403 forbidden",
        ),
        ("Prompt is too long", "400", "Prompt is too long (HTTP 400)"),
        ("", "500", "a model call failed (HTTP 500)"),
        ("Not logged in", "null", "Not logged in"),
    ] {
        let fields = format!(
            r#""subtype":"success","is_error":true,"result":"{text}","api_error_status":{status}"#
        );

        let reported = match decide(&with_result(&fields)) {
            Err(error) => error.to_string(),
            Ok(outcome) => outcome.to_string(),
        };

        assert!(reported.ends_with(message), "{reported}");
    }
}

#[test]
fn a_failed_start_has_a_message() {
    let mut by_result = with_result(
        r#""subtype":"error_during_execution","is_error":true,"num_turns":0,"errors":["Sandbox required but unavailable"]"#,
    );
    by_result.has_started = false;
    let mut by_stderr = evidence();
    by_stderr.has_started = false;
    by_stderr.exit = Some(Exit::Code(1));
    by_stderr.stderr = "error: unknown option '--wat'\n".into();
    let mut silent = by_stderr.clone();
    silent.stderr.clear();
    for (evidence, message) in [
        (by_result, "Sandbox required but unavailable"),
        (
            by_stderr,
            "Claude Code exited with code 1: error: unknown option '--wat'",
        ),
        (silent, "Claude Code exited with code 1"),
    ] {
        let expected = (AgentErrorKind::Configuration, message.to_owned());
        assert_eq!(decided(&evidence), Err(expected));
    }
}

#[test]
fn a_program_without_a_result_has_crashed_whatever_its_exit() {
    for (exit, has_started, message) in [
        (
            Some(Exit::Code(0)),
            true,
            "Claude Code exited with code 0 in the middle of a turn: oops",
        ),
        (
            Some(Exit::Code(3)),
            true,
            "Claude Code exited with code 3 in the middle of a turn: oops",
        ),
        (
            Some(Exit::Signal(9)),
            false,
            "Claude Code was killed by signal 9 in the middle of a turn: oops",
        ),
        (
            Some(Exit::Code(0)),
            false,
            "Claude Code exited with code 0 in the middle of a turn: oops",
        ),
        (None, true, "Claude Code did not finish its turn: oops"),
    ] {
        let mut evidence = evidence();
        evidence.exit = exit;
        evidence.has_started = has_started;
        evidence.stderr = "\noops\n".into();

        let expected = (AgentErrorKind::Crashed, message.to_owned());
        assert_eq!(decided(&evidence), Err(expected));
    }
}

#[test]
fn failures_of_the_account_have_a_remedy() {
    for (failure, remedy) in [
        (ApiFailure::Authentication, Some("/login")),
        (ApiFailure::Billing, Some("add credit")),
        (ApiFailure::ModelNotFound, Some("choose another model")),
        (ApiFailure::Server, None),
    ] {
        let mut evidence = with_result(r#""subtype":"success","is_error":true,"result":"why""#);
        evidence.reported_failure = Some(failure);

        let error = decide(&evidence).expect_err("it failed");

        match remedy {
            Some(remedy) => assert!(error.remedy().is_some_and(|it| it.contains(remedy))),
            None => assert_eq!(error.remedy(), None),
        }
    }
}
