//! Why a command could not do its work.

use std::process::ExitCode;

use autonoe_core::{
    AgentError, ConfigError, JournalReadError, ProjectError, ProjectRunError, RepositoryError,
};

use crate::exit_code;
use crate::results::Unwritten;

/// Why a command could not do its work, in words for a person, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct CliError {
    message: String,
    hint: Option<String>,
    code: u8,
}

impl CliError {
    /// Something went wrong.
    pub(crate) fn failure(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            code: exit_code::FAILURE,
        }
    }

    /// The command was used wrongly.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            code: exit_code::USAGE,
            ..Self::failure(message)
        }
    }

    /// Says the same as wrong usage, where a failure would be taken for an answer.
    #[must_use]
    pub(crate) fn into_usage(self) -> Self {
        Self {
            code: exit_code::USAGE,
            ..self
        }
    }

    /// Adds what to do about it.
    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets the exit code, where scripts want to know more than that it failed.
    #[must_use]
    pub(crate) fn with_code(self, code: u8) -> Self {
        Self { code, ..self }
    }

    pub(crate) fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        self.code.into()
    }
}

impl From<&AgentError> for CliError {
    fn from(error: &AgentError) -> Self {
        let told = Self::failure(whole(error));
        match error.remedy() {
            Some(remedy) => told.with_hint(remedy),
            None => told,
        }
    }
}

impl From<ProjectError> for CliError {
    fn from(error: ProjectError) -> Self {
        match &error {
            ProjectError::NoDirectory { path } => {
                Self::failure(format!("there is no directory {path:?}"))
                    .with_hint("make it, or name another with --project-dir")
            }
            ProjectError::NoSpecification { .. } => {
                Self::failure(whole(&error)).with_hint("`autonoe init` begins one")
            }
            // The others say themselves what to do.
            _ => Self::failure(whole(&error)),
        }
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::failure(whole(&error))
    }
}

impl From<RepositoryError> for CliError {
    fn from(error: RepositoryError) -> Self {
        Self::failure(whole(&error))
    }
}

impl From<JournalReadError> for CliError {
    fn from(error: JournalReadError) -> Self {
        Self::failure(whole(&error))
    }
}

impl From<Unwritten> for CliError {
    fn from(error: Unwritten) -> Self {
        Self::failure(whole(&error))
    }
}

impl From<ProjectRunError> for CliError {
    fn from(error: ProjectRunError) -> Self {
        match error {
            ProjectRunError::Project(error) => error.into(),
            ProjectRunError::Config(error) => error.into(),
            error => Self::failure(whole(&error)),
        }
    }
}

/// Writes an error with all that caused it, as far as it adds anything.
pub(crate) fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}
