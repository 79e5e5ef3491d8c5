//! Tests of real error responses and their codes.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::contract::ModelErrorCode::{self, *};

fn refusal(status: u16, body: &Value) -> Refusal {
    Refusal {
        status,
        body: body.to_string(),
        ..Refusal::default()
    }
}

fn openai(kind: &str, code: Option<&str>, message: &str) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}

#[test]
fn classifies_every_refusal_as_one_of_ten_codes() {
    let bad = "invalid_request_error";
    #[rustfmt::skip]
    let table: Vec<(u16, Value, ModelErrorCode, Option<&str>)> = vec![
        (400, openai(bad, Some("context_length_exceeded"), "Your input exceeds the context window of this model."), ContextLengthExceeded, Some("context_length_exceeded")),
        (400, openai(bad, Some("unsupported_parameter"), "Unsupported parameter: 'temperature'."), Unknown, Some("unsupported_parameter")),
        (400, openai(bad, None, "Invalid schema for function 'x'."), Unknown, Some(bad)),
        (401, openai(bad, Some("invalid_api_key"), "Incorrect API key provided: sk-abcde***wxyz."), AuthenticationError, Some("invalid_api_key")),
        (402, json!({"error": {"code": 402, "message": "Insufficient credits"}}), AuthenticationError, None),
        (403, openai("request_forbidden", Some("unsupported_country_region_territory"), "Country, region, or territory not supported"), AuthenticationError, Some("unsupported_country_region_territory")),
        (404, openai(bad, Some("model_not_found"), "The model `gpt-x` does not exist or you do not have access to it."), ModelNotFound, Some("model_not_found")),
        (404, openai(bad, None, "Invalid URL (POST /v1/v1/responses)"), ProviderNotConfigured, Some(bad)),
        (404, json!({"detail": "Not Found"}), ProviderNotConfigured, None),
        (408, openai("timeout", None, "Request timed out."), Timeout, Some("timeout")),
        (413, openai(bad, None, "Maximum content size limit exceeded"), ContextLengthExceeded, Some(bad)),
        (422, openai(bad, None, "Unprocessable"), Unknown, Some(bad)),
        (429, openai("requests", Some("rate_limit_exceeded"), "Rate limit reached for gpt-5"), RateLimited, Some("rate_limit_exceeded")),
        (429, openai("tokens", Some("rate_limit_exceeded"), "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 43271."), ContextLengthExceeded, Some("rate_limit_exceeded")),
        (429, openai("insufficient_quota", Some("insufficient_quota"), "You exceeded your current quota."), AuthenticationError, Some("insufficient_quota")),
        (429, json!({}), RateLimited, None),
        (500, openai("server_error", None, "The server had an error."), NetworkError, Some("server_error")),
        (502, Value::Null, NetworkError, None),
        (503, openai("server_error", Some("server_is_overloaded"), "Overloaded."), RateLimited, Some("server_is_overloaded")),
        (503, openai("service_unavailable_error", None, "Unavailable."), NetworkError, Some("service_unavailable_error")),
        (504, Value::Null, Timeout, None),
        // Ollama, vLLM, llama.cpp and OpenRouter.
        (404, openai("api_error", None, "model \"x\" not found, try pulling it first"), ModelNotFound, Some("api_error")),
        (404, json!({"error": "model 'x' not found"}), ModelNotFound, None),
        (404, json!({"object": "error", "message": "The model `x` does not exist.", "type": "NotFoundError", "param": null, "code": 404}), ModelNotFound, Some("NotFoundError")),
        (400, json!({"object": "error", "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens", "type": "BadRequestError", "code": 400}), ContextLengthExceeded, Some("BadRequestError")),
        (400, json!({"error": {"code": 400, "message": "the request exceeds the available context size", "type": "exceed_context_size_error"}}), ContextLengthExceeded, Some("exceed_context_size_error")),
        (400, json!({"error": {"code": 400, "message": "This endpoint's maximum context length is 16384 tokens."}}), ContextLengthExceeded, None),
        (400, json!({"error": {"code": 400, "message": "x is not a valid model ID"}}), Unknown, None),
    ];

    for (status, body, code, reason) in table {
        let error = refusal_error(&refusal(status, &body));

        assert_eq!(error.code, code, "{status} {body}");
        assert_eq!(error.reason.as_deref(), reason, "{status} {body}");
        assert_eq!(error.status, Some(status));
    }
}

#[test]
fn html_error_page_is_reported_by_status() {
    let page = Refusal {
        status: 502,
        body: "<html><h1>Bad Gateway</h1></html>".into(),
        request_id: Some("req_1".into()),
        ..Refusal::default()
    };

    let error = refusal_error(&page);

    assert_eq!(error.code, NetworkError);
    assert_eq!(error.message, "the provider failed (HTTP 502)");
    assert_eq!(error.request_id.as_deref(), Some("req_1"));
}

