//! Trouble of those who watch a run, and how long it is borne.

use std::fmt;
use std::time::Duration;

use autonoe_core::EngineError;
use tokio::time::Instant;

use crate::error::CliError;

/// How long nothing but trouble is borne.
const PATIENCE: Duration = Duration::from_secs(600);

/// Why somebody cannot tell of a run.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Nobody answered. Who asks again may be answered.
    Passing(CliError),
    /// It is the same for who asks again.
    Lasting(CliError),
}

impl From<EngineError> for Trouble {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Failed { .. } => Self::Passing(error.into()),
            // Also that who would ask is gone for good: there is no other one to ask.
            error => Self::Lasting(error.into()),
        }
    }
}

impl From<Trouble> for CliError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Passing(error) | Trouble::Lasting(error) => error,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passing(error) | Self::Lasting(error) => error.fmt(f),
        }
    }
}

/// Trouble in a row: no answer is no end, until there was none for too long.
#[derive(Debug, Default)]
pub(super) struct Row {
    since: Option<Instant>,
}

impl Row {
    /// Bears trouble, and returns it if it is the first of the row.
    ///
    /// # Errors
    ///
    /// It does not pass, or nothing else came for too long.
    pub(super) fn bear(&mut self, trouble: Trouble) -> Result<Option<Trouble>, CliError> {
        let is_first = self.since.is_none();
        let since = *self.since.get_or_insert_with(Instant::now);
        match trouble {
            Trouble::Passing(error) if since.elapsed() >= PATIENCE => Err(error),
            Trouble::Lasting(error) => Err(error),
            trouble => Ok(is_first.then_some(trouble)),
        }
    }

    /// Takes note that something else came.
    pub(super) fn is_over(&mut self) {
        self.since = None;
    }
}
