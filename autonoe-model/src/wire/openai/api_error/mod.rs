//! [`ApiError`]: error of a service.

mod classify;
mod delay;
#[cfg(test)]
mod tests;

use autonoe_core::agent::TokenUsage;
use serde_json::Value;

use self::classify::{classify, sentence};
use self::delay::{delay_in_text, requested_delay};
use crate::contract::ModelError;
use crate::wire::Refusal;

/// Error of a service, in the known formats: `{"error": {..}}`, `{"error": ".."}`, and the fields
/// of the error at the top level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::wire) struct ApiError {
    /// Names, most precise first: the code, then the type.
    names: Vec<String>,
    /// Status of the HTTP response, or the one in a streamed error.
    status: Option<u16>,
    /// Message, if there is one.
    words: Option<String>,
}

impl ApiError {
    /// Reads the error in `value`, if there is one.
    pub(in crate::wire) fn read(value: &Value) -> Option<Self> {
        let error = match &value["error"] {
            Value::Null => value,
            inner => inner,
        };
        let words = match error {
            Value::String(words) => words.as_str().into(),
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
            words: words.map(Into::into),
        };
        (fault != Self::default()).then_some(fault)
    }

    /// Converts an error in the middle of an answer.
    pub(in crate::wire) fn into_stream_error(self, usage: TokenUsage) -> ModelError {
        let delay = self.words.as_deref().and_then(delay_in_text);
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
    let delay = requested_delay(refusal, fault.words.as_deref());
    let error = fault.into_error();
    let delay = delay.filter(|_| error.is_retryable());
    error
        .with_retry_after(delay)
        .with_request_id(refusal.request_id.clone())
}
