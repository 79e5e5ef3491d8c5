//! Error responses in Anthropic's format.

use hyper::StatusCode;
use serde_json::{Value, json};

use crate::model_server::Refusal;
use crate::model_server::api::EncodedRefusal;
use crate::model_server::refusal::{Cause, ErrorBody};

/// Encodes a refusal as the JSON of an error.
pub(super) fn refuse(refusal: &Refusal, request_id: &str) -> EncodedRefusal {
    let error_body = refusal.error_body(error_body);
    let mut error = json!({"type": error_body.kind, "message": error_body.message});
    for (name, value) in error_body.fields {
        error[name] = value;
    }
    let body: Value = json!({"type": "error", "error": error, "request_id": request_id});
    EncodedRefusal {
        status: error_body.status,
        retry_after: refusal.retry_after,
        body: body.to_string().into(),
    }
}

fn error_body(cause: &Cause) -> ErrorBody {
    match cause {
        Cause::RateLimited => ErrorBody::new(
            StatusCode::TOO_MANY_REQUESTS,
            "rate_limit_error",
            "too many requests",
        ),
        Cause::QuotaSpent => ErrorBody::new(
            StatusCode::BAD_REQUEST,
            "invalid_request_error",
            "You have reached your specified API usage limits. \
             You will regain access on 2026-12-01 at 00:00 UTC.",
        ),
        Cause::Unauthorized | Cause::InvalidKey => ErrorBody::new(
            StatusCode::UNAUTHORIZED,
            "authentication_error",
            "invalid credentials",
        ),
        Cause::Forbidden => ErrorBody::new(
            StatusCode::FORBIDDEN,
            "permission_error",
            "the account may not do this",
        ),
        // Programs recognise this case by its text.
        Cause::CreditExhausted => ErrorBody::new(
            StatusCode::BAD_REQUEST,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API. \
             Please go to Plans & Billing to upgrade or purchase credits.",
        ),
        Cause::PaymentRequired => ErrorBody::new(
            StatusCode::PAYMENT_REQUIRED,
            "billing_error",
            "there is an issue with the payment",
        ),
        Cause::ModelNotFound(model) => ErrorBody::new(
            StatusCode::NOT_FOUND,
            "not_found_error",
            format!("model: {model}"),
        ),
        Cause::ContextTooLong => ErrorBody::new(
            StatusCode::BAD_REQUEST,
            "invalid_request_error",
            "prompt is too long: 210000 tokens > 200000 maximum",
        ),
        Cause::ServerError => ErrorBody::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "api_error",
            "Internal server error",
        ),
        Cause::Overloaded => ErrorBody::new(overloaded(), "overloaded_error", "Overloaded"),
        Cause::NoAnswer => ErrorBody::new(StatusCode::IM_A_TEAPOT, "api_error", ""),
        Cause::NoSuchPath => ErrorBody::new(StatusCode::NOT_FOUND, "not_found_error", ""),
    }
}

/// Returns 529, which has no name in HTTP.
fn overloaded() -> StatusCode {
    StatusCode::from_u16(529).unwrap_or(StatusCode::SERVICE_UNAVAILABLE)
}
