//! The same rows with SQLite alone: the least that such changes can cost.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior, params};

use crate::state::{Change, OUTPUT, task_name};

const TABLES: &str = "
    CREATE TABLE tasks (id TEXT PRIMARY KEY, position INTEGER NOT NULL, task TEXT NOT NULL,
        status TEXT NOT NULL, output TEXT, owner TEXT, epoch INTEGER NOT NULL, at TEXT) STRICT;
    CREATE INDEX tasks_in_order ON tasks (position, id);
    CREATE TABLE attempts (epoch INTEGER PRIMARY KEY AUTOINCREMENT, task TEXT NOT NULL,
        owner TEXT NOT NULL, ending TEXT, at TEXT NOT NULL) STRICT;
    CREATE INDEX attempts_of_task ON attempts (task);
    CREATE TABLE executions (number INTEGER PRIMARY KEY AUTOINCREMENT, task TEXT NOT NULL,
        success INTEGER NOT NULL, output TEXT NOT NULL, at TEXT NOT NULL) STRICT;
    CREATE INDEX executions_of_task ON executions (task);";

const NOW: &str = "1970-01-01T00:00:00Z";

/// A connection that writes as durably as ours, and knows beforehand which row it is about.
pub(crate) struct Raw(Connection);

impl Raw {
    /// Makes the file, with its tasks.
    pub(crate) fn make(path: &Path, tasks: usize) {
        let mut raw = Self::open(path);
        raw.0.execute_batch(TABLES).expect("tables");
        let change = raw.0.transaction().expect("a transaction");
        for number in 0..tasks {
            let place = i64::try_from(number).expect("a few");
            let task = format!(r#"{{"id":"{}","goal":"Do it."}}"#, task_name(number));
            let insert = "INSERT INTO tasks VALUES (?1, ?2, ?3, 'pending', NULL, NULL, 0, ?4)";
            let row = params![task_name(number), place, task, NOW];
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

    pub(crate) fn change(&mut self, change: Change, number: usize) {
        let task = task_name(number);
        match change {
            Change::Claims => {
                let epoch = self.write(|db| {
                    let insert = "INSERT INTO attempts (task, owner, at) VALUES (?1, 'agent', ?2)";
                    db.execute(insert, params![task, NOW])?;
                    let epoch = db.last_insert_rowid();
                    let update = "UPDATE tasks SET status = 'inProgress', owner = 'agent',
                        epoch = ?2, at = ?3 WHERE id = ?1";
                    db.execute(update, params![task, epoch, NOW])?;
                    Ok(epoch)
                });
                self.write(|db| {
                    let update = "UPDATE tasks SET status = 'completed', output = ?2, at = ?3
                        WHERE id = ?1";
                    db.execute(update, params![task, OUTPUT, NOW])?;
                    let update = "UPDATE attempts SET ending = 'completed' WHERE epoch = ?1";
                    db.execute(update, [epoch])
                });
            }
            Change::Log => {
                self.write(|db| {
                    let insert = "INSERT INTO executions (task, success, output, at)
                        VALUES (?1, 1, ?2, ?3)";
                    db.execute(insert, params![task, OUTPUT, NOW])
                });
            }
        }
    }

    fn write<T>(&mut self, rows: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> T {
        let change = self
            .0
            .transaction_with_behavior(TransactionBehavior::Immediate);
        let change = change.expect("a transaction");
        let done = rows(&change).expect("rows");
        change.commit().expect("it is kept");
        done
    }
}
