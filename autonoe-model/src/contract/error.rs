//! Why a model did not answer.

use std::fmt;
use std::time::Duration;

use autonoe_core::TokenUsage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CallUsage;

/// Why a model did not answer.
///
/// The code decides what to do; the message is a sentence for people. What the provider said
/// itself is kept beside it, as far as it holds no secret.
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
    /// What kind of failure it is.
    pub code: ModelErrorCode,
    /// A sentence for people.
    pub message: String,
    /// How long the provider asked to wait.
    pub retry_after: Option<Duration>,
    /// The status of the HTTP answer, if there was one.
    pub status: Option<u16>,
    /// The provider's own name of the failure, for example `insufficient_quota`.
    pub reason: Option<String>,
    /// The provider's name of the call, which its support asks for.
    pub request_id: Option<String>,
    /// What the call used before it failed, as far as anybody knows.
    pub usage: CallUsage,
}

impl ModelError {
    /// Makes an error; the rest is set by `with_*`.
    ///
    /// What the call used is nothing if the code says that no model was at work, else unknown.
    pub fn new(code: ModelErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            retry_after: None,
            status: None,
            reason: None,
            request_id: None,
            usage: match code.is_before_work() {
                true => CallUsage::NOTHING,
                false => CallUsage::UNKNOWN,
            },
        }
    }

    /// Tells whether the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        self.code.is_retryable()
    }

    /// Sets how long the provider asked to wait.
    #[must_use]
    pub fn with_retry_after(mut self, delay: impl Into<Option<Duration>>) -> Self {
        self.retry_after = delay.into();
        self
    }

    /// Sets the status of the HTTP answer.
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

    /// Sets the provider's name of the call.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<Option<String>>) -> Self {
        self.request_id = id.into();
        self
    }

    /// Sets what the call is known to have used before it failed. The rest is unknown: nobody
    /// counts what an answer used that did not come to its end.
    #[must_use]
    pub fn with_usage(mut self, known: TokenUsage) -> Self {
        self.usage = CallUsage::AtLeast(known);
        self
    }

    /// Says that the call used nothing, because it never came to a model.
    #[must_use]
    pub fn with_nothing_used(mut self) -> Self {
        self.usage = CallUsage::NOTHING;
        self
    }
}

/// What kind of failure it is: the ten that a caller tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ModelErrorCode {
    /// The configuration of the provider is missing or makes no sense.
    ProviderNotConfigured,
    /// There is no such provider.
    ProviderNotSupported,
    /// The key is missing, was refused, or its account cannot pay.
    AuthenticationError,
    /// There were too many calls, or the provider is overloaded.
    RateLimited,
    /// There is no such model.
    ModelNotFound,
    /// The prompt is longer than the model can read.
    ContextLengthExceeded,
    /// The provider could not be reached, closed the connection, or failed on its side.
    NetworkError,
    /// The provider took too long.
    Timeout,
    /// The provider said something that makes no sense.
    InvalidResponse,
    /// Something else, a refused request for example.
    Unknown,
}

impl ModelErrorCode {
    /// All of them.
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

    /// Returns the code as programs know it.
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

    /// Tells whether the same call may succeed later.
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::RateLimited | Self::NetworkError | Self::Timeout)
    }
}

impl ModelErrorCode {
    /// Tells whether a call fails like this before a model is at work.
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
