//! Error responses in Google's format.

use hyper::StatusCode;
use serde_json::{Value, json};

use crate::model_server::Refusal;
use crate::model_server::api::EncodedRefusal;
use crate::model_server::refusal::{Cause, ErrorBody};

/// Encodes a refusal as the JSON of an error.
pub(super) fn refuse(refusal: &Refusal) -> EncodedRefusal {
    let error_body = refusal.error_body(error_body);
    let mut error = json!({
        "code": error_body.status.as_u16(),
        "message": error_body.message,
        "status": error_body.kind,
    });
    for (name, value) in error_body.fields {
        error[name] = value;
    }
    if let Some(seconds) = refusal.retry_after {
        let wait = detail("RetryInfo", json!({"retryDelay": format!("{seconds}s")}));
        match &mut error["details"] {
            Value::Array(details) => details.push(wait),
            details => *details = json!([wait]),
        }
    }
    EncodedRefusal {
        status: error_body.status,
        // It is in the details of the error.
        retry_after: None,
        body: json!({"error": error}).to_string().into(),
    }
}

/// Returns an error inside a stream.
pub(super) fn error(status: &str, message: &str) -> Value {
    let code = match status {
        "INVALID_ARGUMENT" | "FAILED_PRECONDITION" => 400,
        "UNAUTHENTICATED" => 401,
        "PERMISSION_DENIED" => 403,
        "NOT_FOUND" => 404,
        "RESOURCE_EXHAUSTED" => 429,
        "CANCELLED" => 499,
        "UNAVAILABLE" => 503,
        "DEADLINE_EXCEEDED" => 504,
        _ => 500,
    };
    json!({"error": {"code": code, "message": message, "status": status}})
}

fn error_body(cause: &Cause) -> ErrorBody {
    match cause {
        Cause::RateLimited => ErrorBody::new(
            StatusCode::TOO_MANY_REQUESTS,
            "RESOURCE_EXHAUSTED",
            "Resource has been exhausted (e.g. check quota).",
        ),
        Cause::QuotaSpent => ErrorBody::new(
            StatusCode::TOO_MANY_REQUESTS,
            "RESOURCE_EXHAUSTED",
            "You exceeded your current quota, please check your plan and billing details.",
        )
        .with("details", json!([quota_of_a_day()])),
        Cause::Unauthorized => ErrorBody::new(
            StatusCode::UNAUTHORIZED,
            "UNAUTHENTICATED",
            "Request had invalid authentication credentials.",
        ),
        Cause::InvalidKey => ErrorBody::new(
            StatusCode::BAD_REQUEST,
            "INVALID_ARGUMENT",
            "API key not valid. Please pass a valid API key.",
        )
        .with("details", json!([error_info("API_KEY_INVALID")])),
        Cause::Forbidden => ErrorBody::new(
            StatusCode::FORBIDDEN,
            "PERMISSION_DENIED",
            "The caller does not have permission",
        ),
        Cause::CreditExhausted => ErrorBody::new(
            StatusCode::TOO_MANY_REQUESTS,
            "RESOURCE_EXHAUSTED",
            "Your prepayment credits are depleted.",
        ),
        Cause::PaymentRequired => ErrorBody::new(
            StatusCode::FORBIDDEN,
            "PERMISSION_DENIED",
            "This API method requires billing to be enabled.",
        )
        .with("details", json!([error_info("BILLING_DISABLED")])),
        Cause::ModelNotFound(model) => ErrorBody::new(
            StatusCode::NOT_FOUND,
            "NOT_FOUND",
            format!(
                "models/{model} is not found for API version v1beta, \
                 or is not supported for generateContent."
            ),
        ),
        Cause::ContextTooLong => ErrorBody::new(
            StatusCode::BAD_REQUEST,
            "INVALID_ARGUMENT",
            "The input token count (1100000) exceeds the maximum number of tokens allowed \
             (1048576).",
        ),
        Cause::ServerError => ErrorBody::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "INTERNAL",
            "An internal error has occurred.",
        ),
        Cause::Overloaded => ErrorBody::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "UNAVAILABLE",
            "The model is overloaded. Please try again later.",
        ),
        Cause::NoAnswer => ErrorBody::new(StatusCode::IM_A_TEAPOT, "UNKNOWN", ""),
        Cause::NoSuchPath => ErrorBody::new(StatusCode::NOT_FOUND, "NOT_FOUND", ""),
    }
}

fn quota_of_a_day() -> Value {
    let violation = json!({
        "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
        "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
    });
    detail("QuotaFailure", json!({"violations": [violation]}))
}

fn error_info(reason: &str) -> Value {
    let info = json!({"reason": reason, "domain": "googleapis.com"});
    detail("ErrorInfo", info)
}

fn detail(kind: &str, mut fields: Value) -> Value {
    fields["@type"] = format!("type.googleapis.com/google.rpc.{kind}").into();
    fields
}
