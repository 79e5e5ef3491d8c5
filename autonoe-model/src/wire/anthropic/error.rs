//! Mapping of Messages API errors.

use serde_json::Value;

use crate::contract::{ModelError, ModelErrorCode};
use crate::wire::{Refusal, status_code_of};

/// Converts an error response.
pub(super) fn from_refusal(refusal: &Refusal) -> ModelError {
    let body: Option<Value> = serde_json::from_str(&refusal.body).ok();
    let status = refusal.status;
    let Some(Details { kind, message }) = body.as_ref().and_then(details) else {
        return refusal.unexplained("Messages API");
    };
    let code = code_of(kind, message).unwrap_or_else(|| status_code_of(status));
    let request_id = body
        .as_ref()
        .and_then(|body| body["request_id"].as_str())
        .map(str::to_owned);
    ModelError::new(code, message)
        .with_status(status)
        .with_reason(kind.to_owned())
        .with_retry_after(refusal.retry_after)
        .with_request_id(refusal.request_id.clone().or(request_id))
}

/// Converts an `error` event.
pub(super) fn from_event(data: &Value) -> ModelError {
    let Some(Details { kind, message }) = details(data) else {
        let message = "the provider failed without a reason";
        return ModelError::new(ModelErrorCode::Unknown, message);
    };
    let code = code_of(kind, message).unwrap_or(ModelErrorCode::Unknown);
    ModelError::new(code, message).with_reason(kind.to_owned())
}

/// Error details of the provider.
struct Details<'a> {
    kind: &'a str,
    message: &'a str,
}

fn details(body: &Value) -> Option<Details<'_>> {
    let error = &body["error"];
    let kind = error["type"].as_str()?;
    let message = error["message"]
        .as_str()
        .filter(|text| !text.is_empty())
        .unwrap_or(kind);
    // Exhausted prepaid credit is reported as an invalid request and only recognizable by its
    // message.
    let is_unpaid = kind == INVALID_REQUEST && message.contains("credit balance is too low");
    let kind = if is_unpaid { BILLING } else { kind };
    Some(Details { kind, message })
}

const INVALID_REQUEST: &str = "invalid_request_error";
const BILLING: &str = "billing_error";

/// Maps the provider's error type; `None` if it is not specific.
fn code_of(kind: &str, message: &str) -> Option<ModelErrorCode> {
    Some(match kind {
        INVALID_REQUEST => return of_invalid_request(message),
        "authentication_error" | "permission_error" | BILLING => {
            ModelErrorCode::AuthenticationError
        }
        "not_found_error" => ModelErrorCode::ModelNotFound,
        "request_too_large" => ModelErrorCode::ContextLengthExceeded,
        "rate_limit_error" | "overloaded_error" => ModelErrorCode::RateLimited,
        "timeout_error" => ModelErrorCode::Timeout,
        "api_error" => ModelErrorCode::NetworkError,
        _ => return None,
    })
}

/// Distinguishes cases with the same type and status by their messages.
fn of_invalid_request(message: &str) -> Option<ModelErrorCode> {
    let message = message.to_ascii_lowercase();
    let contains_any = |words: &[&str]| words.iter().any(|words| message.contains(words));
    if contains_any(&[
        "prompt is too long",
        "exceed context limit",
        "context window",
    ]) {
        Some(ModelErrorCode::ContextLengthExceeded)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn refusal(status: u16, kind: &str, message: &str) -> Refusal {
        let error = json!({"type": kind, "message": message});
        Refusal {
            status,
            body: json!({"type": "error", "error": error, "request_id": "req_1"}).to_string(),
            ..Refusal::default()
        }
    }

    #[test]
    fn every_refusal_has_its_code() {
        use ModelErrorCode::*;
        let invalid = "invalid_request_error";
        for (status, kind, message, code) in [
            (
                400,
                invalid,
                "prompt is too long: 210000 tokens > 200000 maximum",
                ContextLengthExceeded,
            ),
            (
                400,
                invalid,
                "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
                ContextLengthExceeded,
            ),
            (400, invalid, "max_tokens: Field required", Unknown),
            (
                401,
                "authentication_error",
                "invalid x-api-key",
                AuthenticationError,
            ),
            (402, "billing_error", "pay first", AuthenticationError),
            (403, "permission_error", "not yours", AuthenticationError),
            (404, "not_found_error", "model: claude-none", ModelNotFound),
            (408, "new_error", "too slow", Timeout),
            (
                413,
                "request_too_large",
                "Request exceeds the maximum size",
                ContextLengthExceeded,
            ),
            (418, "new_error", "short and stout", Unknown),
            (429, "rate_limit_error", "too many", RateLimited),
            (500, "api_error", "Internal server error", NetworkError),
            (502, "new_error", "bad gateway", NetworkError),
            (503, "new_error", "unavailable", NetworkError),
            (504, "timeout_error", "timed out", Timeout),
            (529, "overloaded_error", "Overloaded", RateLimited),
            (200, "rate_limit_error", "told in a success", RateLimited),
        ] {
            let error = from_refusal(&refusal(status, kind, message));

            assert_eq!(error.code, code, "{status} {kind} {message}");
            assert_eq!(error.message, message);
            assert_eq!(error.reason.as_deref(), Some(kind));
            assert_eq!(error.status, Some(status));
            assert_eq!(error.request_id.as_deref(), Some("req_1"));
        }
    }

    #[test]
    fn exhausted_credit_is_a_billing_error_whatever_its_name() {
        let message = "Your credit balance is too low to access the Anthropic API.";

        let error = from_refusal(&refusal(400, "invalid_request_error", message));

        assert_eq!(error.code, ModelErrorCode::AuthenticationError);
        assert_eq!(error.reason.as_deref(), Some("billing_error"));
    }

    #[test]
    fn a_refusal_by_an_intermediary_is_not_mistaken_for_one_by_the_api() {
        for body in ["<html>Bad</html>", "", "{}", r#"{"error": "text"}"#] {
            let refusal = Refusal {
                status: 404,
                body: body.into(),
                ..Refusal::default()
            };
            assert_eq!(from_refusal(&refusal), refusal.unexplained("Messages API"));
        }
    }

    #[test]
    fn a_requested_delay_is_reported() {
        for wait in [None, Some(Duration::from_secs(7))] {
            let error = from_refusal(&Refusal {
                retry_after: wait,
                ..refusal(429, "rate_limit_error", "too many")
            });
            assert_eq!(
                (error.code, error.retry_after),
                (ModelErrorCode::RateLimited, wait)
            );
        }
    }

    #[test]
    fn an_error_event_is_classified_by_its_type() {
        use ModelErrorCode::*;
        for (kind, code) in [
            ("overloaded_error", RateLimited),
            ("rate_limit_error", RateLimited),
            ("api_error", NetworkError),
            ("timeout_error", Timeout),
            ("authentication_error", AuthenticationError),
            ("invalid_request_error", Unknown),
            ("new_error", Unknown),
        ] {
            let error = from_event(&json!({"type": "error", "error": {"type": kind}}));
            assert_eq!(error.code, code, "{kind}");
            assert_eq!(error.message, kind);
        }
        assert_eq!(from_event(&json!({"type": "error"})).code, Unknown);
    }
}
