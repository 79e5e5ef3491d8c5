//! [`AgentError`], the failure of an agent to start or to finish.

use std::time::Duration;

use crate::agent::SessionField;
use crate::event::{Failure, InvalidValue, Retry};

/// Error: an agent could not be started or did not finish.
///
/// The result that an agent *reports* at its end is a
/// [`SessionOutcome`](crate::agent::SessionOutcome), not an error.
///
/// ```
/// use autonoe_core::agent::AgentErrorKind;
/// use autonoe_core::AgentError;
///
/// let error = AgentError::new(AgentErrorKind::Authentication, "the key was refused");
///
/// assert!(!error.is_retryable());
/// assert_eq!(error.code(), "authentication");
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct AgentError {
    kind: AgentErrorKind,
    message: String,
    remedy: Option<String>,
    retry_after: Option<Duration>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl AgentError {
    /// Creates an error. `message` is a lower-case sentence that names the affected thing.
    pub fn new(kind: AgentErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            remedy: None,
            retry_after: None,
            source: None,
        }
    }

    /// Adds advice for the operator.
    ///
    /// ```
    /// use autonoe_core::agent::AgentErrorKind;
    /// use autonoe_core::event::Failure;
    /// use autonoe_core::AgentError;
    ///
    /// let error = AgentError::new(AgentErrorKind::NotAvailable, "there is no agent here")
    ///     .with_remedy("install one");
    ///
    /// assert_eq!(Failure::from(&error).remedy.as_deref(), Some("install one"));
    /// ```
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Sets the delay that the service requested before a retry.
    #[must_use]
    pub fn with_retry_after(mut self, delay: Duration) -> Self {
        self.retry_after = Some(delay);
        self
    }

    /// Sets the cause of the error.
    #[must_use]
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> AgentErrorKind {
        self.kind
    }

    /// Returns the advice for the operator, if there is any.
    pub fn remedy(&self) -> Option<&str> {
        self.remedy.as_deref()
    }

    /// Returns a stable name for programs, for example `authentication`.
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Returns whether a new session may succeed.
    pub fn is_retryable(&self) -> bool {
        self.kind.is_retryable()
    }

    /// Returns the delay that the service requested before a retry, if any.
    pub fn delay(&self) -> Option<Duration> {
        self.retry_after
    }
}

impl From<InvalidValue> for AgentError {
    fn from(error: InvalidValue) -> Self {
        Self::new(AgentErrorKind::Configuration, error.to_string())
    }
}

impl From<&AgentError> for Failure {
    fn from(error: &AgentError) -> Self {
        let retry = if error.is_retryable() {
            Retry::Retryable
        } else {
            Retry::Permanent
        };
        let mut failure = Failure::from_error(error.code(), error, retry);
        failure.remedy.clone_from(&error.remedy);
        failure.retry_after = error.retry_after;
        failure
    }
}

/// Kind of an agent error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AgentErrorKind {
    /// The program or service behind the backend is missing.
    NotAvailable,
    /// The credentials are missing or were rejected.
    Authentication,
    /// The account cannot pay.
    Billing,
    /// The backend rejects the configuration, for example an unknown model or option.
    Configuration,
    /// The backend does not support the request at all.
    Unsupported,
    /// The session sets a field that the backend does not claim:
    /// [`SessionSpec::refuse_unclaimed`](crate::SessionSpec::refuse_unclaimed).
    Unclaimed(SessionField),
    /// The agent sent something that the backend does not understand.
    Protocol,
    /// The agent ended unexpectedly.
    Crashed,
    /// The agent sent nothing for too long.
    Timeout,
    /// The service behind the backend is overloaded or failing.
    Overloaded,
    /// Any other error.
    Other,
}

impl AgentErrorKind {
    /// Returns a stable name for programs.
    pub fn code(self) -> &'static str {
        match self {
            Self::NotAvailable => "backend_not_available",
            Self::Authentication => "authentication",
            Self::Billing => "billing",
            Self::Configuration => "configuration",
            Self::Unsupported => "unsupported",
            Self::Unclaimed(field) => field.code(),
            Self::Protocol => "protocol",
            Self::Crashed => "crashed",
            Self::Timeout => "timeout",
            Self::Overloaded => "overloaded",
            Self::Other => "other",
        }
    }

    /// Returns whether a new session may succeed without help of the operator.
    pub fn is_retryable(self) -> bool {
        match self {
            Self::NotAvailable
            | Self::Authentication
            | Self::Billing
            | Self::Configuration
            | Self::Unsupported
            | Self::Unclaimed(_) => false,
            Self::Protocol | Self::Crashed | Self::Timeout | Self::Overloaded | Self::Other => true,
        }
    }
}
