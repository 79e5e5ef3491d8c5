//! [`ApiError`]: error of a service, and its classification into the ten error codes.

#[cfg(test)]
mod tests;

use std::time::Duration;

use autonoe_core::agent::TokenUsage;
use serde_json::Value;

use crate::contract::ModelError;
use crate::contract::ModelErrorCode::{self, *};
use crate::wire::{Refusal, status_code_of};

/// Error of a service, in the known formats: `{"error": {..}}`, `{"error": ".."}`, and the fields
/// of the error at the top level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::wire) struct ApiError {
    /// Names, most precise first: the code, then the type.
    names: Vec<String>,
    /// Status of the HTTP response, or the one in a streamed error.
    status: Option<u16>,
    /// Message, if there is one.
    message: Option<String>,
}

impl ApiError {
    /// Reads the error in `value`, if there is one.
    pub(in crate::wire) fn read(value: &Value) -> Option<Self> {
        let error = match &value["error"] {
            Value::Null => value,
            inner => inner,
        };
        let message = match error {
            Value::String(message) => message.as_str().into(),
            _ => error["message"].as_str(),
        };
        let names: Vec<String> = [&error["code"], &error["type"]]
            .into_iter()
            .filter_map(Value::as_str)
            .filter(|name| !name.is_empty() && *name != "error")
            .map(Into::into)
            .collect();
        let status = error["code"].as_u64().and_then(|code| code.try_into().ok());
        let fault = Self {
            names,
            status,
            message: message.map(Into::into),
        };
        (fault != Self::default()).then_some(fault)
    }

    /// Converts an error in the middle of an answer.
    pub(in crate::wire) fn into_stream_error(self, usage: TokenUsage) -> ModelError {
        let delay = self.message.as_deref().and_then(delay_in_text);
        let mut error = self.into_error().with_usage(usage);
        if error.is_retryable() {
            error.retry_after = delay;
        }
        error
    }

    fn into_error(self) -> ModelError {
        let code = classify(&self);
        let mut error =
            ModelError::new(code, sentence(code, &self)).with_reason(self.names.into_iter().next());
        error.status = self.status;
        error
    }
}

/// Converts an error response.
pub(in crate::wire) fn refusal_error(refusal: &Refusal) -> ModelError {
    let body: Value = serde_json::from_str(&refusal.body).unwrap_or_default();
    let mut fault = ApiError::read(&body).unwrap_or_default();
    // An error instead of a stream may come with a success status.
    if refusal.status >= 400 {
        fault.status = Some(refusal.status);
    }
    let in_text = fault.message.as_deref().and_then(delay_in_text);
    let error = fault.into_error();
    let delay = refusal.retry_after.or(in_text);
    let delay = delay.filter(|_| error.is_retryable());
    error
        .with_retry_after(delay)
        .with_request_id(refusal.request_id.clone())
}

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
    let message = fault.message.as_deref().unwrap_or_default();
    match (known, fault.status) {
        // A single request above the limit per minute: waiting does not help, only a shorter
        // prompt.
        (Some(RateLimited), _) | (None, Some(429)) if message.starts_with("Request too large") => {
            ContextLengthExceeded
        }
        // Ollama names every error `api_error`; the status is more specific.
        (Some(NetworkError) | None, Some(status)) => by_status(status, message),
        (Some(code), _) => code,
        (None, None) if too_long(message) => ContextLengthExceeded,
        // The service started to answer and then failed without a name: its own failure.
        (None, None) if fault.names.is_empty() => NetworkError,
        (None, None) => Unknown,
    }
}

fn by_status(status: u16, message: &str) -> ModelErrorCode {
    match status {
        400 | 422 | 500 if too_long(message) => ContextLengthExceeded,
        // Without a message, or with this one, the URL was not found.
        404 if message.is_empty() || message.starts_with("Invalid URL") => ProviderNotConfigured,
        // Statuses of CDNs in front of services.
        522 | 524 => Timeout,
        status => status_code_of(status),
    }
}

fn too_long(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    TOO_LONG.iter().any(|hint| message.contains(hint))
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
    let message = fault
        .message
        .as_deref()
        .filter(|_| fault.status != Some(401));
    if let Some(message) = message
        .map(without_keys)
        .filter(|message| !message.is_empty())
    {
        sentence += ": ";
        sentence += message.trim_end_matches('.');
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
fn without_keys(message: &str) -> String {
    let line = message.replace(char::is_whitespace, " ");
    let parts: Vec<&str> = line
        .split(' ')
        .map(|word| {
            if word.contains("sk-") || word.contains("***") {
                "[hidden]"
            } else {
                word
            }
        })
        .collect();
    parts.join(" ").trim().to_owned()
}

/// Maximum plausible delay in seconds: a hundred days.
const MAX_SECONDS: f64 = 8_640_000.0;

/// Finds a delay in a text such as `Please try again in 1m2.5s.`
fn delay_in_text(message: &str) -> Option<Duration> {
    let (_, mut rest) = message.split_once("try again in ")?;
    let mut sum = None;
    while let Some((amount, unit, after)) = amount(rest) {
        let scale = match unit {
            "h" | "hour" | "hours" => 3_600.0,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "s" | "sec" | "second" | "seconds" => 1.0,
            "ms" | "millisecond" | "milliseconds" => 0.001,
            _ => return None,
        };
        sum = Some(sum.unwrap_or(0.0) + amount * scale);
        rest = after;
    }
    sum.and_then(seconds)
}

/// Parses a number and its unit from the beginning of a text.
fn amount(text: &str) -> Option<(f64, &str, &str)> {
    let text = text.trim_start();
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, rest) = text.split_at(unit_at);
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_alphabetic());
    let (unit, after) = rest.split_at(end.unwrap_or(rest.len()));
    Some((number.parse().ok()?, unit, after))
}

fn seconds(seconds: f64) -> Option<Duration> {
    let sensible = (0.0..=MAX_SECONDS).contains(&seconds);
    sensible.then(|| Duration::from_secs_f64(seconds))
}
