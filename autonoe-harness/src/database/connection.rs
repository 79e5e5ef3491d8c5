//! A database on a thread of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use super::kind::Kind;
use super::open::{check_version, open, said_ok};
use super::trouble::Trouble;
use crate::state::StateError;

/// A database on a thread of its own, so that nobody's runtime waits for a disk.
///
/// What is asked for is done in the order in which it was asked. It is done also when nobody waits
/// for it any more. The thread ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Database {
    path: PathBuf,
    kind: &'static Kind,
    jobs: mpsc::Sender<Job>,
}

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

impl Database {
    /// Opens the database at `path`, and makes it if there is none.
    pub(crate) async fn open(path: &Path, kind: &'static Kind) -> Result<Self, StateError> {
        let (jobs, work) = mpsc::channel::<Job>();
        let (opened, is_open) = oneshot::channel();
        let file: Arc<Path> = path.into();
        let started = std::thread::Builder::new()
            .name("autonoe-state".to_owned())
            .spawn(move || match open(&file, kind) {
                Ok(mut connection) => {
                    // Who asked may be gone; then there is no work either.
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
        started.map_err(|source| database.failed("its thread cannot be started", source))?;
        is_open.await.map_err(|_| database.is_gone())??;
        Ok(database)
    }

    /// Reads, all of it from one moment.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, StateError> {
        self.run(TransactionBehavior::Deferred, work).await
    }

    /// Writes, all of it or nothing, while nobody else does.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, StateError> {
        self.run(TransactionBehavior::Immediate, work).await
    }

    async fn run<T: Send + 'static>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, StateError> {
        let (path, kind) = (self.path.clone(), self.kind);
        self.on_thread(move |connection| {
            let transaction = connection.transaction_with_behavior(behavior)?;
            // Somebody newer may have been at the file since it was opened.
            check_version(&transaction, &path, kind)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        })
        .await
    }

    /// Looks whether the whole file is as it should be.
    pub(crate) async fn integrity_check(&self) -> Result<(), StateError> {
        self.on_thread(|connection| {
            said_ok(connection, "PRAGMA integrity_check")?;
            let mut asked = connection.prepare("PRAGMA foreign_key_check")?;
            match asked.exists([])? {
                true => Err(Trouble::Unreadable("a row belongs to nothing".to_owned())),
                false => Ok(()),
            }
        })
        .await
    }

    async fn on_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, StateError> {
        let (answer, answered) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            // A panic takes back its transaction, and nobody else's work.
            let done = catch_unwind(AssertUnwindSafe(|| work(connection)));
            if let Ok(done) = done {
                // Who asked may be gone; what was asked for is done all the same.
                let _ = answer.send(done);
            }
        });
        self.jobs.send(job).map_err(|_| self.is_gone())?;
        let done = answered.await.map_err(|_| self.is_gone())?;
        done.map_err(|trouble| trouble.at(&self.path, "it cannot be read or written"))
    }

    fn is_gone(&self) -> StateError {
        self.failed(
            "its thread gave no answer",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::STATE;

    #[tokio::test]
    async fn who_panics_ends_nobody_elses_work() {
        let dir = tempfile::tempdir().expect("a folder");
        let database = Database::open(&dir.path().join("state.db"), &STATE).await;
        let database = database.expect("it opens");

        let panicked: Result<(), _> = database.write(|_| panic!("on purpose")).await;

        assert!(panicked.is_err());
        let one = database.read(|db| Ok(db.query_row("SELECT 1", [], |row| row.get::<_, i64>(0))?));
        assert_eq!(one.await.expect("it is read"), 1);
    }
}
