//! Outcome of a turn: a pure function of the evidence at its end.

use autonoe_core::AgentError;
use autonoe_core::agent::{AgentErrorKind, SessionOutcome};
use serde_json::Value;

/// The end of a turn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ending {
    /// The agent reported why it stopped.
    Stopped {
        /// The stop reason of the protocol, such as `end_turn`.
        reason: String,
        /// The agent sent no text and called no tool, sent no text after its last tool call, or the
        /// answer of its model is incomplete.
        ends_without_text: bool,
    },
    /// The agent answered the prompt with an error.
    Refused {
        /// A code of JSON-RPC, or an HTTP status of a service.
        code: i32,
        /// The error message.
        message: String,
        /// The error details.
        data: Value,
    },
    /// The agent has exited or closed its output.
    Exited {
        /// Description of the program's exit, with the last line of its standard error.
        description: String,
    },
}

/// Decides the outcome of a turn. `was_stopped` means that the host interrupted it.
///
/// A turn is completed only if the agent reports it as finished, and if it has text.
pub(crate) fn decide(ending: &Ending, was_stopped: bool) -> Result<SessionOutcome, AgentError> {
    match ending {
        Ending::Stopped {
            reason,
            ends_without_text: is_wordless,
        } => Ok(stopped(reason, *is_wordless, was_stopped)),
        Ending::Refused { .. } | Ending::Exited { .. } if was_stopped => {
            Ok(SessionOutcome::Interrupted)
        }
        Ending::Refused {
            code,
            message,
            data,
        } => refused(*code, message, data),
        Ending::Exited { description } => {
            Err(AgentError::new(AgentErrorKind::Crashed, description))
        }
    }
}

fn stopped(reason: &str, is_wordless: bool, was_stopped: bool) -> SessionOutcome {
    let failed = |message: String| SessionOutcome::ExecutionError {
        messages: vec![message],
    };
    match reason {
        "end_turn" if !is_wordless => SessionOutcome::Completed,
        _ if was_stopped => SessionOutcome::Interrupted,
        "end_turn" => failed("the agent ended its turn without a final answer".to_owned()),
        "max_turn_requests" => SessionOutcome::MaxTurns,
        "cancelled" => failed(
            "the agent cancelled its turn itself, as some agents do when a call is denied"
                .to_owned(),
        ),
        "max_tokens" => failed("the model reached its token limit".to_owned()),
        "refusal" => failed("the model refused to continue".to_owned()),
        other => failed(format!(
            "the agent stopped for an unknown reason: {other:?}"
        )),
    }
}

fn refused(code: i32, message: &str, data: &Value) -> Result<SessionOutcome, AgentError> {
    let details = data["details"].as_str().or(data["message"].as_str());
    let text = match details {
        Some(details) => format!("{}: {details}", sentence(message)),
        None => sentence(message),
    };
    let error = |kind| Err(AgentError::new(kind, format!("the agent failed: {text}")));
    let quota = SessionOutcome::QuotaExceeded {
        message: text.clone(),
        resets_at: None,
    };
    match code {
        // The adapters of Codex and Claude Code send details beside the code.
        -32603 => {
            let info = data["codexErrorInfo"].as_str();
            let status = http_status(&data["codexErrorInfo"]);
            match (info.or(data["errorKind"].as_str()), status) {
                (Some("usageLimitExceeded" | "rate_limit"), _) | (_, Some(429)) => Ok(quota),
                (Some("unauthorized" | "authentication_failed"), _) | (_, Some(401 | 403)) => {
                    error(AgentErrorKind::Authentication)
                }
                (Some("billing_error"), _) => error(AgentErrorKind::Billing),
                (Some("server_error" | "internalServerError"), _) | (_, Some(500..=599)) => {
                    error(AgentErrorKind::Overloaded)
                }
                _ => error(AgentErrorKind::Other),
            }
        }
        // Agents retry by themselves before they report it.
        429 => Ok(quota),
        400 if reports_invalid_key(message) => error(AgentErrorKind::Authentication),
        402 => error(AgentErrorKind::Billing),
        403 if reports_disabled_billing(message) => error(AgentErrorKind::Billing),
        -32000 | 401 | 403 => error(AgentErrorKind::Authentication),
        500 if reports_unknown_model(message) => error(AgentErrorKind::Configuration),
        400 | 404 | 413 | -32602 => error(AgentErrorKind::Configuration),
        408 | 500..=599 => error(AgentErrorKind::Overloaded),
        -32600 | -32601 | -32700 => error(AgentErrorKind::Protocol),
        _ => error(AgentErrorKind::Other),
    }
}

