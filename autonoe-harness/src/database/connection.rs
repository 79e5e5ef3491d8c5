//! SQLite connection on a dedicated thread, with the values and the errors of its jobs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::mpsc;

use rusqlite::{Connection, Row, Transaction, TransactionBehavior};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;

use super::open::{DatabaseError, Kind, check_version, open};
use crate::state::StateError;

/// SQLite connection on a dedicated thread, so that the async runtime never waits for a disk.
///
/// Jobs run in the order in which they were submitted, even if the caller no longer waits. The
/// thread ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct Database {
    path: PathBuf,
    kind: &'static Kind,
    jobs: mpsc::Sender<Job>,
}

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

impl Database {
    /// Opens the database at `path`, and creates it if it is missing.
    pub(crate) async fn open(path: &Path, kind: &'static Kind) -> Result<Self, StateError> {
        let file = path.to_owned();
        let (jobs, work) = mpsc::channel::<Job>();
        let (opened, is_open) = oneshot::channel();
        let started = std::thread::Builder::new()
            .name("autonoe-state".to_owned())
            .spawn(move || match open(&file, kind) {
                Ok(mut connection) => {
                    // The caller may be gone; then there are no jobs either.
                    let _ = opened.send(Ok(()));
                    for job in work {
                        job(&mut connection);
                    }
                }
                Err(error) => {
                    let _ = opened.send(Err(error));
                }
            });
        let database = Self {
            path: path.to_owned(),
            kind,
            jobs,
        };
        started.map_err(|source| database.failed("cannot start its thread", source))?;
        is_open.await.map_err(|_| database.disconnected_error())??;
        Ok(database)
    }

    /// Runs a read transaction, with a consistent snapshot.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, DatabaseError> + Send + 'static,
    ) -> Result<T, StateError> {
        self.run(TransactionBehavior::Deferred, work).await
    }

    /// Runs an exclusive write transaction, which is applied fully or not at all.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, DatabaseError> + Send + 'static,
    ) -> Result<T, StateError> {
        self.run(TransactionBehavior::Immediate, work).await
    }

    async fn run<T: Send + 'static>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, DatabaseError> + Send + 'static,
    ) -> Result<T, StateError> {
        let (path, kind) = (self.path.clone(), self.kind);
        let work = move |connection: &mut Connection| {
            let transaction = connection.transaction_with_behavior(behavior)?;
            // A newer program may have changed the file since it was opened.
            check_version(&transaction, &path, kind)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        let (answer, answered) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            // A panic rolls back its own transaction, and affects no other job.
            let done = catch_unwind(AssertUnwindSafe(|| work(connection)));
            if let Ok(done) = done {
                // The caller may be gone; the job is done anyway.
                let _ = answer.send(done);
            }
        });
        self.jobs.send(job).map_err(|_| self.disconnected_error())?;
        let done = answered.await.map_err(|_| self.disconnected_error())?;
        done.map_err(|error: DatabaseError| {
            error.into_state_error(&self.path, "cannot read or write it")
        })
    }

    fn disconnected_error(&self) -> StateError {
        self.failed(
            "its thread does not answer",
            std::io::ErrorKind::BrokenPipe.into(),
        )
    }

    fn failed(&self, doing: &'static str, source: std::io::Error) -> StateError {
        StateError::Failed {
            path: self.path.clone(),
            doing,
            source: source.into(),
        }
    }
}

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

pub(crate) fn unreadable(column: &str, reason: &dyn std::fmt::Display) -> DatabaseError {
    DatabaseError::Unreadable(format!("{column}: {reason}"))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::STATE;

    #[tokio::test]
    async fn a_panic_affects_no_other_job() {
        let dir = tempfile::tempdir().expect("a folder");
        let database = Database::open(&dir.path().join("state.db"), &STATE).await;
        let database = database.expect("it opens");

        let panicked: Result<(), _> = database.write(|_| panic!("on purpose")).await;

        assert!(panicked.is_err());
        let one = database.read(|db| Ok(db.query_row("SELECT 1", [], |row| row.get::<_, i64>(0))?));
        assert_eq!(one.await.expect("it is read"), 1);
    }
}
