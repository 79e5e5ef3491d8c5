//! Why an agent could not do its work.

use std::time::Duration;

use super::SessionField;
use crate::domain::{Failure, InvalidValue, Retry};

/// Why an agent could not be started or did not finish.
///
/// What an agent *reports* at its end is a
/// [`SessionOutcome`](crate::SessionOutcome), not an error.
///
/// ```
/// use autonoe_core::{AgentError, AgentErrorKind};
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
    /// Makes an error; `message` is a sentence, lower case, that names the thing.
    pub fn new(kind: AgentErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            remedy: None,
            retry_after: None,
            source: None,
        }
    }

    /// Adds what a person can do about it.
    ///
    /// ```
    /// use autonoe_core::{AgentError, AgentErrorKind, Failure};
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

    /// Adds how long the other side asked to wait.
    #[must_use]
    pub fn retry_after(mut self, delay: Duration) -> Self {
        self.retry_after = Some(delay);
        self
    }

    /// Adds what caused it.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns what kind of error it is.
    pub fn kind(&self) -> AgentErrorKind {
        self.kind
    }

    /// Returns what a person can do about it, if that is known.
    pub fn remedy(&self) -> Option<&str> {
        self.remedy.as_deref()
    }

    /// Returns a stable name for programs, for example `authentication`.
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Tells whether a new session may succeed.
    pub fn is_retryable(&self) -> bool {
        self.kind.is_retryable()
    }

    /// Returns how long the other side asked to wait, if it did.
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
            Retry::MayHelp
        } else {
            Retry::Useless
        };
        let mut failure = Failure::from_error(error.code(), error, retry);
        failure.remedy.clone_from(&error.remedy);
        failure.retry_after = error.retry_after;
        failure
    }
}

/// What kind of error an agent met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AgentErrorKind {
    /// The program or service behind the backend is not there.
    NotAvailable,
    /// The credentials are missing or were refused.
    Authentication,
    /// The account cannot pay.
    Billing,
    /// What was asked for makes no sense to the backend: an unknown model or option.
    Configuration,
    /// The backend cannot do what was asked, by its nature.
    Unsupported,
    /// The session sets a field that the backend does not claim:
    /// [`SessionSpec::refuse_unclaimed`](super::SessionSpec::refuse_unclaimed).
    Unclaimed(SessionField),
    /// The agent said something that the backend does not understand.
    Protocol,
    /// The agent ended unexpectedly.
    Crashed,
    /// The agent said nothing for too long.
    Timeout,
    /// The service behind it is overloaded or failing.
    Overloaded,
    /// Something else.
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

    /// Tells whether a new session may succeed without a person's help.
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
