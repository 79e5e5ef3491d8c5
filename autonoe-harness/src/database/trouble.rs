//! What goes wrong in a database, before it is known which file that is.

use std::path::Path;

use rusqlite::ErrorCode;

use crate::state::StateError;

/// What goes wrong in a database.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// SQLite said so.
    Sql(rusqlite::Error),
    /// Something is not as it should be, or may not be done.
    State(StateError),
    /// What is kept cannot be understood.
    Unreadable(String),
    /// What is to be kept cannot be written down.
    Unwritable(serde_json::Error),
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StateError> for Trouble {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

impl Trouble {
    /// Tells whether others were in the way, so that it may go better in a moment.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(
            self.code(),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
        )
    }

    fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Sql(error) => error.sqlite_error_code(),
            _ => None,
        }
    }

    /// Says it of the file at `path`.
    pub(crate) fn at(self, path: &Path, doing: &'static str) -> StateError {
        let path = path.to_owned();
        if self.is_busy() {
            return StateError::Busy { path };
        }
        let code = self.code();
        match self {
            Self::State(error) => error,
            Self::Unreadable(reason) => StateError::Corrupt { path, reason },
            Self::Sql(error) => match code {
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StateError::Corrupt {
                    path,
                    reason: error.to_string(),
                },
                _ => StateError::Failed {
                    path,
                    doing,
                    source: error.into(),
                },
            },
            Self::Unwritable(error) => StateError::Failed {
                path,
                doing,
                source: error.into(),
            },
        }
    }
}
