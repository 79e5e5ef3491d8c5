//! Error type of the commands.

pub(crate) use autonoe_app::{AppError as CliError, OrFailure, error_chain};

use crate::results::WriteError;

impl From<WriteError> for CliError {
    fn from(error: WriteError) -> Self {
        Self::failure(error_chain(&error))
    }
}
