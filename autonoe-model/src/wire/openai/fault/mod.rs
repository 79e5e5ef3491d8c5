//! What a service says when it does not answer.

mod classify;
mod delay;
#[cfg(test)]
mod tests;

use autonoe_core::TokenUsage;
use serde_json::Value;

use self::classify::{classify, sentence};
use self::delay::{asked_delay, delay_in_words};
use crate::contract::ModelError;
use crate::wire::Refusal;

/// What a service says when it does not answer, in the shapes that are known: `{"error": {..}}`,
/// `{"error": ".."}`, and the fields of the error at the top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::wire) struct Fault {
    /// Its names, the most precise first: the code, then the type.
    names: Vec<String>,
    /// The status of the HTTP answer, or the one that the error names in a stream.
    status: Option<u16>,
    /// Its words, if there are any.
    words: Option<String>,
}

impl Fault {
    /// Reads the error that `value` holds, if it holds one.
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

    /// Says what it means when it comes in the middle of an answer.
    pub(in crate::wire) fn in_stream(self, usage: TokenUsage) -> ModelError {
        let delay = self.words.as_deref().and_then(delay_in_words);
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

/// Says what an answer means that is no success.
pub(in crate::wire) fn refused(refusal: &Refusal) -> ModelError {
    let body: Value = serde_json::from_str(&refusal.body).unwrap_or_default();
    let mut fault = Fault::read(&body).unwrap_or_default();
    // An error in the place of a stream may come with the status of a success.
    if refusal.status >= 400 {
        fault.status = Some(refusal.status);
    }
    let delay = asked_delay(refusal, fault.words.as_deref());
    let error = fault.into_error();
    let delay = delay.filter(|_| error.is_retryable());
    error
        .with_retry_after(delay)
        .with_request_id(refusal.request_id.clone())
}
