//! Kinds of databases, and the opening and validation of their files.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use autonoe_core::project::create_folder;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use crate::state::StateError;

/// Time to wait for locks of other processes.
const LOCK_TIMEOUT: Duration = Duration::from_secs(20);

/// Delay between attempts to open the file, where SQLite does not wait for locks by itself.
const NAP: Duration = Duration::from_millis(10);

/// Size limit of the write-ahead log after a checkpoint, in bytes.
const LARGEST_IDLE_LOG: i64 = 16 * 1024 * 1024;

const OPENING: &str = "cannot open it";

/// Opens the database at `path`, and creates it if it is missing.
pub(crate) fn open(path: &Path, kind: &Kind) -> Result<Connection, StateError> {
    check_header(path, kind)?;
    if let Some(folder) = path.parent() {
        create_folder(folder).map_err(|source| failed(path, source))?;
    }
    let started = Instant::now();
    loop {
        match open_once(path, kind) {
            // SQLite needs exclusive access to switch to the write-ahead log and to recover it.
            Err(error) if error.is_busy() && started.elapsed() < LOCK_TIMEOUT => {
                std::thread::sleep(NAP);
            }
            opened => return opened.map_err(|error| error.into_state_error(path, OPENING)),
        }
    }
}

fn open_once(path: &Path, kind: &Kind) -> Result<Connection, DatabaseError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    // SQLite refuses symlinks in parent folders as well, which are up to the user.
    let real = match (path.parent().map(Path::canonicalize), path.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    };
    let mut connection = Connection::open_with_flags(real, flags)?;
    connection.busy_timeout(LOCK_TIMEOUT)?;
    if is_empty(&connection)? {
        create(&mut connection, path, kind)?;
    } else {
        check_application(&connection, path, kind)?;
        check_pages(&connection)?;
    }
    connection.pragma_update(None, "foreign_keys", true)?;
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode != "wal" {
        let reason = "the file system does not support memory shared between processes".to_owned();
        return Err(StateError::Failed {
            path: path.to_owned(),
            doing: OPENING,
            source: reason.into(),
        }
        .into());
    }
    // Acknowledged writes survive a power cut; NORMAL would lose the last ones.
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "journal_size_limit", LARGEST_IDLE_LOG)?;
    Ok(connection)
}

fn is_empty(connection: &Connection) -> Result<bool, DatabaseError> {
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(tables == 0 && version(connection)? == 0)
}

/// Returns the schema version of a database; 0 if it is empty.
fn version(connection: &Connection) -> Result<i64, DatabaseError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

fn check_application(
    connection: &Connection,
    path: &Path,
    kind: &Kind,
) -> Result<(), DatabaseError> {
    let id: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if id != kind.application_id {
        return Err(foreign(path, kind, "a database of another program").into());
    }
    check_version(connection, path, kind)
}

/// Refuses a file of another version.
pub(crate) fn check_version(
    connection: &Connection,
    path: &Path,
    kind: &Kind,
) -> Result<(), DatabaseError> {
    match version(connection)? {
        found if found == kind.version => Ok(()),
        found => Err(StateError::OtherVersion {
            path: path.to_owned(),
            found,
            known: kind.version,
        }
        .into()),
    }
}

/// Checks that all pages are intact, before anything is written.
fn check_pages(connection: &Connection) -> Result<(), DatabaseError> {
    let mut statement = connection.prepare("PRAGMA quick_check(5)")?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
    let lines = lines.collect::<Result<Vec<_>, _>>()?;
    match lines.as_slice() {
        [line] if line == "ok" => Ok(()),
        lines => Err(DatabaseError::Unreadable(lines.join("; "))),
    }
}

/// Creates the tables of an empty file, all of them or none.
fn create(connection: &mut Connection, path: &Path, kind: &Kind) -> Result<(), DatabaseError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have created them while this one waited.
    if !is_empty(&transaction)? {
        return check_version(&transaction, path, kind);
    }
    transaction.execute_batch(kind.schema)?;
    transaction.pragma_update(None, "application_id", kind.application_id)?;
    transaction.pragma_update(None, "user_version", kind.version)?;
    Ok(transaction.commit()?)
}

/// Checks the file header before SQLite opens the file: SQLite would write back the log of a
/// database that belongs to another program.
fn check_header(path: &Path, kind: &Kind) -> Result<(), StateError> {
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
    // A process that was killed while creating the file leaves it empty, or with a journal that
    // SQLite rolls back.
    if head.is_empty() || (head.iter().all(|byte| *byte == 0) && journal_of(path).exists()) {
        return Ok(());
    }
    if !head.starts_with(MAGIC) {
        return Err(foreign(path, kind, "not a database"));
    }
    match head.get(68..72) {
        Some(id) if id == kind.application_id.to_be_bytes() => Ok(()),
        Some(_) => Err(foreign(path, kind, "a database of another program")),
        None => Err(StateError::Corrupt {
            path: path.to_owned(),
            reason: "the file is truncated".to_owned(),
        }),
    }
}

fn journal_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-journal");
    name.into()
}

fn foreign(path: &Path, kind: &Kind, found: &'static str) -> StateError {
    StateError::Foreign {
        path: path.to_owned(),
        found,
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

/// A kind of database.
#[derive(Debug)]
pub(crate) struct Kind {
    /// The application ID in the file header.
    pub(crate) application_id: i32,
    /// The name of the kind, for messages.
    pub(crate) name: &'static str,
    /// The only schema version that this program reads and writes.
    pub(crate) version: i64,
    /// The SQL that creates the tables.
    pub(crate) schema: &'static str,
}

/// State of a member.
pub(crate) const STATE: Kind = Kind {
    application_id: i32::from_be_bytes(*b"AtnS"),
    name: "the state of a member",
    version: 4,
    schema: include_str!("schemas/state.sql"),
};

/// State of a project's coordinator: all of its fleets.
pub(crate) const META: Kind = Kind {
    application_id: i32::from_be_bytes(*b"AtnM"),
    name: "the state of a coordinator",
    version: 2,
    schema: include_str!("schemas/meta.sql"),
};

/// Shared context of members.
pub(crate) const SHARED: Kind = Kind {
    application_id: i32::from_be_bytes(*b"AtnC"),
    name: "the shared context of members",
    version: 4,
    schema: include_str!("schemas/shared.sql"),
};

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
    fn is_busy(&self) -> bool {
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
