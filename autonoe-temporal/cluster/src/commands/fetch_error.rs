//! [`FetchError`]: error of a request about a run.

use autonoe_app::{AppError, error_chain};
use autonoe_core::engine::EngineError;
use autonoe_core::event::Retry;
use autonoe_temporal::JournalError;

/// Error of fetching updates of a run.
#[derive(Debug)]
pub(super) struct FetchError {
    pub(super) error: AppError,
    /// Whether a retry does not help.
    pub(super) is_permanent: bool,
}

impl From<EngineError> for FetchError {
    fn from(error: EngineError) -> Self {
        Self {
            is_permanent: !error.is_unknown_result(),
            error: error.into(),
        }
    }
}

impl From<JournalError> for FetchError {
    fn from(error: JournalError) -> Self {
        let message = AppError::failure(error_chain(&error));
        let (error, is_permanent) = match error {
            JournalError::Engine(error) => return error.into(),
            JournalError::NoAnswer { .. } => {
                let hint = "check whether the worker on that host runs; the journal is stored \
                            there";
                (message.with_hint(hint), false)
            }
            JournalError::Failed { failure, .. } => (message, failure.retry == Retry::Permanent),
        };
        Self {
            error,
            is_permanent,
        }
    }
}

impl From<FetchError> for AppError {
    fn from(error: FetchError) -> Self {
        error.error
    }
}
