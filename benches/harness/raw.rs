//! The same rows with SQLite alone: the lower bound for the cost of such changes.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior, params};

use crate::state::{OUTPUT, task_name};

const TABLES: &str = "
    CREATE TABLE tasks (id TEXT PRIMARY KEY, position INTEGER NOT NULL, task TEXT NOT NULL) STRICT;
    CREATE TABLE executions (number INTEGER PRIMARY KEY AUTOINCREMENT, task TEXT NOT NULL,
        success INTEGER NOT NULL, output TEXT NOT NULL, at TEXT NOT NULL) STRICT;
    CREATE INDEX executions_of_task ON executions (task);";

const NOW: &str = "1970-01-01T00:00:00Z";

/// A connection that writes as durably as ours, and knows in advance which row it changes.
pub(crate) struct Raw(Connection);

impl Raw {
    /// Creates the file with its tasks.
    pub(crate) fn create(path: &Path, tasks: usize) {
        let mut raw = Self::open(path);
        raw.0.execute_batch(TABLES).expect("tables");
        let change = raw.0.transaction().expect("a transaction");
        for number in 0..tasks {
            let place = i64::try_from(number).expect("a few");
            let task = format!(r#"{{"id":"{}","goal":"Do it."}}"#, task_name(number));
            let insert = "INSERT INTO tasks VALUES (?1, ?2, ?3)";
            let row = params![task_name(number), place, task];
            change.execute(insert, row).expect("a row");
        }
        change.commit().expect("it is kept");
    }

    pub(crate) fn open(path: &Path) -> Self {
        let raw = Connection::open(path).expect("it opens");
        raw.busy_timeout(Duration::from_secs(60)).expect("a time");
        raw.pragma_update(None, "journal_mode", "wal").expect("set");
        raw.pragma_update(None, "synchronous", "full").expect("set");
        Self(raw)
    }

    pub(crate) fn log(&mut self, number: usize) {
        let change = self
            .0
            .transaction_with_behavior(TransactionBehavior::Immediate);
        let change = change.expect("a transaction");
        let insert = "INSERT INTO executions (task, success, output, at) VALUES (?1, 1, ?2, ?3)";
        let row = params![task_name(number), OUTPUT, NOW];
        change.execute(insert, row).expect("a row");
        change.commit().expect("it is kept");
    }
}
