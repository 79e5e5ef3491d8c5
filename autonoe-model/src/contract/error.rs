//! [`ModelError`]: error of a model call.

use std::fmt;
use std::time::Duration;

use autonoe_core::agent::TokenUsage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reply::CallUsage;

/// Error of a model call.
///
/// The code decides how to react; the message is a sentence for humans. Details from the provider
/// are included unless they contain a secret.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_model::{ModelError, ModelErrorCode};
///
/// let error = ModelError::new(ModelErrorCode::RateLimited, "too many calls")
///     .with_retry_after(Duration::from_secs(7));
///
/// assert!(error.is_retryable());
/// assert_eq!(error.code.as_str(), "RATE_LIMITED");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ModelError {
    /// Kind of the failure.
    pub code: ModelErrorCode,
    /// Sentence for humans.
    pub message: String,
    /// Delay that the provider requested.
    pub retry_after: Option<Duration>,
    /// Status of the HTTP response, if there was one.
    pub status: Option<u16>,
    /// Provider's own name of the failure, for example `insufficient_quota`.
    pub reason: Option<String>,
    /// Provider's ID of the call, for support requests.
    pub request_id: Option<String>,
    /// Usage of the call before it failed, as far as known.
    pub usage: CallUsage,
}

impl ModelError {
    /// Creates an error; the remaining fields are set by `with_*`.
    ///
    /// The usage is zero for codes that mean that no model has started, and unknown otherwise.
    pub fn new(code: ModelErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            retry_after: None,
            status: None,
            reason: None,
            request_id: None,
            usage: if code.is_before_work() {
                CallUsage::NOTHING
            } else {
                CallUsage::UNKNOWN
            },
        }
    }

    /// A stream ended without an answer or an error.
    pub(crate) fn ended_early() -> Self {
        let message = "the answer ended before it was complete";
        Self::new(ModelErrorCode::InvalidResponse, message)
    }

    /// Returns whether the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        self.code.is_retryable()
    }

    /// Sets the delay that the provider requested.
    #[must_use]
    pub fn with_retry_after(mut self, delay: impl Into<Option<Duration>>) -> Self {
        self.retry_after = delay.into();
        self
    }

    /// Sets the status of the HTTP response.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Sets the provider's own name of the failure.
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<Option<String>>) -> Self {
        self.reason = reason.into();
        self
    }

    /// Sets the provider's ID of the call.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<Option<String>>) -> Self {
        self.request_id = id.into();
        self
    }

    /// Sets the known usage before the failure. The rest is unknown, because the provider does not
    /// count an incomplete answer.
    #[must_use]
    pub fn with_usage(mut self, known: TokenUsage) -> Self {
        self.usage = CallUsage::AtLeast(known);
        self
    }

    /// Declares that the call used nothing, because it never reached a model.
    #[must_use]
    pub fn with_nothing_used(mut self) -> Self {
        self.usage = CallUsage::NOTHING;
        self
    }
}

/// Kind of a failure. Callers distinguish these ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ModelErrorCode {
    /// The configuration of the provider is missing or invalid.
    ProviderNotConfigured,
    /// The provider is unknown.
    ProviderNotSupported,
    /// The key is missing or was rejected, or its account cannot pay.
    AuthenticationError,
    /// There were too many calls, or the provider is overloaded.
    RateLimited,
    /// The model is unknown.
    ModelNotFound,
    /// The prompt exceeds the model's context.
    ContextLengthExceeded,
    /// The provider was unreachable, closed the connection, or failed on its side.
    NetworkError,
    /// The provider took too long.
    Timeout,
    /// The provider sent an invalid response.
    InvalidResponse,
    /// Another failure, for example an invalid request.
    Unknown,
}

impl ModelErrorCode {
    /// All codes.
    pub const ALL: [Self; 10] = [
        Self::ProviderNotConfigured,
        Self::ProviderNotSupported,
        Self::AuthenticationError,
        Self::RateLimited,
        Self::ModelNotFound,
        Self::ContextLengthExceeded,
        Self::NetworkError,
        Self::Timeout,
        Self::InvalidResponse,
        Self::Unknown,
    ];

    /// Returns the code's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ProviderNotConfigured => "PROVIDER_NOT_CONFIGURED",
            Self::ProviderNotSupported => "PROVIDER_NOT_SUPPORTED",
            Self::AuthenticationError => "AUTHENTICATION_ERROR",
            Self::RateLimited => "RATE_LIMITED",
            Self::ModelNotFound => "MODEL_NOT_FOUND",
            Self::ContextLengthExceeded => "CONTEXT_LENGTH_EXCEEDED",
            Self::NetworkError => "NETWORK_ERROR",
            Self::Timeout => "TIMEOUT",
            Self::InvalidResponse => "INVALID_RESPONSE",
            Self::Unknown => "UNKNOWN",
        }
    }

    /// Returns whether the same call may succeed later.
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::RateLimited | Self::NetworkError | Self::Timeout)
    }
}

impl ModelErrorCode {
    /// Returns whether calls with this error fail before a model starts.
    fn is_before_work(self) -> bool {
        match self {
            Self::ProviderNotConfigured
            | Self::ProviderNotSupported
            | Self::AuthenticationError
            | Self::RateLimited
            | Self::ModelNotFound
            | Self::ContextLengthExceeded => true,
            Self::NetworkError | Self::Timeout | Self::InvalidResponse | Self::Unknown => false,
        }
    }
}

impl fmt::Display for ModelErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: framework/models/retryable-rate-limited-network-error
    #[test]
    fn only_limits_networks_and_time_outs_are_worth_another_try() {
        let retryable: Vec<_> = ModelErrorCode::ALL
            .into_iter()
            .filter(|code| code.is_retryable())
            .map(ModelErrorCode::as_str)
            .collect();

        assert_eq!(retryable, ["RATE_LIMITED", "NETWORK_ERROR", "TIMEOUT"]);
    }

    // Shows: framework/models/model-error-code-ten-them
    #[test]
    fn the_ten_codes_have_their_names() {
        assert_eq!(
            ModelErrorCode::ALL.map(ModelErrorCode::as_str),
            [
                "PROVIDER_NOT_CONFIGURED",
                "PROVIDER_NOT_SUPPORTED",
                "AUTHENTICATION_ERROR",
                "RATE_LIMITED",
                "MODEL_NOT_FOUND",
                "CONTEXT_LENGTH_EXCEEDED",
                "NETWORK_ERROR",
                "TIMEOUT",
                "INVALID_RESPONSE",
                "UNKNOWN",
            ]
        );
    }

    #[test]
    fn a_code_reads_the_same_as_text_and_as_json() {
        for code in ModelErrorCode::ALL {
            let json = serde_json::to_value(code).expect("it can be written");
            assert_eq!(json, code.as_str());
        }
    }
}
