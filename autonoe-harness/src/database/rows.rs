//! Column values, and the errors of database jobs.

use std::path::Path;
use std::str::FromStr;

use rusqlite::{Connection, ErrorCode, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::state::StateError;

/// Serialises a value as JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<String, DatabaseError> {
    serde_json::to_string(value).map_err(DatabaseError::Unwritable)
}

/// Parses a JSON column.
pub(crate) fn from_json<T: DeserializeOwned>(
    row: &Row<'_>,
    column: &str,
) -> Result<T, DatabaseError> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| unreadable(column, &error))
}

/// Parses a JSON column that may be null.
pub(crate) fn from_json_optional<T: DeserializeOwned>(
    row: &Row<'_>,
    column: &str,
) -> Result<Option<T>, DatabaseError> {
    let text: Option<String> = row.get(column)?;
    let read = text.map(|text| serde_json::from_str(&text)).transpose();
    read.map_err(|error| unreadable(column, &error))
}

/// Parses a text column with [`FromStr`], for example a time.
pub(crate) fn parse_column<T>(row: &Row<'_>, column: &str) -> Result<T, DatabaseError>
where
    T: FromStr<Err: std::fmt::Display>,
{
    let text: String = row.get(column)?;
    text.parse().map_err(|error| unreadable(column, &error))
}

/// Reads a number that must fit into `T`.
pub(crate) fn number<T: TryFrom<i64>>(row: &Row<'_>, column: &str) -> Result<T, DatabaseError> {
    let number: i64 = row.get(column)?;
    let read = T::try_from(number);
    read.map_err(|_| unreadable(column, &format_args!("{number} is out of range")))
}

/// Converts a number for storage, saturating at the largest value of SQLite.
pub(crate) fn to_stored(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

pub(crate) fn unreadable(column: &str, why: &dyn std::fmt::Display) -> DatabaseError {
    DatabaseError::Unreadable(format!("{column}: {why}"))
}

/// Collects one value per row.
pub(crate) fn collect<T>(
    db: &Connection,
    sql: &str,
    params: impl rusqlite::Params,
    mut read: impl FnMut(&Row<'_>) -> Result<T, DatabaseError>,
) -> Result<Vec<T>, DatabaseError> {
    let mut statement = db.prepare(sql)?;
    let mut rows = statement.query(params)?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(read(row)?);
    }
    Ok(all)
}

/// Error of a database job.
#[derive(Debug)]
pub(crate) enum DatabaseError {
    /// An error of SQLite.
    Sql(rusqlite::Error),
    /// An error of the state store.
    State(StateError),
    /// Stored data cannot be parsed.
    Unreadable(String),
    /// A value cannot be serialised.
    Unwritable(serde_json::Error),
}

impl From<rusqlite::Error> for DatabaseError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StateError> for DatabaseError {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

impl DatabaseError {
    /// Returns whether the database was locked by others, so that a retry may succeed.
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

    /// Converts the error into that of the file at `path`.
    pub(crate) fn into_state_error(self, path: &Path, doing: &'static str) -> StateError {
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