#[test]
fn an_error_with_the_status_of_a_success_is_an_error() {
    let body = json!({"error": {"code": 429, "message": "Slow."}});

    let error = refusal_error(&refusal(200, &body));

    assert_eq!(error.code, RateLimited);
    assert_eq!(error.status, Some(429));
}

#[test]
fn no_part_of_a_key_is_reported() {
    let message = "Incorrect API key provided: sk-abcde***wxyz. Find yours on the website.";
    for status in [400, 401, 403, 500] {
        let body = openai("invalid_request_error", None, message);

        let error = refusal_error(&refusal(status, &body));

        assert!(!error.message.contains("sk-"), "{error}");
        assert!(!error.message.contains("wxyz"), "{error}");
    }
}

#[test]
fn the_most_precise_requested_delay_wins() {
    let busy = openai(
        "tokens",
        Some("rate_limit_exceeded"),
        "Rate limit reached. Please try again in 1.5s.",
    );
    let quiet = openai("tokens", Some("rate_limit_exceeded"), "Rate limit reached.");
    let secs = Some(Duration::from_secs(7));
    let table = [
        (&quiet, None, None),
        (&busy, None, Some(Duration::from_millis(1_500))),
        (&busy, secs, secs),
    ];

    for (body, retry_after, expected) in table {
        let error = refusal_error(&Refusal {
            retry_after,
            ..refusal(429, body)
        });

        assert_eq!(error.code, RateLimited);
        assert_eq!(error.retry_after, expected);
    }
}

#[test]
fn a_spent_quota_is_not_waited_for() {
    let body = openai("insufficient_quota", Some("insufficient_quota"), "No more.");

    let error = refusal_error(&Refusal {
        retry_after: Some(Duration::from_secs(1)),
        ..refusal(429, &body)
    });

    assert!(!error.is_retryable());
    assert_eq!(error.retry_after, None);
    assert_eq!(
        error.message,
        "the account of the provider has no credit (HTTP 429): No more"
    );
}

#[test]
fn classifies_stream_failures_as_one_of_ten_codes() {
    let used = TokenUsage {
        input: 3,
        ..TokenUsage::default()
    };
    #[rustfmt::skip]
    let table = [
        (json!({"code": "server_error", "message": "Sorry."}), NetworkError),
        (json!({"code": "rate_limit_exceeded", "message": "Please try again in 2s."}), RateLimited),
        (json!({"code": "context_length_exceeded", "message": "Too long."}), ContextLengthExceeded),
        (json!({"code": "insufficient_quota", "message": "No more."}), AuthenticationError),
        (json!({"code": "invalid_prompt", "message": "Refused."}), Unknown),
        (json!({"type": "error", "code": null, "message": "Something broke."}), NetworkError),
        (json!({"type": "error", "error": {"type": "tokens", "code": "rate_limit_exceeded", "message": "Slow."}}), RateLimited),
        (json!({"error": {"code": 502, "message": "The upstream is down"}}), NetworkError),
        (json!({"error": {"code": 429, "message": "Slow."}}), RateLimited),
        (json!({"error": {"code": 400, "message": "maximum context length is 10"}}), ContextLengthExceeded),
        (json!({"error": "maximum context length is 10"}), ContextLengthExceeded),
        (json!({"error": "it fell over"}), NetworkError),
    ];

    for (value, code) in table {
        let error = ApiError::read(&value)
            .expect("a fault")
            .into_stream_error(used);

        assert_eq!(error.code, code, "{value}");
        assert_eq!(error.usage.known(), used);
        let waits = value["message"] == "Please try again in 2s.";
        assert_eq!(error.retry_after, waits.then_some(Duration::from_secs(2)));
    }
}

#[test]
fn a_delay_is_found_in_a_message() {
    let table = [
        ("Please try again in 11.054s. Visit", Some(11_054)),
        ("Please try again in 350ms.", Some(350)),
        ("Please try again in 6m0s.", Some(360_000)),
        ("Please try again in 1h2m3.5s", Some(3_723_500)),
        ("try again in 20 seconds.", Some(20_000)),
        ("try again in a moment", None),
        ("try again in 5 parsecs", None),
        ("try again in 99999999999999999999s", None),
        ("slow down", None),
        ("try again in ", None),
    ];

    for (words, millis) in table {
        assert_eq!(
            delay_in_text(words),
            millis.map(Duration::from_millis),
            "{words}"
        );
    }
}

proptest! {
    #[test]
    fn arbitrary_messages_never_panic(words in "(try again in )?[0-9.hms ]{0,12}.{0,12}") {
        delay_in_text(&words);
    }
}
