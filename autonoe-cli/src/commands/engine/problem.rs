//! What an engine cannot do, for a person.

use autonoe_core::EngineError;

use crate::error::{CliError, whole};

impl From<EngineError> for CliError {
    fn from(error: EngineError) -> Self {
        let words = whole(&error);
        match &error {
            EngineError::Unknown(_) => Self::usage(words).with_hint(
                "`autonoe submit` prints the id of a run; a server forgets runs some time after \
                 their end",
            ),
            EngineError::Conflict(_) => Self::usage(words).with_hint(
                "say the same as before to find that run, or leave --run out for another one",
            ),
            EngineError::Gone { .. } => Self::failure(words).with_hint(
                "a run that was taken goes on without it; `autonoe engine status` asks anew",
            ),
            _ => Self::failure(words),
        }
    }
}
