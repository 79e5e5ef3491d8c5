//! Error responses in OpenAI's format.

use hyper::StatusCode;
use serde_json::json;

use crate::model_server::Refusal;
use crate::model_server::api::EncodedRefusal;
use crate::model_server::refusal::{Cause, ErrorBody};

/// Encodes a refusal as the JSON of an error.
pub(super) fn refuse(refusal: &Refusal) -> EncodedRefusal {
    let error_body = refusal.error_body(error_body);
    let mut error = json!({
        "message": error_body.message,
        "type": error_body.kind,
        "param": null,
        "code": null,
    });
    for (name, value) in error_body.fields {
        error[name] = value;
    }
    EncodedRefusal {
        status: error_body.status,
        retry_after: refusal.retry_after,
        body: json!({"error": error}).to_string().into(),
    }
}

fn error_body(cause: &Cause) -> ErrorBody {
    match cause {
        Cause::RateLimited => ErrorBody::new(
            StatusCode::TOO_MANY_REQUESTS,
            "requests",
            "Rate limit reached on requests per min (RPM). Please try again later.",
        )
        .with("code", "rate_limit_exceeded"),
        Cause::QuotaSpent | Cause::CreditExhausted => ErrorBody::new(
            StatusCode::TOO_MANY_REQUESTS,
            "insufficient_quota",
            "You exceeded your current quota, please check your plan and billing details.",
        )
        .with("code", "insufficient_quota"),
        Cause::Unauthorized | Cause::InvalidKey => ErrorBody::new(
            StatusCode::UNAUTHORIZED,
            "invalid_request_error",
            "Incorrect API key provided.",
        )
        .with("code", "invalid_api_key"),
        Cause::Forbidden => ErrorBody::new(
            StatusCode::FORBIDDEN,
            "request_forbidden",
            "Country, region, or territory not supported",
        )
        .with("code", "unsupported_country_region_territory"),
        // Not sent by OpenAI itself, but by OpenAI-compatible services.
        Cause::PaymentRequired => ErrorBody::new(
            StatusCode::PAYMENT_REQUIRED,
            "unknown_error",
            "Insufficient Balance",
        )
        .with("code", "invalid_request_error"),
        Cause::ModelNotFound(model) => ErrorBody::new(
            StatusCode::NOT_FOUND,
            "invalid_request_error",
            format!("The model `{model}` does not exist or you do not have access to it."),
        )
        .with("code", "model_not_found"),
        Cause::ContextTooLong => ErrorBody::new(
            StatusCode::BAD_REQUEST,
            "invalid_request_error",
            "Your input exceeds the context window of this model. \
             Please adjust your input and try again.",
        )
        .with("code", "context_length_exceeded"),
        Cause::ServerError => ErrorBody::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "server_error",
            "The server had an error while processing your request. Sorry about that!",
        ),
        Cause::Overloaded => ErrorBody::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "server_error",
            "Our servers are currently overloaded. Please try again later.",
        )
        .with("code", "server_is_overloaded"),
        Cause::NoAnswer => ErrorBody::new(StatusCode::IM_A_TEAPOT, "invalid_request_error", ""),
        Cause::NoSuchPath => ErrorBody::new(StatusCode::NOT_FOUND, "invalid_request_error", ""),
    }
}
