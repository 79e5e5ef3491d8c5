//! Refusals in the words of Anthropic.

use hyper::StatusCode;
use serde_json::{Value, json};

use crate::model_server::Refusal;
use crate::model_server::refusal::{Cause, Words};
use crate::model_server::vendor::Refused;

/// Puts a refusal into the JSON of an error.
pub(super) fn refuse(refusal: &Refusal, request_id: &str) -> Refused {
    let words = refusal.words(words);
    let mut error = json!({"type": words.kind, "message": words.message});
    for (name, value) in words.fields {
        error[name] = value;
    }
    let body: Value = json!({"type": "error", "error": error, "request_id": request_id});
    Refused {
        status: words.status,
        retry_after: refusal.retry_after,
        body: body.to_string().into(),
    }
}

fn words(cause: &Cause) -> Words {
    match cause {
        Cause::RateLimited => Words::new(
            StatusCode::TOO_MANY_REQUESTS,
            "rate_limit_error",
            "too many requests",
        ),
        Cause::QuotaSpent => Words::new(
            StatusCode::BAD_REQUEST,
            "invalid_request_error",
            "You have reached your specified API usage limits. \
             You will regain access on 2026-12-01 at 00:00 UTC.",
        ),
        Cause::Unauthorized | Cause::InvalidKey => Words::new(
            StatusCode::UNAUTHORIZED,
            "authentication_error",
            "invalid credentials",
        ),
        Cause::Forbidden => Words::new(
            StatusCode::FORBIDDEN,
            "permission_error",
            "the account may not do this",
        ),
        // Programs know this case by its text.
        Cause::CreditExhausted => Words::new(
            StatusCode::BAD_REQUEST,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API. \
             Please go to Plans & Billing to upgrade or purchase credits.",
        ),
        Cause::PaymentRequired => Words::new(
            StatusCode::PAYMENT_REQUIRED,
            "billing_error",
            "there is an issue with the payment",
        ),
        Cause::ModelNotFound(model) => Words::new(
            StatusCode::NOT_FOUND,
            "not_found_error",
            format!("model: {model}"),
        ),
        Cause::ContextTooLong => Words::new(
            StatusCode::BAD_REQUEST,
            "invalid_request_error",
            "prompt is too long: 210000 tokens > 200000 maximum",
        ),
        Cause::ServerError => Words::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "api_error",
            "Internal server error",
        ),
        Cause::Overloaded => Words::new(overloaded(), "overloaded_error", "Overloaded"),
        Cause::NoAnswer => Words::new(StatusCode::IM_A_TEAPOT, "api_error", ""),
        Cause::NoSuchPath => Words::new(StatusCode::NOT_FOUND, "not_found_error", ""),
    }
}

/// Returns 529, which HTTP has no name for.
fn overloaded() -> StatusCode {
    StatusCode::from_u16(529).unwrap_or(StatusCode::SERVICE_UNAVAILABLE)
}
