//! Wire protocols of providers, without I/O: encoding of requests and decoding of answers.
//!
//! A protocol is a `Wire`. It knows neither connections nor clocks; `transport` sends its requests
//! and feeds it the responses.

pub mod anthropic;
pub mod chat;
pub(crate) mod gemini;
mod openai;
pub mod openai_responses;

use std::time::Duration;

use autonoe_core::agent::TokenUsage;
use autonoe_core::tool::Attachment;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::contract::{ModelError, ModelErrorCode, ModelEvent, ModelReply, ModelRequest};

/// Wire protocol of a model API.
pub(crate) trait Wire: Send + Sync + 'static {
    /// Returns the name of the protocol, which is also recorded in the
    /// [`WireItem`](crate::contract::WireItem)s that it decodes.
    fn protocol(&self) -> &'static str;

    /// Returns the header for the key: name and value.
    fn credential(&self, key: &str) -> (&'static str, String);

    /// Encodes a request to `model`.
    ///
    /// Parts of earlier answers over this protocol are sent back unchanged and in their order.
    /// Other parts are sent by their meaning, without thinking.
    fn encode(&self, model: &str, request: &ModelRequest) -> Encoded;

    /// Creates a decoder for an answer.
    fn decoder(&self) -> Box<dyn Decoder>;

    /// Converts an error response.
    fn refusal_error(&self, refusal: &Refusal) -> ModelError;
}

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerEvent {
    /// Name; empty if there is none.
    pub(crate) name: String,
    /// Data, with joined lines.
    pub(crate) data: String,
}

/// Decodes one answer.
pub(crate) trait Decoder: Send {
    /// Processes the next event, and appends the resulting events to `new_events`.
    ///
    /// # Errors
    ///
    /// The provider reported an error or sent an invalid event. The error includes the usage so
    /// far. No events are accepted after that.
    fn push(
        &mut self,
        event: &ServerEvent,
        new_events: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError>;

    /// Returns whether the answer is complete.
    fn is_complete(&self) -> bool;

    /// Returns the answer, after the last event.
    ///
    /// # Errors
    ///
    /// The answer is incomplete. The error includes the usage so far.
    fn finish(self: Box<Self>) -> Result<ModelReply, ModelError>;
}

/// HTTP request without the key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Encoded {
    /// Path below the provider's base URL, with the query: `/v1/messages`.
    pub(crate) path: String,
    /// Headers in addition to those of every request.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// JSON body.
    pub(crate) body: Value,
}

/// Error response of a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// HTTP status.
    pub(crate) status: u16,
    /// Delay of `retry-after`, relative to now.
    pub(crate) retry_after: Option<Duration>,
    /// Provider's ID of the call.
    pub(crate) request_id: Option<String>,
    /// Body, truncated if it is long.
    pub(crate) body: String,
}

impl Refusal {
    /// Returns the error for a response without details: an intermediary answered, or `api` does
    /// not exist at this URL.
    pub(crate) fn unexplained(&self, api: &str) -> ModelError {
        let status = self.status;
        let answered = format!("the provider answered with status {status}");
        let (code, message) = match status {
            // The API itself would say what it did not find.
            404 => (
                ModelErrorCode::ProviderNotConfigured,
                format!("there is no {api} at the base URL (status 404)"),
            ),
            200..=299 => (ModelErrorCode::InvalidResponse, answered),
            _ => (status_code_of(status), answered),
        };
        ModelError::new(code, message)
            .with_status(status)
            .with_retry_after(self.retry_after)
            .with_request_id(self.request_id.clone())
    }
}

/// Returns the error for an invalid event.
pub(crate) fn invalid_response(problem: &str, usage: TokenUsage) -> ModelError {
    let message = format!("the provider sent {problem}");
    ModelError::new(ModelErrorCode::InvalidResponse, message).with_usage(usage)
}

/// Returns the error for an answer that ended before it was complete.
pub(crate) fn incomplete_answer(usage: TokenUsage) -> ModelError {
    let message = "the answer ended before it was complete";
    ModelError::new(ModelErrorCode::NetworkError, message).with_usage(usage)
}

