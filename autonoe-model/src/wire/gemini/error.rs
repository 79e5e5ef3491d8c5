//! Mapping of Gemini API errors.

use std::time::Duration;

use serde_json::Value;

use crate::contract::{ModelError, ModelErrorCode};
use crate::wire::{Refusal, status_code_of};

/// Converts an error response.
pub(super) fn from_refusal(refusal: &Refusal) -> ModelError {
    let status = refusal.status;
    let body: Option<Value> = serde_json::from_str(&refusal.body).ok();
    // Outside of a stream, errors come in a list.
    let body = body.map(|body| match body {
        Value::Array(mut items) if !items.is_empty() => items.swap_remove(0),
        other => other,
    });
    let error = body
        .as_ref()
        .and_then(from_event)
        .unwrap_or_else(|| refusal.unexplained("Gemini API"));
    // The body is more precise than the header, which is meant for intermediaries.
    let wait = error.retry_after.or(refusal.retry_after);
    let code = error.status.unwrap_or(status);
    error
        .with_status(if status < 300 { code } else { status })
        .with_retry_after(wait)
        .with_request_id(refusal.request_id.clone())
}

/// Converts an error in JSON; `None` if there is none.
pub(super) fn from_event(chunk: &Value) -> Option<ModelError> {
    let error = chunk.get("error").filter(|error| !error.is_null())?;
    let word = error["status"].as_str().unwrap_or_default();
    let status = error["code"]
        .as_u64()
        .and_then(|code| u16::try_from(code).ok());
    let text = error["message"].as_str().filter(|text| !text.is_empty());
    let message = text.unwrap_or("the provider failed without a reason");
    let code = code_of(word, error, message)
        .or(status.map(status_code_of))
        .unwrap_or(ModelErrorCode::Unknown);
    let reason = [detail_reason(error), Some(word)]
        .into_iter()
        .flatten()
        .find(|reason| !reason.is_empty());
    let mut failed = ModelError::new(code, message)
        .with_reason(reason.map(str::to_owned))
        .with_retry_after(retry_delay(error));
    failed.status = status;
    Some(failed)
}

/// Maps the provider's error status; `None` if it is not specific.
fn code_of(word: &str, error: &Value, message: &str) -> Option<ModelErrorCode> {
    Some(match word {
        "INVALID_ARGUMENT" => return of_invalid_argument(error, message),
        // An unsupported country, or an account without payment.
        "FAILED_PRECONDITION" | "UNAUTHENTICATED" | "PERMISSION_DENIED" => {
            ModelErrorCode::AuthenticationError
        }
        "NOT_FOUND" => ModelErrorCode::ModelNotFound,
        "RESOURCE_EXHAUSTED" => ModelErrorCode::RateLimited,
        "DEADLINE_EXCEEDED" => ModelErrorCode::Timeout,
        "INTERNAL" | "UNAVAILABLE" | "CANCELLED" | "ABORTED" => ModelErrorCode::NetworkError,
        _ => return None,
    })
}

/// Distinguishes cases with the same status.
fn of_invalid_argument(error: &Value, message: &str) -> Option<ModelErrorCode> {
    let message = message.to_ascii_lowercase();
    let is_too_long = message.contains("token count") && message.contains("exceeds the maximum");
    if detail_reason(error) == Some("API_KEY_INVALID") {
        Some(ModelErrorCode::AuthenticationError)
    } else if is_too_long {
        Some(ModelErrorCode::ContextLengthExceeded)
    } else {
        None
    }
}

/// Returns the reason of an `ErrorInfo`.
fn detail_reason(error: &Value) -> Option<&str> {
    details(error).find_map(|detail| detail["reason"].as_str())
}

