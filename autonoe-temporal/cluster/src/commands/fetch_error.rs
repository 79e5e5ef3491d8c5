//! Errors of requests about a run, and how long they are tolerated.

use std::fmt;
use std::time::Duration;

use autonoe_app::{AppError, error_chain};
use autonoe_core::engine::EngineError;
use autonoe_core::event::Retry;
use autonoe_temporal::JournalError;
use tokio::time::Instant;

/// Time that an outage is tolerated.
const LIMIT: Duration = Duration::from_secs(600);

/// Error of fetching updates of a run.
#[derive(Debug)]
pub(super) enum FetchError {
    /// A retry may help.
    Transient(AppError),
    /// A retry does not help.
    Permanent(AppError),
}

impl From<EngineError> for FetchError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Failed { .. } => Self::Transient(error.into()),
            error => Self::Permanent(error.into()),
        }
    }
}

impl From<JournalError> for FetchError {
    fn from(error: JournalError) -> Self {
        let message = error_chain(&error);
        match error {
            JournalError::Engine(error) => error.into(),
            JournalError::Failed { failure, .. } if failure.retry == Retry::Permanent => {
                Self::Permanent(AppError::failure(message))
            }
            JournalError::NoAnswer { .. } => {
                let hint = "check whether the worker on that host runs; the journal is stored \
                            there";
                Self::Transient(AppError::failure(message).with_hint(hint))
            }
            JournalError::Malformed { .. } => {
                let hint = "use the same version of autonoe-cluster as its worker";
                Self::Permanent(AppError::failure(message).with_hint(hint))
            }
            _ => Self::Transient(AppError::failure(message)),
        }
    }
}

impl From<FetchError> for AppError {
    fn from(error: FetchError) -> Self {
        match error {
            FetchError::Transient(error) | FetchError::Permanent(error) => error,
        }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transient(error) | Self::Permanent(error) => error.fmt(f),
        }
    }
}

/// Consecutive transient errors.
#[derive(Debug, Default)]
pub(super) struct Outage {
    since: Option<Instant>,
}

impl Outage {
    /// Tolerates an error, and returns it if it is the first of the outage.
    ///
    /// # Errors
    ///
    /// The error is permanent, or the outage lasts too long.
    pub(super) fn record_error(
        &mut self,
        error: FetchError,
    ) -> Result<Option<FetchError>, AppError> {
        let is_first = self.since.is_none();
        let since = *self.since.get_or_insert_with(Instant::now);
        match error {
            FetchError::Transient(error) if since.elapsed() >= LIMIT => Err(error),
            FetchError::Permanent(error) => Err(error),
            error => Ok(is_first.then_some(error)),
        }
    }

    pub(super) fn end(&mut self) {
        self.since = None;
    }
}
