//! [`AppError`]: an error of a command, with a hint and an exit code.

use std::process::ExitCode;

use autonoe_core::AgentError;
use autonoe_core::engine::EngineError;
use autonoe_core::ledger::RepositoryError;
use autonoe_core::project::{ConfigError, JournalReadError, ProjectError, ProjectRunError};

use crate::exit_code;

/// An error of a command, for people, with a hint.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct AppError {
    message: String,
    hint: Option<String>,
    code: u8,
}

impl AppError {
    /// Creates an error with the exit code of a failure.
    pub fn failure(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            code: exit_code::FAILURE,
        }
    }

    /// Creates an error with the exit code of wrong usage.
    pub fn usage(message: impl Into<String>) -> Self {
        Self {
            code: exit_code::USAGE,
            ..Self::failure(message)
        }
    }

    /// Changes the exit code to that of wrong usage, where a failure would be mistaken for an
    /// answer.
    #[must_use]
    pub fn into_usage(self) -> Self {
        Self {
            code: exit_code::USAGE,
            ..self
        }
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets the exit code, where scripts need more detail than a failure.
    #[must_use]
    pub fn with_code(self, code: u8) -> Self {
        Self { code, ..self }
    }

    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub fn code(&self) -> u8 {
        self.code
    }

    pub fn exit_code(&self) -> ExitCode {
        self.code.into()
    }
}

impl From<&AgentError> for AppError {
    fn from(error: &AgentError) -> Self {
        let app_error = Self::failure(error_chain(error));
        match error.remedy() {
            Some(remedy) => app_error.with_hint(remedy),
            None => app_error,
        }
    }
}

impl From<ProjectError> for AppError {
    fn from(error: ProjectError) -> Self {
        match &error {
            ProjectError::NoDirectory { path } => {
                Self::failure(format!("the directory {path:?} does not exist"))
                    .with_hint("create it, or choose another with --project-dir")
            }
            ProjectError::NoSpecification { .. } => {
                Self::failure(error_chain(&error)).with_hint("run `autonoe init` to create one")
            }
            // The other messages contain the remedy.
            _ => Self::failure(error_chain(&error)),
        }
    }
}

impl From<ConfigError> for AppError {
    fn from(error: ConfigError) -> Self {
        Self::failure(error_chain(&error))
    }
}

impl From<RepositoryError> for AppError {
    fn from(error: RepositoryError) -> Self {
        Self::failure(error_chain(&error))
    }
}

impl From<JournalReadError> for AppError {
    fn from(error: JournalReadError) -> Self {
        Self::failure(error_chain(&error))
    }
}

impl From<ProjectRunError> for AppError {
    fn from(error: ProjectRunError) -> Self {
        match error {
            ProjectRunError::Project(error) => error.into(),
            ProjectRunError::Config(error) => error.into(),
            error => Self::failure(error_chain(&error)),
        }
    }
}

impl From<EngineError> for AppError {
    fn from(error: EngineError) -> Self {
        let message = error_chain(&error);
        match &error {
            EngineError::Unknown(_) => Self::usage(message).with_hint(
                "run `autonoe-cluster list` to list runs; the server deletes old runs some time \
                 after they end",
            ),
            EngineError::Conflict(_) => Self::usage(message).with_hint(
                "repeat the original options to get that run, or omit --run to submit a new one",
            ),
            _ => Self::failure(message),
        }
    }
}

/// Converts the error of a result into a failure of the command, with its causes.
pub trait OrFailure<T> {
    fn or_failure(self) -> Result<T, AppError>;
}

impl<T, E: std::error::Error> OrFailure<T> for Result<T, E> {
    fn or_failure(self) -> Result<T, AppError> {
        self.map_err(|error| AppError::failure(error_chain(&error)))
    }
}

/// Formats an error with its causes. Causes that add nothing are omitted.
pub fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        cause = error.source();
    }
    text
}
