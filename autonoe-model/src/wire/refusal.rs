//! [`Refusal`]: error response of a provider.

use std::time::Duration;

use crate::contract::{ModelError, ModelErrorCode};

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
    fn a_refusal_of_something_in_between_goes_by_its_status() {
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
    fn only_what_may_pass_is_asked_again() {
        let retryable: Vec<u16> = (300..=599)
            .filter(|status| status_code_of(*status).is_retryable())
            .collect();

        let expected = [408, 429, 500, 502, 503, 504].into_iter();
        let expected: Vec<u16> = expected.chain(512..=599).collect();
        assert_eq!(retryable, expected);
    }
}