/// Returns the delay of a `RetryInfo`, such as `7s` or `1.5s`.
fn retry_delay(error: &Value) -> Option<Duration> {
    let delay = details(error).find_map(|detail| detail["retryDelay"].as_str())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn details(error: &Value) -> impl Iterator<Item = &Value> {
    error["details"].as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(status: u16, word: &str, message: &str) -> Refusal {
        let error = json!({"code": status, "message": message, "status": word});
        Refusal {
            status,
            body: json!({"error": error}).to_string(),
            request_id: Some("req-1".into()),
            ..Refusal::default()
        }
    }

    #[test]
    fn every_refusal_has_its_code() {
        use ModelErrorCode::*;
        let invalid = "INVALID_ARGUMENT";
        for (status, word, message, code) in [
            (
                400,
                invalid,
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
                ContextLengthExceeded,
            ),
            (
                400,
                invalid,
                "The input token count exceeds the maximum number of tokens allowed 1048575.",
                ContextLengthExceeded,
            ),
            (400, invalid, "Unknown name \"foo\"", Unknown),
            (
                400,
                "FAILED_PRECONDITION",
                "Please enable billing on your project.",
                AuthenticationError,
            ),
            (401, "UNAUTHENTICATED", "who?", AuthenticationError),
            (402, "NEW", "pay first", AuthenticationError),
            (403, "PERMISSION_DENIED", "not yours", AuthenticationError),
            (
                404,
                "NOT_FOUND",
                "models/none is not found for API version v1beta",
                ModelNotFound,
            ),
            (408, "NEW", "too slow", Timeout),
            (413, "NEW", "too large", ContextLengthExceeded),
            (418, "NEW", "short and stout", Unknown),
            (429, "RESOURCE_EXHAUSTED", "quota", RateLimited),
            (500, "INTERNAL", "oops", NetworkError),
            (502, "NEW", "bad gateway", NetworkError),
            (503, "UNAVAILABLE", "The model is overloaded.", NetworkError),
            (504, "DEADLINE_EXCEEDED", "too slow", Timeout),
            (529, "NEW", "overloaded", RateLimited),
        ] {
            let error = from_refusal(&refusal(status, word, message));

            assert_eq!(error.code, code, "{status} {word} {message}");
            assert_eq!(error.message, message);
            assert_eq!(error.reason.as_deref(), Some(word));
            assert_eq!(error.status, Some(status));
            assert_eq!(error.request_id.as_deref(), Some("req-1"));
        }
    }

    #[test]
    fn a_key_that_is_refused_is_known_by_its_detail() {
        let body = json!({"error": {
            "code": 400, "message": "API key not valid. Please pass a valid API key.",
            "status": "INVALID_ARGUMENT",
            "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo",
                         "reason": "API_KEY_INVALID", "domain": "googleapis.com"}],
        }});
        for body in [body.clone(), json!([body])] {
            let error = from_refusal(&Refusal {
                status: 400,
                body: body.to_string(),
                ..Refusal::default()
            });
            assert_eq!(error.code, ModelErrorCode::AuthenticationError);
            assert_eq!(error.reason.as_deref(), Some("API_KEY_INVALID"));
        }
    }

    #[test]
    fn a_wait_is_read_from_the_body_or_the_header() {
        let body = |delay: Value| {
            json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [
                {"@type": "type.googleapis.com/google.rpc.QuotaFailure"},
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
            ]}})
        };
        let header = Some(Duration::from_secs(60));
        for (delay, header, expected) in [
            (json!("7s"), None, Some(7.0)),
            (json!("1.5s"), header, Some(1.5)),
            (json!("0.250000001s"), None, Some(0.250_000_001)),
            (json!("soon"), header, Some(60.0)),
            (json!("-1s"), None, None),
            (Value::Null, header, Some(60.0)),
            (Value::Null, None, None),
        ] {
            let error = from_refusal(&Refusal {
                status: 429,
                body: body(delay.clone()).to_string(),
                retry_after: header,
                ..Refusal::default()
            });
            assert_eq!(error.code, ModelErrorCode::RateLimited);
            assert_eq!(
                error.retry_after,
                expected.map(Duration::from_secs_f64),
                "{delay}"
            );
        }
    }

    #[test]
    fn a_refusal_by_an_intermediary_is_not_mistaken_for_one_by_the_api() {
        for (status, body) in [
            (404, "<html>Bad</html>"),
            (502, ""),
            (429, "{}"),
            (200, "[]"),
        ] {
            let refusal = Refusal {
                status,
                body: body.into(),
                ..Refusal::default()
            };
            assert_eq!(from_refusal(&refusal), refusal.unexplained("Gemini API"));
        }
    }

    #[test]
    fn an_error_in_a_success_keeps_its_own_status() {
        let error = from_refusal(&Refusal {
            status: 200,
            ..refusal(429, "RESOURCE_EXHAUSTED", "quota")
        });

        assert_eq!(
            (error.code, error.status),
            (ModelErrorCode::RateLimited, Some(429))
        );
    }
}
