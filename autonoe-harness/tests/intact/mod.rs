//! Integrity check of a SQLite file.

use std::path::Path;

use rusqlite::Connection;

/// Fails if a page of the file is damaged, or a row references a missing row.
pub(crate) fn assert_intact(path: &Path) {
    let database = Connection::open(path).expect("it opens");
    let found: String = database
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("readable");
    assert_eq!(found, "ok", "{path:?}");
    let mut missing = database
        .prepare("PRAGMA foreign_key_check")
        .expect("readable");
    assert!(!missing.exists([]).expect("readable"), "{path:?}");
}
