//! Values as they stand in columns.

use std::str::FromStr;

use rusqlite::{Connection, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::trouble::Trouble;

/// Writes a value as JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<String, Trouble> {
    serde_json::to_string(value).map_err(Trouble::Unwritable)
}

/// Reads a value from JSON.
pub(crate) fn of_json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> Result<T, Trouble> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| unreadable(column, &error))
}

/// Reads a value from JSON, if there is any.
pub(crate) fn of_json_if_any<T: DeserializeOwned>(
    row: &Row<'_>,
    column: &str,
) -> Result<Option<T>, Trouble> {
    let text: Option<String> = row.get(column)?;
    let read = text.map(|text| serde_json::from_str(&text)).transpose();
    read.map_err(|error| unreadable(column, &error))
}

/// Reads a value from its own text, for example a time.
pub(crate) fn parsed<T>(row: &Row<'_>, column: &str) -> Result<T, Trouble>
where
    T: FromStr<Err: std::fmt::Display>,
{
    let text: String = row.get(column)?;
    text.parse().map_err(|error| unreadable(column, &error))
}

/// Reads a value from its own text, if there is any.
pub(crate) fn parsed_if_any<T>(row: &Row<'_>, column: &str) -> Result<Option<T>, Trouble>
where
    T: FromStr<Err: std::fmt::Display>,
{
    let text: Option<String> = row.get(column)?;
    let read = text.map(|text| text.parse()).transpose();
    read.map_err(|error| unreadable(column, &error))
}

/// Reads a number that is none below 0.
pub(crate) fn number<T: TryFrom<i64>>(row: &Row<'_>, column: &str) -> Result<T, Trouble> {
    let number: i64 = row.get(column)?;
    let read = T::try_from(number);
    read.map_err(|_| unreadable(column, &format_args!("{number} is out of range")))
}

/// Returns a number as SQLite keeps it: the largest it can for those beyond.
pub(crate) fn stored(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

pub(crate) fn unreadable(column: &str, why: &dyn std::fmt::Display) -> Trouble {
    Trouble::Unreadable(format!("{column}: {why}"))
}

/// Collects what is made of each row.
pub(crate) fn collect<T>(
    db: &Connection,
    sql: &str,
    params: impl rusqlite::Params,
    mut read: impl FnMut(&Row<'_>) -> Result<T, Trouble>,
) -> Result<Vec<T>, Trouble> {
    let mut statement = db.prepare(sql)?;
    let mut rows = statement.query(params)?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(read(row)?);
    }
    Ok(all)
}
