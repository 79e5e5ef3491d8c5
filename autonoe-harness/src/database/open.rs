//! Opens a file, or says why it is none of ours, without touching it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use autonoe_core::create_folder;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::kind::Kind;
use super::trouble::Trouble;
use crate::state::StateError;

/// How long somebody waits for others who write.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is tried again after this long; only at the start, where SQLite does not wait by itself.
const NAP: Duration = Duration::from_millis(10);

/// How large the log of changes stays once it was written back.
const LARGEST_IDLE_LOG: i64 = 16 * 1024 * 1024;

const OPENING: &str = "it cannot be opened";

/// Opens the database at `path`, and makes it if there is none.
pub(crate) fn open(path: &Path, kind: &Kind) -> Result<Connection, StateError> {
    look_at_head(path, kind)?;
    if let Some(folder) = path.parent() {
        create_folder(folder).map_err(|source| failed(path, source))?;
    }
    let begun = Instant::now();
    loop {
        match open_once(path, kind) {
            // To change to the log of changes, and to recover it, SQLite wants to be alone.
            Err(trouble) if trouble.is_busy() && begun.elapsed() < PATIENCE => {
                std::thread::sleep(NAP);
            }
            opened => return opened.map_err(|trouble| trouble.at(path, OPENING)),
        }
    }
}

fn open_once(path: &Path, kind: &Kind) -> Result<Connection, Trouble> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    // SQLite refuses symlinks in the folders above as well, which may be the user's.
    let real = match (path.parent().map(Path::canonicalize), path.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    };
    let mut connection = Connection::open_with_flags(real, flags)?;
    connection.busy_timeout(PATIENCE)?;
    if is_empty(&connection)? {
        connection.pragma_update(None, "foreign_keys", true)?;
    } else {
        check_whose(&connection, path, kind)?;
        check_pages(&connection)?;
        connection.pragma_update(None, "foreign_keys", true)?;
    }
    migrate(&mut connection, path, kind)?;
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode != "wal" {
        let why = "its file system cannot share memory between processes".to_owned();
        return Err(StateError::Failed {
            path: path.to_owned(),
            doing: OPENING,
            source: why.into(),
        }
        .into());
    }
    // What is acknowledged survives a power cut; NORMAL would lose the last of it.
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "journal_size_limit", LARGEST_IDLE_LOG)?;
    Ok(connection)
}

fn is_empty(connection: &Connection) -> Result<bool, Trouble> {
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(tables == 0 && version(connection)? == 0)
}

/// Returns the version of what is in a database; 0 if there is nothing.
pub(crate) fn version(connection: &Connection) -> Result<i64, Trouble> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

fn check_whose(connection: &Connection, path: &Path, kind: &Kind) -> Result<(), Trouble> {
    let id: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if id != kind.application_id {
        return Err(foreign(path, kind, "a database of something else").into());
    }
    check_version(connection, path, kind)
}

/// Refuses what a newer version of this program has made of the file.
pub(crate) fn check_version(
    connection: &Connection,
    path: &Path,
    kind: &Kind,
) -> Result<(), Trouble> {
    match version(connection)? {
        found if found > kind.version() => Err(StateError::NewerVersion {
            path: path.to_owned(),
            found,
            known: kind.version(),
        }
        .into()),
        _ => Ok(()),
    }
}

/// Looks whether all pages are whole, before anything is written among them.
pub(crate) fn check_pages(connection: &Connection) -> Result<(), Trouble> {
    said_ok(connection, "PRAGMA quick_check(5)")
}

/// Asks SQLite for a report that says `ok` or what is wrong.
pub(crate) fn said_ok(connection: &Connection, question: &str) -> Result<(), Trouble> {
    let mut asked = connection.prepare(question)?;
    let lines = asked.query_map([], |row| row.get::<_, String>(0))?;
    let lines = lines.collect::<Result<Vec<_>, _>>()?;
    match lines.as_slice() {
        [line] if line == "ok" => Ok(()),
        lines => Err(Trouble::Unreadable(lines.join("; "))),
    }
}

/// Brings what is in the file up to date, all of it or nothing.
fn migrate(connection: &mut Connection, path: &Path, kind: &Kind) -> Result<(), Trouble> {
    if version(connection)? == kind.version() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Somebody else may have done it while this one waited.
    let found = version(&transaction)?;
    check_version(&transaction, path, kind)?;
    let done = usize::try_from(found).unwrap_or_default();
    for step in kind.migrations.iter().skip(done) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", kind.application_id)?;
    transaction.pragma_update(None, "user_version", kind.version())?;
    Ok(transaction.commit()?)
}

/// Refuses a file that is not ours by its first bytes, before SQLite gets to see it: that would
/// write back the log of somebody else's database.
fn look_at_head(path: &Path, kind: &Kind) -> Result<(), StateError> {
    const HEAD: usize = 100;
    const MAGIC: &[u8] = b"SQLite format 3\0";
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => return Err(foreign(path, kind, "not a file")),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(failed(path, source)),
    }
    let mut head = Vec::new();
    File::open(path)
        .and_then(|file| file.take(HEAD as u64).read_to_end(&mut head))
        .map_err(|source| failed(path, source))?;
    // Who was stopped while making it leaves an empty file, or one that SQLite takes back.
    if head.is_empty() || (head.iter().all(|byte| *byte == 0) && journal_of(path).exists()) {
        return Ok(());
    }
    if !head.starts_with(MAGIC) {
        return Err(foreign(path, kind, "not a database"));
    }
    match head.get(68..72) {
        Some(id) if id == kind.application_id.to_be_bytes() => Ok(()),
        Some(_) => Err(foreign(path, kind, "a database of something else")),
        None => Err(StateError::Corrupt {
            path: path.to_owned(),
            reason: "it is cut off".to_owned(),
        }),
    }
}

fn journal_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-journal");
    name.into()
}

fn foreign(path: &Path, kind: &Kind, what: &'static str) -> StateError {
    StateError::Foreign {
        path: path.to_owned(),
        what,
        expected: kind.name,
    }
}

fn failed(path: &Path, source: io::Error) -> StateError {
    StateError::Failed {
        path: path.to_owned(),
        doing: OPENING,
        source: source.into(),
    }
}
