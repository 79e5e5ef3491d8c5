//! What a refusal means.

use serde_json::Value;

use crate::contract::{ModelError, ModelErrorCode};
use crate::wire::{Refusal, status_code_of};

/// Says what an answer means that is no success.
pub(super) fn of_refusal(refusal: &Refusal) -> ModelError {
    let body: Option<Value> = serde_json::from_str(&refusal.body).ok();
    let status = refusal.status;
    let Some(Told { kind, message }) = body.as_ref().and_then(told) else {
        return refusal.unexplained("Messages API");
    };
    let code = code_of(kind, message).unwrap_or_else(|| status_code_of(status));
    let request_id = body.as_ref().and_then(|body| body["request_id"].as_str());
    let request_id = request_id.map(str::to_owned);
    ModelError::new(code, message)
        .with_status(status)
        .with_reason(kind.to_owned())
        .with_retry_after(refusal.retry_after)
        .with_request_id(refusal.request_id.clone().or(request_id))
}

/// Says what an `error` event means.
pub(super) fn of_event(data: &Value) -> ModelError {
    let Some(Told { kind, message }) = told(data) else {
        let message = "the provider failed and did not say why";
        return ModelError::new(ModelErrorCode::Unknown, message);
    };
    let code = code_of(kind, message).unwrap_or(ModelErrorCode::Unknown);
    ModelError::new(code, message).with_reason(kind.to_owned())
}

/// What the provider says about its error.
struct Told<'a> {
    kind: &'a str,
    message: &'a str,
}

fn told(body: &Value) -> Option<Told<'_>> {
    let error = &body["error"];
    let kind = error["type"].as_str()?;
    let message = error["message"].as_str().filter(|text| !text.is_empty());
    let message = message.unwrap_or(kind);
    // What was paid in advance is spent: that has the name of a bad request, and differs from one
    // in its words only.
    let is_unpaid = kind == INVALID_REQUEST && message.contains("credit balance is too low");
    let kind = if is_unpaid { BILLING } else { kind };
    Some(Told { kind, message })
}

const INVALID_REQUEST: &str = "invalid_request_error";
const BILLING: &str = "billing_error";

/// Returns what the provider's own name of an error means; `None` if it says nothing.
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

/// Tells cases apart that have one name and one status, and only differ in their words.
fn of_invalid_request(message: &str) -> Option<ModelErrorCode> {
    let message = message.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
    if says(&[
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
            let error = of_refusal(&refusal(status, kind, message));

            assert_eq!(error.code, code, "{status} {kind} {message}");
            assert_eq!(error.message, message);
            assert_eq!(error.reason.as_deref(), Some(kind));
            assert_eq!(error.status, Some(status));
            assert_eq!(error.request_id.as_deref(), Some("req_1"));
        }
    }

    #[test]
    fn credit_that_is_spent_is_a_matter_of_money_whatever_it_is_called() {
        let message = "Your credit balance is too low to access the Anthropic API.";

        let error = of_refusal(&refusal(400, "invalid_request_error", message));

        assert_eq!(error.code, ModelErrorCode::AuthenticationError);
        assert_eq!(error.reason.as_deref(), Some("billing_error"));
    }

    #[test]
    fn a_refusal_of_something_in_between_is_not_taken_for_one_of_the_api() {
        for body in ["<html>Bad</html>", "", "{}", r#"{"error": "text"}"#] {
            let refusal = Refusal {
                status: 404,
                body: body.into(),
                ..Refusal::default()
            };
            assert_eq!(of_refusal(&refusal), refusal.unexplained("Messages API"));
        }
    }

    #[test]
    fn a_wait_that_is_asked_for_is_kept() {
        for wait in [None, Some(Duration::from_secs(7))] {
            let error = of_refusal(&Refusal {
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
    fn an_error_event_goes_by_its_name() {
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
            let error = of_event(&json!({"type": "error", "error": {"type": kind}}));
            assert_eq!(error.code, code, "{kind}");
            assert_eq!(error.message, kind);
        }
        assert_eq!(of_event(&json!({"type": "error"})).code, Unknown);
    }
}