/// Parses the JSON of an event; `usage` is the usage so far.
pub(crate) fn parse_event(event: &ServerEvent, usage: TokenUsage) -> Result<Value, ModelError> {
    serde_json::from_str(&event.data).map_err(|error| {
        let problem = format!("an event that is not valid JSON: {error}");
        invalid_response(&problem, usage)
    })
}

/// Merges messages to turns: alternating roles, none empty. In turns of the user, results come
/// first; `is_result` recognizes them.
pub(crate) fn merged_turns(
    messages: impl Iterator<Item = (&'static str, Vec<Value>)>,
    is_result: impl Fn(&Value) -> bool,
) -> Vec<(&'static str, Vec<Value>)> {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    // Empty messages are removed before turns are merged: one between two others would leave them
    // with the same role.
    for (role, parts) in messages.filter(|(_, parts)| !parts.is_empty()) {
        match turns.last_mut() {
            Some((last, all)) if *last == role => all.extend(parts),
            _ => turns.push((role, parts)),
        }
    }
    for (_, parts) in turns.iter_mut().filter(|(role, _)| *role == "user") {
        parts.sort_by_key(|part| !is_result(part));
    }
    turns
}

/// Returns the input of a call, which must be an object. Invalid JSON is sent in a field of its
/// own, so that the model sees what it wrote.
pub(crate) fn object_input(input: &Value) -> Value {
    match input {
        Value::Object(_) => input.clone(),
        Value::String(text) => json!({"INVALID_JSON": text}),
        other => json!({"INVALID_JSON": other.to_string()}),
    }
}

/// Returns the content of an attachment as base64.
pub(crate) fn base64(attachment: &Attachment) -> String {
    STANDARD.encode(&attachment.data)
}

/// Returns the error code of a status, for responses without details.
pub(crate) fn status_code_of(status: u16) -> ModelErrorCode {
    match status {
        // An intermediary may require a login, too.
        401..=403 | 407 | 511 => ModelErrorCode::AuthenticationError,
        404 => ModelErrorCode::ModelNotFound,
        408 | 504 => ModelErrorCode::Timeout,
        // A shorter request may succeed.
        413 => ModelErrorCode::ContextLengthExceeded,
        429 | 529 => ModelErrorCode::RateLimited,
        // These do not change over time.
        501 | 505..=510 => ModelErrorCode::Unknown,
        500..=599 => ModelErrorCode::NetworkError,
        _ => ModelErrorCode::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_by_an_intermediary_is_classified_by_its_status() {
        use ModelErrorCode::*;
        for (status, code) in [
            (400, Unknown),
            (401, AuthenticationError),
            (402, AuthenticationError),
            (403, AuthenticationError),
            (404, ProviderNotConfigured),
            (407, AuthenticationError),
            (408, Timeout),
            (413, ContextLengthExceeded),
            (429, RateLimited),
            (500, NetworkError),
            (501, Unknown),
            (502, NetworkError),
            (503, NetworkError),
            (504, Timeout),
            (529, RateLimited),
            (200, InvalidResponse),
        ] {
            let refusal = Refusal {
                status,
                retry_after: Some(Duration::from_secs(7)),
                request_id: Some("req_1".into()),
                body: "<html>Bad</html>".into(),
            };

            let error = refusal.unexplained("Messages API");

            assert_eq!(error.code, code, "{status}");
            assert_eq!(error.status, Some(status));
            assert_eq!(error.retry_after, refusal.retry_after);
            assert_eq!(error.request_id, refusal.request_id);
            assert!(!error.message.contains("html"), "{error}");
        }
    }

    #[test]
    fn only_transient_statuses_are_retried() {
        let retryable: Vec<u16> = (300..=599)
            .filter(|status| status_code_of(*status).is_retryable())
            .collect();

        let expected: Vec<u16> = [408, 429, 500, 502, 503, 504]
            .into_iter()
            .chain(512..=599)
            .collect();
        assert_eq!(retryable, expected);
    }
}
