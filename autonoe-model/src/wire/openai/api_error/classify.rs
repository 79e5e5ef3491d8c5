//! Classification of service errors into the ten error codes.

use super::ApiError;
use crate::contract::ModelErrorCode::{self, *};
use crate::wire::status_code_of;

/// Meaning of the services' error names, whatever the status is.
const NAMES: [(&str, ModelErrorCode); 24] = [
    ("context_length_exceeded", ContextLengthExceeded),
    ("exceed_context_size_error", ContextLengthExceeded),
    ("insufficient_quota", AuthenticationError),
    ("billing_hard_limit_reached", AuthenticationError),
    ("billing_not_active", AuthenticationError),
    ("usage_not_included", AuthenticationError),
    ("invalid_api_key", AuthenticationError),
    ("invalid_authentication", AuthenticationError),
    ("authentication_error", AuthenticationError),
    ("account_deactivated", AuthenticationError),
    ("model_not_found", ModelNotFound),
    ("rate_limit_exceeded", RateLimited),
    ("rate_limit_error", RateLimited),
    ("too_many_requests", RateLimited),
    ("server_is_overloaded", RateLimited),
    ("slow_down", RateLimited),
    ("overloaded_error", RateLimited),
    ("server_error", NetworkError),
    ("internal_error", NetworkError),
    ("internal_server_error", NetworkError),
    ("InternalServerError", NetworkError),
    ("api_error", NetworkError),
    ("service_unavailable", NetworkError),
    ("timeout", Timeout),
];

/// Message texts of services that have no error name for an overlong prompt.
const TOO_LONG: [&str; 5] = [
    "maximum context length",
    "maximum model length",
    "context window",
    "context size",
    "context length",
];

/// Returns the error code of a fault.
pub(super) fn classify(fault: &ApiError) -> ModelErrorCode {
    let known = NAMES
        .iter()
        .find(|(name, _)| fault.names.iter().any(|has| has == name))
        .map(|(_, code)| *code);
    let words = fault.words.as_deref().unwrap_or_default();
    match (known, fault.status) {
        // A single request above the limit per minute: waiting does not help, only a shorter
        // prompt.
        (Some(RateLimited), _) | (None, Some(429)) if words.starts_with("Request too large") => {
            ContextLengthExceeded
        }
        // Ollama names every error `api_error`; the status is more specific.
        (Some(NetworkError) | None, Some(status)) => by_status(status, words),
        (Some(code), _) => code,
        (None, None) if too_long(words) => ContextLengthExceeded,
        // The service started to answer and then failed without a name: its own failure.
        (None, None) if fault.names.is_empty() => NetworkError,
        (None, None) => Unknown,
    }
}

fn by_status(status: u16, words: &str) -> ModelErrorCode {
    match status {
        400 | 422 | 500 if too_long(words) => ContextLengthExceeded,
        // Without a message, or with this one, the URL was not found.
        404 if words.is_empty() || words.starts_with("Invalid URL") => ProviderNotConfigured,
        // Statuses of CDNs in front of services.
        522 | 524 => Timeout,
        status => status_code_of(status),
    }
}

fn too_long(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    TOO_LONG.iter().any(|hint| words.contains(hint))
}

/// Returns a sentence for humans.
pub(super) fn sentence(code: ModelErrorCode, fault: &ApiError) -> String {
    let mut sentence = String::from(match code {
        AuthenticationError if may_pay(fault) => "the provider refused the key",
        AuthenticationError => "the account of the provider has no credit",
        RateLimited => "the provider limits the request rate",
        ModelNotFound => "the provider does not have this model",
        ContextLengthExceeded => "the prompt is longer than the context window of the model",
        Timeout => "the provider took too long",
        NetworkError => "the provider failed",
        ProviderNotConfigured => "the provider does not answer at this address",
        _ => "the provider refused the request",
    });
    if let Some(status) = fault.status {
        sentence += &format!(" (HTTP {status})");
    }
    // Messages about a key often contain a part of it.
    let words = fault.words.as_deref().filter(|_| fault.status != Some(401));
    if let Some(words) = words.map(without_keys).filter(|words| !words.is_empty()) {
        sentence += ": ";
        sentence += words.trim_end_matches('.');
    }
    sentence
}

fn may_pay(fault: &ApiError) -> bool {
    let unpaid = [
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
    ];
    fault.status != Some(402)
        && !fault
            .names
            .iter()
            .any(|name| unpaid.contains(&name.as_str()))
}

/// Removes words that look like a key, and line breaks. The text is not truncated here, because a
/// truncated secret would not be found.
fn without_keys(words: &str) -> String {
    let line = words.replace(char::is_whitespace, " ");
    let words: Vec<&str> = line
        .split(' ')
        .map(|word| {
            if word.contains("sk-") || word.contains("***") {
                "[hidden]"
            } else {
                word
            }
        })
        .collect();
    words.join(" ").trim().to_owned()
}