/// Returns the HTTP status in the error details of Codex: `{"<kind>": {"httpStatusCode": 429}}`.
fn http_status(info: &Value) -> Option<u64> {
    let mut errors = info.as_object()?.values();
    errors.find_map(|details| details["httpStatusCode"].as_u64())
}

/// Returns the readable sentence of an error message, which may be the JSON of a service.
fn sentence(message: &str) -> String {
    let parsed = serde_json::from_str::<Value>(message).ok();
    let inner = parsed
        .as_ref()
        .and_then(|json| json["error"]["message"].as_str());
    inner.unwrap_or(message).to_owned()
}

/// Returns whether an error of Google's services reports an invalid key, which is a 400 there.
fn reports_invalid_key(message: &str) -> bool {
    has_reason(message, "API_KEY_INVALID")
}

/// Returns whether an error of Google's services reports disabled billing, which is a 403 there.
fn reports_disabled_billing(message: &str) -> bool {
    has_reason(message, "BILLING_DISABLED")
}

/// Returns whether an error of Google's services reports an unknown model. Gemini CLI turns the 404
/// into a 500, and keeps only the sentence of the service.
fn reports_unknown_model(message: &str) -> bool {
    message.starts_with("models/") && message.contains(" is not found for API version ")
}

fn has_reason(message: &str, reason: &str) -> bool {
    let parsed = serde_json::from_str::<Value>(message).unwrap_or_default();
    let mut details = parsed["error"]["details"].as_array().into_iter().flatten();
    details.any(|detail| detail["reason"] == reason)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stop(reason: &str, is_wordless: bool) -> Ending {
        Ending::Stopped {
            reason: reason.to_owned(),
            ends_without_text: is_wordless,
        }
    }

    /// Returns the tag of an outcome, or the code of an error.
    fn verdict(ending: &Ending, was_stopped: bool) -> String {
        match decide(ending, was_stopped) {
            Ok(outcome) => {
                let json = serde_json::to_value(outcome).expect("JSON");
                json["outcome"].as_str().expect("it has a tag").to_owned()
            }
            Err(error) => format!("error {}", error.code()),
        }
    }

    #[test]
    fn stop_reasons_map_to_outcomes() {
        for (reason, is_wordless, was_stopped, expected) in [
            ("end_turn", false, false, "completed"),
            ("end_turn", false, true, "completed"),
            ("end_turn", true, false, "execution_error"),
            ("end_turn", true, true, "interrupted"),
            ("cancelled", true, true, "interrupted"),
            ("cancelled", false, true, "interrupted"),
            ("cancelled", false, false, "execution_error"),
            ("max_turn_requests", false, false, "max_turns"),
            ("max_tokens", false, false, "execution_error"),
            ("refusal", false, false, "execution_error"),
            ("something_new", false, false, "execution_error"),
            ("", false, false, "execution_error"),
        ] {
            let ending = stop(reason, is_wordless);

            assert_eq!(
                verdict(&ending, was_stopped),
                expected,
                "{ending:?} {was_stopped}"
            );
        }
    }

    #[test]
    fn agent_errors_map_to_outcomes() {
        let bad_key = r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}"#;
        let unpaid = r#"{"error":{"code":403,"message":"This API method requires billing to be enabled.","status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"BILLING_DISABLED"}]}}"#;
        for (code, message, data, expected) in [
            (
                429,
                "You have exhausted your daily quota on this model.",
                json!(null),
                "quota_exceeded",
            ),
            (
                429,
                "Rate limit exceeded. Try again later.",
                json!(null),
                "quota_exceeded",
            ),
            (
                -32603,
                "usage limit",
                json!({"codexErrorInfo": "usageLimitExceeded"}),
                "quota_exceeded",
            ),
            (
                -32603,
                "who?",
                json!({"codexErrorInfo": "unauthorized"}),
                "error authentication",
            ),
            (
                -32603,
                "Internal error",
                json!({"details": "No previous sessions found"}),
                "error other",
            ),
            (
                -32603,
                "Internal error",
                json!({"codexErrorInfo": {"responseTooManyFailedAttempts": {"httpStatusCode": 429}}}),
                "quota_exceeded",
            ),
            (
                -32603,
                "Internal error: API Error: Request rejected (429)",
                json!({"errorKind": "rate_limit"}),
                "quota_exceeded",
            ),
            (
                -32603,
                "Internal error: API Error: 529",
                json!({"errorKind": "server_error"}),
                "error overloaded",
            ),
            (
                -32603,
                "Internal error: API Error: 400",
                json!({"errorKind": "unknown"}),
                "error other",
            ),
            (
                401,
                r#"{"error":{"code":401,"message":"bad key"}}"#,
                json!(null),
                "error authentication",
            ),
            (403, "no", json!(null), "error authentication"),
            (403, unpaid, json!(null), "error billing"),
            (
                -32000,
                "Authentication required",
                json!(null),
                "error authentication",
            ),
            (400, bad_key, json!(null), "error authentication"),
            (400, "nonsense", json!(null), "error configuration"),
            (402, "pay", json!(null), "error billing"),
            (404, "no such model", json!(null), "error configuration"),
            (
                -32602,
                "Session not found: x",
                json!(null),
                "error configuration",
            ),
            (
                500,
                "models/x is not found for API version v1beta, or is not supported for generateContent.",
                json!(null),
                "error configuration",
            ),
            (
                500,
                "An internal error has occurred.",
                json!(null),
                "error overloaded",
            ),
            (503, "overloaded", json!(null), "error overloaded"),
            (-32601, "Method not found", json!(null), "error protocol"),
            (7, "what?", json!(null), "error other"),
        ] {
            let message = message.to_owned();
            let ending = Ending::Refused {
                code,
                message,
                data,
            };

            assert_eq!(verdict(&ending, false), expected, "{ending:?}");
            assert_eq!(verdict(&ending, true), "interrupted", "{ending:?}");
        }
    }

    #[test]
    fn an_exited_agent_has_crashed_unless_it_was_stopped() {
        let exited = Ending::Exited {
            description: "it ended".to_owned(),
        };

        assert_eq!(verdict(&exited, false), "error crashed");
        assert_eq!(verdict(&exited, true), "interrupted");
    }

    #[test]
    fn refusal_error_shows_the_message_without_its_json() {
        let ending = Ending::Refused {
            code: 401,
            message: r#"{"error":{"code":401,"message":"bad key","status":"UNAUTHENTICATED"}}"#
                .into(),
            data: Value::Null,
        };

        let error = decide(&ending, false).expect_err("it failed");

        assert_eq!(error.to_string(), "the agent failed: bad key");
    }

    proptest::proptest! {
        #[test]
        fn only_a_finished_turn_is_completed(
            reason in "[a-z_]{0,20}", is_wordless: bool, was_stopped: bool, code: i32, text: String,
        ) {
            let completed = Some(SessionOutcome::Completed);
            let same = |decided: Result<SessionOutcome, AgentError>| decided.ok() == completed;
            if reason != "end_turn" || is_wordless {
                proptest::prop_assert!(!same(decide(&stop(&reason, is_wordless), was_stopped)));
            }
            let refused = Ending::Refused { code, message: text, data: Value::Null };
            proptest::prop_assert!(!same(decide(&refused, was_stopped)));
        }
    }
}
