//! Wire protocols of providers, without I/O: encoding of requests and decoding of answers.
//!
//! A protocol is a `Wire`. It knows neither connections nor clocks; `transport` sends its requests
//! and feeds it the responses.

pub mod anthropic;
pub(crate) mod attachment;
pub mod chat;
pub(crate) mod gemini;
mod openai;
pub mod openai_responses;

use std::time::Duration;

use serde_json::Value;

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
    /// Headers, with lower-case names.
    pub(crate) headers: Vec<(String, String)>,
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
                ..Refusal::default()
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
