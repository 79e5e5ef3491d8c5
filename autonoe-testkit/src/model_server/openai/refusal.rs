//! Refusals in the words of OpenAI.

use hyper::StatusCode;
use serde_json::json;

use crate::model_server::Refusal;
use crate::model_server::refusal::{Cause, Words};
use crate::model_server::vendor::Refused;

/// Puts a refusal into the JSON of an error.
pub(super) fn refuse(refusal: &Refusal) -> Refused {
    let words = refusal.words(words);
    let mut error = json!({
        "message": words.message,
        "type": words.kind,
        "param": null,
        "code": null,
    });
    for (name, value) in words.fields {
        error[name] = value;
    }
    Refused {
        status: words.status,
        retry_after: refusal.retry_after,
        body: json!({"error": error}).to_string().into(),
    }
}

fn words(cause: &Cause) -> Words {
    match cause {
        Cause::RateLimited => Words::new(
            StatusCode::TOO_MANY_REQUESTS,
            "requests",
            "Rate limit reached on requests per min (RPM). Please try again later.",
        )
        .with("code", "rate_limit_exceeded"),
        Cause::QuotaSpent | Cause::CreditExhausted => Words::new(
            StatusCode::TOO_MANY_REQUESTS,
            "insufficient_quota",
            "You exceeded your current quota, please check your plan and billing details.",
        )
        .with("code", "insufficient_quota"),
        Cause::Unauthorized | Cause::InvalidKey => Words::new(
            StatusCode::UNAUTHORIZED,
            "invalid_request_error",
            "Incorrect API key provided.",
        )
        .with("code", "invalid_api_key"),
        Cause::Forbidden => Words::new(
            StatusCode::FORBIDDEN,
            "request_forbidden",
            "Country, region, or territory not supported",
        )
        .with("code", "unsupported_country_region_territory"),
        // Not OpenAI itself, but services that speak as it does.
        Cause::PaymentRequired => Words::new(
            StatusCode::PAYMENT_REQUIRED,
            "unknown_error",
            "Insufficient Balance",
        )
        .with("code", "invalid_request_error"),
        Cause::ModelNotFound(model) => Words::new(
            StatusCode::NOT_FOUND,
            "invalid_request_error",
            format!("The model `{model}` does not exist or you do not have access to it."),
        )
        .with("code", "model_not_found"),
        Cause::ContextTooLong => Words::new(
            StatusCode::BAD_REQUEST,
            "invalid_request_error",
            "Your input exceeds the context window of this model. \
             Please adjust your input and try again.",
        )
        .with("code", "context_length_exceeded"),
        Cause::ServerError => Words::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "server_error",
            "The server had an error while processing your request. Sorry about that!",
        ),
        Cause::Overloaded => Words::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "server_error",
            "Our servers are currently overloaded. Please try again later.",
        )
        .with("code", "server_is_overloaded"),
        Cause::NoAnswer => Words::new(StatusCode::IM_A_TEAPOT, "invalid_request_error", ""),
        Cause::NoSuchPath => Words::new(StatusCode::NOT_FOUND, "invalid_request_error", ""),
    }
}
